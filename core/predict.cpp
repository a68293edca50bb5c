#include "predict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tw {
namespace {

constexpr size_t side_by_side = 32; // rows that walk together

} // namespace

Router::Router(const FlatTree& flat, uint64_t seed)
    : answers_(flat.n_values), nodes_(forks_of(flat)), keys_(keys_of(nodes_, seed)), value_(flat.value) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
        const Fork& node = nodes_[i];
        Step step;
        step.leaf = node.children.empty();
        step.plain = !step.leaf && node.split.breaks.size() == 1 && node.split.child_of_bin[0] >= 0 &&
                     node.split.child_of_bin[1] >= 0;
        step.child[0] = step.child[1] = static_cast<int32_t>(i);
        if (step.plain) {
            const double at = node.split.breaks[0];
            step.limit = node.split.closed ? at : std::nextafter(at, -std::numeric_limits<double>::infinity());
            step.column = node.split.column;
            for (int side = 0; side < 2; ++side) step.child[side] = node.children[node.split.child_of_bin[side]];
        }
        all_plain_ = all_plain_ && (step.leaf || step.plain);
        if (step.leaf) step.column = nodes_[0].split.column; // any column of numbers will do: nobody looks at the value
        steps_.push_back(step);
        const double* value = &value_[i * answers_];
        largest_.push_back(static_cast<int32_t>(std::max_element(value, value + answers_) - value));
    }
}

template <class Visit>
void Router::follow(const std::vector<Column>& columns, int64_t row, Visit visit) const {
    struct Path {
        int32_t node;
        double weight;
    };
    std::vector<Path> others; // where a missing value went down several branches; a stack, for trees may be very deep
    Path path{0, 1.0};
    while (true) {
        const Fork& at = nodes_[path.node];
        const int child = at.children.empty() ? stop_here : way_of(at, keys_[path.node], columns, row).child;
        if (child >= 0) {
            path.node = at.children[child];
            continue;
        }
        if (child == spread) {
            for (size_t c = at.children.size(); c-- > 0;) {
                if (at.split.share[c] > 0) others.push_back({at.children[c], path.weight * at.split.share[c]});
            }
        } else {
            visit(path.node, path.weight);
        }
        if (others.empty()) return;
        path = others.back();
        others.pop_back();
    }
}

// The child's node, the node itself at a leaf, or -1 where the row's path forks or ends.
int Router::next(const std::vector<Column>& columns, int32_t node, int64_t row) const {
    const Step& step = steps_[node];
    if (step.leaf) return node;
    if (step.plain) {
        const double x = columns[step.column].numbers[row];
        if (x == x) return step.child[x > step.limit ? 1 : 0];
    }
    const Fork& at = nodes_[node];
    const int child = way_of(at, keys_[node], columns, row).child;
    return child >= 0 ? at.children[child] : -1;
}

// Where every node is plain, no step needs a branch; rows that met a missing value on their way go it again, slowly.
template <class Value>
void Router::walk_plain(const std::vector<Column>& columns, int64_t begin, std::span<int32_t> end) const {
    std::array<uint8_t, side_by_side> odd{};
    const Step* steps = steps_.data();
    const Column* column = columns.data();
    int moving = 1;
    while (moving != 0) {
        moving = 0;
        for (size_t i = 0; i < end.size(); ++i) {
            const Step& step = steps[end[i]];
            const void* at = column[step.column].numbers.address(begin + static_cast<int64_t>(i));
            const double x = *static_cast<const Value*>(at);
            odd[i] |= static_cast<uint8_t>((x != x) & !step.leaf);
            end[i] = step.child[static_cast<int>(x > step.limit)];
            moving |= static_cast<int>(!step.leaf);
        }
    }
    for (size_t i = 0; i < end.size(); ++i) {
        if (odd[i] == 0) continue;
        const int64_t row = begin + static_cast<int64_t>(i);
        for (end[i] = 0; end[i] >= 0 && !steps_[end[i]].leaf;) end[i] = next(columns, end[i], row);
    }
}

void Router::walk(const std::vector<Column>& columns, int64_t begin, std::span<int32_t> end, Plainly plainly) const {
    std::fill(end.begin(), end.end(), 0);
    if (steps_[0].leaf) return;
    if (plainly == Plainly::single) return walk_plain<float>(columns, begin, end);
    if (plainly == Plainly::twice) return walk_plain<double>(columns, begin, end);
    bool moving = true;
    while (moving) {
        moving = false;
        for (size_t i = 0; i < end.size(); ++i) {
            const int64_t row = begin + static_cast<int64_t>(i);
            for (int deeper = 0; deeper < 2 && end[i] >= 0; ++deeper) end[i] = next(columns, end[i], row);
            moving |= end[i] >= 0 && !steps_[end[i]].leaf;
        }
    }
}

// Whether the tree asks about numbers alone, all of one precision.
Router::Plainly Router::how_plain(const std::vector<Column>& columns) const {
    if (!all_plain_ || steps_[0].leaf) return Plainly::no;
    const bool single = columns[steps_[0].column].numbers.single();
    for (const Step& step : steps_) {
        if (columns[step.column].numbers.single() != single) return Plainly::no;
    }
    return single ? Plainly::single : Plainly::twice;
}

template <class Single, class Several>
void Router::each_row(const std::vector<Column>& columns, int64_t rows, Pool& pool, Single single,
                      Several several) const {
    constexpr int64_t block = 4096;
    const Plainly plainly = how_plain(columns);
    pool.run((rows + block - 1) / block, [&](int64_t b) {
        std::array<int32_t, side_by_side> end;
        const int64_t last = std::min(rows, (b + 1) * block);
        for (int64_t begin = b * block; begin < last; begin += side_by_side) {
            const std::span<int32_t> ends(end.data(),
                                          static_cast<size_t>(std::min<int64_t>(side_by_side, last - begin)));
            walk(columns, begin, ends, plainly);
            for (size_t i = 0; i < ends.size(); ++i) {
                const int64_t row = begin + static_cast<int64_t>(i);
                if (ends[i] >= 0) {
                    single(row, ends[i]);
                } else {
                    several(row);
                }
            }
        }
    });
}

void Router::add_answers(const std::vector<Column>& columns, int64_t row, double* out) const {
    std::fill(out, out + answers_, 0.0);
    follow(columns, row, [&](int node, double weight) {
        const double* value = &value_[static_cast<size_t>(node) * answers_];
        for (int i = 0; i < answers_; ++i) out[i] += weight * value[i];
    });
}

void Router::predict(const std::vector<Column>& columns, int64_t rows, Pool& pool, double* out) const {
    each_row(
        columns, rows, pool,
        [&](int64_t row, int32_t node) {
            std::copy_n(&value_[static_cast<size_t>(node) * answers_], answers_, out + row * answers_);
        },
        [&](int64_t row) { add_answers(columns, row, out + row * answers_); });
}

void Router::classify(const std::vector<Column>& columns, int64_t rows, Pool& pool, int32_t* out) const {
    each_row(
        columns, rows, pool, [&](int64_t row, int32_t node) { out[row] = largest_[node]; },
        [&](int64_t row) {
            std::vector<double> answer(answers_);
            add_answers(columns, row, answer.data());
            out[row] = static_cast<int32_t>(std::max_element(answer.begin(), answer.end()) - answer.begin());
        });
}

void Router::apply(const std::vector<Column>& columns, int64_t rows, Pool& pool, int32_t* out) const {
    each_row(
        columns, rows, pool, [&](int64_t row, int32_t node) { out[row] = node; },
        [&](int64_t row) {
            double heaviest = -1;
            follow(columns, row, [&](int node, double weight) {
                if (weight <= heaviest) return;
                heaviest = weight;
                out[row] = node;
            });
        });
}

// A parent comes before its children, so one pass in the order of nodes is enough.
Trace Router::trace(const std::vector<Column>& columns, int64_t row) const {
    Trace trace;
    trace.way.resize(nodes_.size());
    trace.weight.assign(nodes_.size(), 0);
    trace.weight[0] = 1;
    for (size_t i = 0; i < nodes_.size(); ++i) {
        const Fork& at = nodes_[i];
        if (at.children.empty()) continue;
        const Way& way = trace.way[i] = way_of(at, keys_[i], columns, row);
        for (size_t c = 0; c < at.children.size(); ++c) {
            const double part = way.child == spread ? at.split.share[c] : way.child == static_cast<int>(c);
            trace.weight[at.children[c]] = part > 0 ? trace.weight[i] * part : 0;
        }
    }
    return trace;
}

} // namespace tw

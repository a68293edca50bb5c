#include "predict.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "finite.hpp"

namespace tw {
namespace {

constexpr int64_t looked_at = 128; // rows whose values still lie in cache when they walk

} // namespace

Router::Router(const FlatTree& flat, uint64_t seed)
    : answers_(flat.n_values),
      nodes_(forks_of(flat)),
      keys_(keys_of(nodes_, seed)),
      value_(flat.value.begin(), flat.value.end()) {
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
        steps_.push_back(step);
        const double* value = &value_[i * answers_];
        largest_.push_back(static_cast<int32_t>(std::max_element(value, value + answers_) - value));
    }
    const auto leaf_or_plain = [](const Step& step) { return step.leaf || step.plain; };
    if (!steps_[0].leaf && std::all_of(steps_.begin(), steps_.end(), leaf_or_plain)) plain_ = PlainTree(steps_);
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

void Router::walk(const std::vector<Column>& columns, int64_t begin, std::span<int32_t> end) const {
    std::fill(end.begin(), end.end(), 0);
    bool moving = !steps_[0].leaf;
    while (moving) {
        moving = false;
        for (size_t i = 0; i < end.size(); ++i) {
            const int64_t row = begin + static_cast<int64_t>(i);
            for (int deeper = 0; deeper < 2 && end[i] >= 0; ++deeper) end[i] = next(columns, end[i], row);
            moving |= end[i] >= 0 && !steps_[end[i]].leaf;
        }
    }
}

template <class Single, class Several>
bool Router::each_row(const std::vector<Column>& columns, int64_t rows, Pool& pool, Single single,
                      Several several) const {
    constexpr int64_t block = 4096;
    const PlainTable plain(plain_, columns);
    const void* matrix = as_matrix(columns);
    std::atomic<bool> infinite{false};
    pool.run((rows + block - 1) / block, [&](int64_t b) {
        std::array<int32_t, side_by_side> end;
        const int64_t last = std::min(rows, (b + 1) * block);
        Oddness odd = Oddness::none;
        for (int64_t begin = b * block; begin < last; begin += side_by_side) {
            if (begin % looked_at == 0) {
                odd = oddness(columns, matrix, begin, std::min(last, begin + looked_at));
                if (odd == Oddness::infinite) infinite = true;
            }
            const std::span<int32_t> ends(end.data(),
                                          static_cast<size_t>(std::min<int64_t>(side_by_side, last - begin)));
            if (plain.usable() && odd == Oddness::none) {
                plain_.walk(plain, begin, ends);
            } else {
                walk(columns, begin, ends);
            }
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
    return infinite;
}

void Router::add_answers(const std::vector<Column>& columns, int64_t row, double* out) const {
    std::fill(out, out + answers_, 0.0);
    follow(columns, row, [&](int node, double weight) {
        const double* value = &value_[static_cast<size_t>(node) * answers_];
        for (int i = 0; i < answers_; ++i) out[i] += weight * value[i];
    });
}

bool Router::predict(const std::vector<Column>& columns, int64_t rows, Pool& pool, double* out) const {
    return each_row(
        columns, rows, pool,
        [&](int64_t row, int32_t node) {
            std::copy_n(&value_[static_cast<size_t>(node) * answers_], answers_, out + row * answers_);
        },
        [&](int64_t row) { add_answers(columns, row, out + row * answers_); });
}

bool Router::classify(const std::vector<Column>& columns, int64_t rows, Pool& pool, int32_t* out) const {
    return each_row(
        columns, rows, pool, [&](int64_t row, int32_t node) { out[row] = largest_[node]; },
        [&](int64_t row) {
            std::vector<double> answer(answers_);
            add_answers(columns, row, answer.data());
            out[row] = static_cast<int32_t>(std::max_element(answer.begin(), answer.end()) - answer.begin());
        });
}

bool Router::apply(const std::vector<Column>& columns, int64_t rows, Pool& pool, int32_t* out) const {
    return each_row(
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

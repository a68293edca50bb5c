#include "predict/predictor.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/value_checks.hpp"

namespace tw {
namespace {

constexpr int64_t looked_at = 128; // rows whose values still lie in cache when they walk

} // namespace

Predictor::Predictor(const FlatTree& flat, uint64_t seed)
    : outputs_(static_cast<int>(flat.value.width())),
      nodes_(routing_nodes_of(flat)),
      keys_(node_keys(nodes_, seed)),
      value_(flat.value),
      models_(flat) {
    std::vector<double> value(outputs_);
    for (size_t i = 0; i < nodes_.size(); ++i) {
        const RoutingNode& node = nodes_[i];
        WalkNode walk_node;
        walk_node.leaf = node.children.empty();
        walk_node.is_threshold = !walk_node.leaf && node.split.breaks.size() == 1 && node.split.child_of_bin[0] >= 0 &&
                                 node.split.child_of_bin[1] >= 0 && node.split.band_low == node.split.band_high;
        walk_node.child[0] = walk_node.child[1] = static_cast<int32_t>(i);
        if (walk_node.is_threshold) {
            walk_node.limit = threshold_limit(node.split);
            walk_node.column = node.split.column;
            for (int side = 0; side < 2; ++side) walk_node.child[side] = node.children[node.split.child_of_bin[side]];
        }
        walk_nodes_.push_back(walk_node);
        value_.copy_row(i, value.data());
        largest_.push_back(static_cast<int32_t>(std::max_element(value.begin(), value.end()) - value.begin()));
    }
    const auto leaf_or_threshold = [](const WalkNode& walk_node) { return walk_node.leaf || walk_node.is_threshold; };
    if (!walk_nodes_[0].leaf && std::all_of(walk_nodes_.begin(), walk_nodes_.end(), leaf_or_threshold))
        branchless_ = BranchlessTree(walk_nodes_);
}

template <class Visit>
void Predictor::follow_paths(const std::vector<Column>& columns, int64_t row, Visit visit) const {
    struct Path {
        int32_t node;
        double weight;
    };
    std::vector<Path> others; // where a value went down several branches; a stack, for trees may be very deep
    Path path{0, 1.0};
    while (true) {
        const RoutingNode& at = nodes_[path.node];
        const Routing routing = at.children.empty() ? Routing{} : route_row(at, keys_[path.node], columns, row);
        if (routing.child >= 0) {
            path.node = at.children[routing.child];
            continue;
        }
        if (routing.child == fractional || routing.child == both_bins) {
            for (size_t c = at.children.size(); c-- > 0;) {
                const double part = part_of_child(at.split, routing, at.split.share, static_cast<int>(c));
                if (part > 0) others.push_back({at.children[c], path.weight * part});
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
int Predictor::next(const std::vector<Column>& columns, int32_t node, int64_t row) const {
    const WalkNode& walk_node = walk_nodes_[node];
    if (walk_node.leaf) return node;
    if (walk_node.is_threshold) {
        const double x = columns[walk_node.column].numbers[row];
        if (x == x) return walk_node.child[x > walk_node.limit ? 1 : 0];
    }
    const RoutingNode& at = nodes_[node];
    const int child = route_row(at, keys_[node], columns, row).child;
    return child >= 0 ? at.children[child] : -1;
}

void Predictor::walk(const std::vector<Column>& columns, int64_t begin, std::span<int32_t> end) const {
    std::fill(end.begin(), end.end(), 0);
    bool moving = !walk_nodes_[0].leaf;
    while (moving) {
        moving = false;
        for (size_t i = 0; i < end.size(); ++i) {
            const int64_t row = begin + static_cast<int64_t>(i);
            for (int deeper = 0; deeper < 2 && end[i] >= 0; ++deeper) end[i] = next(columns, end[i], row);
            moving |= end[i] >= 0 && !walk_nodes_[end[i]].leaf;
        }
    }
}

template <class Single, class Several>
bool Predictor::each_row(const std::vector<Column>& columns, int64_t rows, ThreadPool& pool, Single single,
                         Several several, bool complete) const {
    constexpr int64_t block = 4096;
    const BranchlessTable branchless_table(branchless_, columns);
    const void* matrix = as_matrix(columns);
    std::atomic<bool> infinite{false};
    pool.run((rows + block - 1) / block, [&](int64_t b) {
        std::array<int32_t, rows_per_walk> end;
        const int64_t last = std::min(rows, (b + 1) * block);
        NonFinite odd = NonFinite::none;
        for (int64_t begin = b * block; begin < last; begin += rows_per_walk) {
            if (!complete && begin % looked_at == 0) {
                odd = worst_nonfinite(columns, matrix, begin, std::min(last, begin + looked_at));
                if (odd == NonFinite::infinite) infinite = true;
            }
            const std::span<int32_t> ends(end.data(),
                                          static_cast<size_t>(std::min<int64_t>(rows_per_walk, last - begin)));
            if (branchless_table.usable() && odd == NonFinite::none) {
                branchless_.walk(branchless_table, begin, ends);
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

void Predictor::add_values(const std::vector<Column>& columns, int64_t row, double* out) const {
    std::fill(out, out + outputs_, 0.0);
    follow_paths(columns, row, [&](int node, double weight) {
        if (models_.empty()) {
            value_.add_row(static_cast<size_t>(node), weight, out);
        } else {
            out[0] += weight * models_.predict(node, columns, row);
        }
    });
}

bool Predictor::predict(const std::vector<Column>& columns, int64_t rows, ThreadPool& pool, double* out) const {
    if (!models_.empty()) {
        return each_row(
            columns, rows, pool, [&](int64_t row, int32_t node) { out[row] = models_.predict(node, columns, row); },
            [&](int64_t row) { add_values(columns, row, out + row); });
    }
    return each_row(
        columns, rows, pool,
        [&](int64_t row, int32_t node) { value_.copy_row(static_cast<size_t>(node), out + row * outputs_); },
        [&](int64_t row) { add_values(columns, row, out + row * outputs_); });
}

template <class Index>
bool Predictor::classify(const std::vector<Column>& columns, int64_t rows, ThreadPool& pool, Index* out) const {
    return each_row(
        columns, rows, pool, [&](int64_t row, int32_t node) { out[row] = largest_[node]; },
        [&](int64_t row) {
            std::vector<double> values(outputs_);
            add_values(columns, row, values.data());
            out[row] = static_cast<Index>(std::max_element(values.begin(), values.end()) - values.begin());
        });
}
template bool Predictor::classify(const std::vector<Column>&, int64_t, ThreadPool&, int32_t*) const;
template bool Predictor::classify(const std::vector<Column>&, int64_t, ThreadPool&, int64_t*) const;

bool Predictor::apply(const std::vector<Column>& columns, int64_t rows, ThreadPool& pool, int32_t* out,
                      bool complete) const {
    return each_row(
        columns, rows, pool, [&](int64_t row, int32_t node) { out[row] = node; },
        [&](int64_t row) {
            double max_weight = -1;
            follow_paths(columns, row, [&](int node, double weight) {
                if (weight <= max_weight) return;
                max_weight = weight;
                out[row] = node;
            });
        },
        complete);
}

// A parent comes before its children, so one pass in the order of nodes is enough.
Trace Predictor::trace(const std::vector<Column>& columns, int64_t row) const {
    Trace trace;
    trace.routing.resize(nodes_.size());
    trace.weight.assign(nodes_.size(), 0);
    trace.weight[0] = 1;
    for (size_t i = 0; i < nodes_.size(); ++i) {
        const RoutingNode& at = nodes_[i];
        if (at.children.empty()) continue;
        const Routing& routing = trace.routing[i] = route_row(at, keys_[i], columns, row);
        for (size_t c = 0; c < at.children.size(); ++c) {
            const double part = part_of_child(at.split, routing, at.split.share, static_cast<int>(c));
            trace.weight[at.children[c]] = part > 0 ? trace.weight[i] * part : 0;
        }
    }
    return trace;
}

} // namespace tw

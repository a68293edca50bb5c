// Cuts found on counters: what the fast ways to look for a threshold have in common.
//
// Always holds: a later cut wins only by more than rounding, so of equal cuts the lowest is taken, as judge.hpp does.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "branching.hpp"
#include "merit.hpp"

namespace tw {

// The best cut of a column: everything up to `below` is on the low side, everything from `above` on the high side.
struct Cut {
    double merit = -std::numeric_limits<double>::infinity();
    int64_t low_rows = 0;
    double below = 0, above = 0;
    bool placed = false; // whether below and above are known yet

    bool found() const { return low_rows > 0; }
};

// What a node's cuts are compared by.
struct Yardstick {
    Span span;
    double node_merit = 0; // of the undivided node
    double rounding = 0;   // merits closer than this are equal
    int64_t rows = 0;
    int64_t least = 1; // rows each side needs

    bool beats(double merit, double best) const { return merit > best + rounding; }
    bool allows(int64_t low_rows) const { return low_rows >= least && rows - low_rows >= least; }
};

template <class Counter>
Yardstick yardstick(const Task& task, const Counter& counter, const NodeFacts& node, const Span& span,
                    const typename Counter::Word* total) {
    const Stopping& stopping = task.recipe.stopping;
    Yardstick result;
    result.span = span;
    result.node_merit = counter.side(total, span);
    result.rows = counter.rows(total);
    const double impurity_merit =
        impurity(task.recipe.rule, node.stat, task.measure.offset) * static_cast<double>(result.rows) / counter.unit();
    result.rounding = 1e-12 * std::max(impurity_merit, std::numeric_limits<double>::min());
    const double weight = std::max(stopping.min_weight_leaf, stopping.min_weight_two);
    result.least = std::max(stopping.min_samples_leaf, static_cast<int64_t>(std::ceil(weight - 1e-9)));
    return result;
}

// What the targets of some rows span; nothing for classes.
inline Span span_of(const Measure& measure, const std::vector<Entry>& entries) {
    if (measure.n_classes > 0 || entries.empty()) return {};
    Sum sum = 0;
    int64_t low = measure.target[entries[0].row], high = low;
    for (const Entry& entry : entries) {
        const int64_t y = measure.target[entry.row];
        sum += y;
        low = std::min(low, y);
        high = std::max(high, y);
    }
    const int64_t mean = static_cast<int64_t>(sum / static_cast<Sum>(entries.size()));
    return {static_cast<double>(low), static_cast<double>(high), mean};
}

// A cut as a candidate; one that was not found says why.
template <class Counter>
Candidate candidate_of(const Task& task, const Counter& counter, const Yardstick& node, int column, const Cut& cut,
                       bool constant) {
    Candidate candidate;
    candidate.column = column;
    candidate.obstacle = cut.found() ? Obstacle::none : constant ? Obstacle::constant : Obstacle::too_small;
    if (!cut.found()) return candidate;
    const double rows = static_cast<double>(node.rows);
    const double gain = std::max(0.0, (cut.merit - node.node_merit) * counter.unit() / rows);
    candidate.rating.score = candidate.rating.gain = candidate.rating.decrease = gain;
    Split& split = candidate.split;
    split.column = column;
    split.closed = task.recipe.threshold.closed;
    split.breaks = {midpoint(cut.below, cut.above, split.closed)};
    split.child_of_bin = {0, 1};
    const double low = static_cast<double>(cut.low_rows);
    split.share = {low / rows, (rows - low) / rows};
    settle_missing(task, -1, split);
    return candidate;
}

// Which columns' cuts are worth making into candidates: the best, and as many rivals as the recipe remembers.
inline std::vector<bool> worth_telling(const Task& task, const std::vector<Cut>& cuts) {
    std::vector<int> order(cuts.size());
    for (size_t i = 0; i < cuts.size(); ++i) order[i] = static_cast<int>(i);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return cuts[a].merit > cuts[b].merit; });
    // One place more than told: rounding may put the winner second.
    const size_t told = std::min(order.size(), static_cast<size_t>(task.recipe.rivals) + 2);
    std::vector<bool> result(cuts.size(), false);
    for (size_t i = 0; i < told; ++i) result[order[i]] = true;
    return result;
}

} // namespace tw

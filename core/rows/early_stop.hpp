// When a column of a small node has a gain that no column can beat, the columns after it need not be scanned: of equals
// the lowest column wins. In small nodes the first few columns often divide the rows as well as any can.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <type_traits>

#include "threshold/search.hpp"

namespace tw {

// No division of so few numbers, by whatever column, has more than the best cut of the numbers in their own order.
// Sorting more of them pays less: fewer columns order them so well.
constexpr size_t most_numbers_in_order = 6;

template <TargetCounter Counter>
double most_gain_of_numbers(const SearchContext<Counter>& context, const CutRules& rules, const Words<Counter>& total,
                            std::span<const typename Counter::Item> items) {
    std::array<typename Counter::Item, most_numbers_in_order> sorted{};
    size_t size = 0;
    for (const auto item : items.first(std::min(items.size(), most_numbers_in_order))) {
        size_t to = size++;
        for (; to > 0 && item < sorted[to - 1]; --to) sorted[to] = sorted[to - 1];
        sorted[to] = item;
    }
    CutScorer<Counter> scorer(context.counter, rules, total.data(), nullptr, false);
    Words<Counter> low = zero_words(context.counter);
    double most = no_gain;
    for (size_t i = 0; i + 1 < items.size(); ++i) {
        context.counter.add(low.data(), sorted[i]);
        most = std::max(most, scorer.gain(low.data(), static_cast<int64_t>(i + 1), context.reciprocals));
    }
    return most;
}

// The gain from which on a column cannot be beaten; infinite: every column is to be scanned. `complete`: no row lacks a
// value, so all columns divide the same rows.
template <TargetCounter Counter>
double unbeatable_gain(const Task& task, const SearchContext<Counter>& context, const CutRules& rules,
                       const NodeFacts& node, const Words<Counter>& total,
                       std::span<const typename Counter::Item> items, bool complete) {
    const SearchPlan& plan = context.plan;
    const bool gains_decide = only_best_matters(task.recipe, plan) && !plan.draws_columns && !rules.ordered &&
                              !rules.ties.in_order && is_mean_impurity(task.recipe.criterion) &&
                              (context.by_value.empty() || plan.scans_levels);
    if (!gains_decide) return std::numeric_limits<double>::infinity();
    // What makes all children pure.
    double most =
        impurity(task.recipe.criterion, node.stat, task.measure.offset) * node.weight / context.counter.unit();
    if constexpr (std::is_same_v<Counter, MomentCounter>) {
        if (complete && items.size() <= most_numbers_in_order) {
            most = std::min(most, most_gain_of_numbers(context, rules, total, items));
        }
    }
    return most - rules.ties.tolerance / 4; // rounding is far less
}

// Keeps the largest gain of the columns met so far, in rising order.
class EarlyStop {
public:
    EarlyStop(const CutRules& rules, double unbeatable) : rules_(rules), unbeatable_(unbeatable) {}

    // The least gain of a column that may still be the node's.
    double least_wanted() const { return rules_.least_wanted(best_); }

    // Whether the column with this gain is the node's, and no later one.
    bool settles(double gain) {
        const bool settled = gain >= unbeatable_ && best_ < rules_.least_wanted(gain);
        best_ = std::max(best_, gain);
        return settled;
    }

private:
    const CutRules& rules_;
    double unbeatable_;
    double best_ = no_gain;
};

} // namespace tw

// Cuts of a column and their gain: what all forms of the threshold search share.
//
// A gain is measured from the undivided node, so that columns with and without missing values compare. A later cut wins
// only by more than the tolerance, so of equal cuts the lowest is taken, as in split/scorer.hpp.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "base/profile.hpp"
#include "binning/binned_table.hpp"
#include "binning/value_histogram.hpp"
#include "binning/value_ranks.hpp"
#include "criterion/weighted_counters.hpp"
#include "split/branching.hpp"

namespace tw {

constexpr double no_gain = -std::numeric_limits<double>::infinity();

// The best cut of a column: everything up to `below` is on the low side, everything from `above` on the high side.
struct Cut {
    double gain = no_gain; // above the undivided node
    int64_t low_rows = 0;  // 0: no cut of known values is the best
    double below = 0, above = 0;
    int64_t tried = 0;        // cuts that were allowed, where the recipe asks how many (needs_ordered_scan)
    bool constant = false;    // all known values are one
    bool has_missing = false; // some rows are missing

    bool found() const { return gain > no_gain; }
    bool located() const { return below < above; }
};

// What all rows of a tree share.
template <CutCounter Counter>
struct SearchContext {
    const TrainingTable& training;
    const BinnedTable& binned;
    const Recipe& recipe;
    Counter counter;
    std::vector<int> by_histogram; // places in coded.columns(): cut by sweeping over codes
    std::vector<int> by_value;     // columns of the table that are counted value by value
    int64_t max_sorted_rows;       // so few are better ordered than counted
    ReciprocalTable reciprocals;
    std::span<const ValueRanks> value_ranks; // one per coded column; none if the recipe does not need them
    Profile* profile = nullptr;              // where the time goes, if anybody asks

    const ColumnBins& column(size_t scan_column) const { return binned.columns()[by_histogram[scan_column]]; }
    const Numbers& numbers(size_t scan_column) const {
        return training.table.columns[column(scan_column).column].numbers;
    }
};

// Which columns are by_histogram and which gathered. A third child for missing values is more than a cut can say.
template <CutCounter Counter>
void plan_columns(SearchContext<Counter>& context) {
    const bool three_ways = context.recipe.missing == Missing::own && context.recipe.branching != Branching::binary;
    for (size_t i = 0; i < context.training.table.columns.size(); ++i) {
        const int position = context.binned.index_of(static_cast<int>(i));
        if (position < 0 || (three_ways && context.binned.columns()[static_cast<size_t>(position)].has_missing)) {
            context.by_value.push_back(static_cast<int>(i));
        } else {
            context.by_histogram.push_back(position);
        }
    }
}

// Whether it matters which values occur at a node, and in which order cuts come (threshold/ordered_scan.hpp).
inline bool needs_ordered_scan(const Recipe& recipe) {
    return recipe.threshold.min_gap > 0 || recipe.threshold.cut_penalty || recipe.tie_tolerance > 0;
}

// What a node's cuts are compared by.
struct CutRules {
    TargetRange target_range;
    double tolerance = 0; // gains closer than this are equal
    int64_t min_rows = 1; // rows each side needs
    double min_weight = 0;
    const Task* task = nullptr; // null: cuts have no rules of their own

    bool ordered() const { return task && needs_ordered_scan(task->recipe); }
    double min_gap() const { return task ? task->recipe.threshold.min_gap : 0; }
    bool counts_cuts() const { return task && task->recipe.threshold.cut_penalty; }
    bool has_tie_tolerance() const { return task && task->recipe.tie_tolerance > 0; } // so the order of cuts decides

    bool beats(double gain, double best) const { return gain > best + tolerance; }
};

template <CutCounter Counter>
CutRules cut_rules(const Task& task, const Counter& counter, const NodeFacts& node, const TargetRange& target_range) {
    const Stopping& stopping = task.recipe.stopping;
    CutRules result;
    result.target_range = target_range;
    const double impurity_gain =
        impurity(task.recipe.criterion, node.stat, task.measure.offset) * node.weight / counter.unit();
    result.tolerance = std::max(1e-12 * std::max(impurity_gain, std::numeric_limits<double>::min()),
                                task.recipe.tie_tolerance * node.weight / counter.unit());
    result.min_rows = std::max<int64_t>(1, stopping.min_samples_leaf);
    result.min_weight = std::max(stopping.min_weight_leaf, stopping.min_weight_two) - weight_tolerance(task.recipe);
    result.task = &task;
    return result;
}

// Rates the cuts of one column at one node.
template <CutCounter Counter>
class CutScorer {
public:
    using Word = typename Counter::Word;

    // `missing`: counters of the rows without a value; `located`: they are scored on either side, otherwise nowhere.
    CutScorer(const Counter& counter, const CutRules& rules, const Word* total, const Word* missing, bool with_missing)
        : counter_(counter),
          rules_(rules),
          known_(zero_words(counter)),
          missing_(known_),
          high_(known_),
          more_(known_) {
        has_missing_ = missing && counter.rows(missing) > 0;
        with_missing_ = has_missing_ && with_missing;
        std::copy_n(total, counter.words(), known_.begin());
        if (has_missing_) {
            std::copy_n(missing, counter.words(), missing_.begin());
            for (int w = 0; w < counter.words(); ++w) known_[w] -= missing[w];
        }
        known_rows_ = counter.rows(known_.data());
        min_weight_ = rules.min_weight;
        if (rules.task && rules.task->recipe.threshold.min_side_rule) {
            const double least = min_side_weight(*rules.task, counter.weight(known_.data()));
            min_weight_ = std::max(min_weight_, least - weight_tolerance(rules.task->recipe));
        }
        reference_ = counter.side(with_missing_ ? total : known_.data(), rules.target_range, ExactDivision{});
    }

    bool has_missing() const { return has_missing_; }
    int64_t known_rows() const { return known_rows_; }
    double reference() const { return reference_; } // the gain of the undivided node
    double min_weight() const { return min_weight_; }
    const Words<Counter>& known() const { return known_; }
    const Words<Counter>& missing() const { return missing_; }
    // Whether a side is large enough; the other has what remains of the known rows.
    bool is_enough(const Word* side) const {
        return counter_.rows(side) >= rules_.min_rows && (!(min_weight_ > 0) || heavy(side));
    }

    // The gain of the cut with these rows below it; `no_gain` where a side would be too small.
    template <class Over>
    double gain(const Word* low, int64_t low_rows, const Over& over) {
        for (int w = 0; w < counter_.words(); ++w) high_[w] = known_[w] - low[w];
        if (!with_missing_) {
            if (low_rows < rules_.min_rows || known_rows_ - low_rows < rules_.min_rows) return no_gain;
            return gain_of_sides(low, high_.data(), over);
        }
        for (int w = 0; w < counter_.words(); ++w) more_[w] = high_[w] + missing_[w];
        double best = allowed(low, more_.data()) ? gain_of_sides(low, more_.data(), over) : no_gain;
        for (int w = 0; w < counter_.words(); ++w) more_[w] = low[w] + missing_[w];
        if (allowed(more_.data(), high_.data())) best = std::max(best, gain_of_sides(more_.data(), high_.data(), over));
        return best;
    }

    // Known rows against missing ones.
    double gain_of_missing() const {
        if (!with_missing_ || !allowed(known_.data(), missing_.data())) return no_gain;
        return gain_of_sides(known_.data(), missing_.data(), ExactDivision{});
    }

    // A gain is a squared distance, and a cut inside a bin strays from what an even share of the bin would reach,
    // which is no more than the better of the bin's ends. So no cut inside has more than (sqrt(ends) + sqrt(leeway))^2.
    // It is told as a fraction; for a bin of one class at either end, 0 / 0.
    struct Leeway {
        double over, under;
        bool falls_short(double needed) const { return over < needed * under; }
    };
    Leeway leeway(const Word* low, const Word* bin) const {
        if constexpr (Counter::has_deviation) {
            const double n = counter_.size(low), m = n + counter_.size(bin), all = counter_.size(known_.data());
            return {counter_.deviation(bin) * all * (1 + 1e-9), std::min(n * (all - n), m * (all - m))};
        }
        return {std::numeric_limits<double>::infinity(), 1};
    }
    // What the leeway must reach for a cut of gain `to_beat`, if no end of a bin has more than `ends`.
    double leeway_needed(double to_beat, double ends) const {
        if (!Counter::has_deviation || with_missing_ || !(to_beat > ends)) return no_gain;
        const double distance = std::sqrt(to_beat) - std::sqrt(std::max(0.0, ends));
        return distance * distance;
    }
    // The gain of the cut with these rows below it, whether or not its sides are large enough.
    double gain_at_edge(const Word* low) {
        for (int w = 0; w < counter_.words(); ++w) high_[w] = known_[w] - low[w];
        return counter_.side(low, rules_.target_range, ExactDivision{}) +
               counter_.side(high_.data(), rules_.target_range, ExactDivision{}) - reference_;
    }

    // No cut inside the bin that follows the low side is better; exact only as far as it tells whether it reaches
    // `to_beat`.
    double bound(const Word* low, const Word* bin, double to_beat) {
        const double target = to_beat + reference_;
        for (int w = 0; w < counter_.words(); ++w) high_[w] = known_[w] - low[w] - bin[w];
        if (!with_missing_) return counter_.bound(low, bin, high_.data(), rules_.target_range, target) - reference_;
        for (int w = 0; w < counter_.words(); ++w) more_[w] = high_[w] + missing_[w];
        const double above = counter_.bound(low, bin, more_.data(), rules_.target_range, target);
        for (int w = 0; w < counter_.words(); ++w) more_[w] = low[w] + missing_[w];
        return std::max(above, counter_.bound(more_.data(), bin, high_.data(), rules_.target_range, target)) -
               reference_;
    }

private:
    template <class Over>
    double gain_of_sides(const Word* low, const Word* high, const Over& over) const {
        if (min_weight_ > 0 && !(heavy(low) && heavy(high))) return no_gain;
        if constexpr (ScoresBothSides<Counter> && std::is_same_v<Over, ExactDivision>) {
            return counter_.score_both(low, high, rules_.target_range) - reference_;
        }
        return counter_.side(low, rules_.target_range, over) + counter_.side(high, rules_.target_range, over) -
               reference_;
    }
    bool heavy(const Word* side) const { return counter_.weight(side) >= min_weight_; }
    bool allowed(const Word* low, const Word* high) const {
        return counter_.rows(low) >= rules_.min_rows && counter_.rows(high) >= rules_.min_rows;
    }

    const Counter& counter_;
    const CutRules& rules_;
    Words<Counter> known_, missing_, high_, more_;
    int64_t known_rows_ = 0;
    double min_weight_ = 0, reference_ = 0;
    bool has_missing_ = false, with_missing_ = false;
};

// From the mean by weight, no sum of a side is far larger than what tells sides apart.
template <class Item, class Target, class Weight>
TargetRange target_range_between(std::span<const Item> items, const Target& target, const Weight& weight) {
    if (items.empty()) return {};
    Sum sum = 0, size = 0;
    int64_t low = target(items[0]), high = low;
    for (const Item& item : items) {
        const int64_t y = target(item);
        sum += static_cast<Sum>(y) * weight(item);
        size += weight(item);
        low = std::min(low, y);
        high = std::max(high, y);
    }
    const int64_t mean = static_cast<int64_t>(sum / std::max<Sum>(1, size));
    return {static_cast<double>(low), static_cast<double>(high), mean};
}

// What the targets of some rows span; nothing for classes.
template <class Item>
TargetRange target_range_of(std::span<const Item> items) {
    if constexpr (std::is_same_v<Item, typename MomentCounter::Item>) {
        return target_range_between(items, [](int64_t item) { return item; }, [](int64_t) { return 1; });
    } else if constexpr (std::is_same_v<Item, typename WeightedMomentCounter::Item>) {
        return target_range_between(
            items, [](const auto& item) { return item.target; }, [](const auto& item) { return item.weight; });
    } else {
        return {};
    }
}

} // namespace tw

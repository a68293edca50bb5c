// Cuts of a column and their gain: what all forms of the threshold search share.
//
// A gain is measured from the undivided node, so that columns with and without missing values compare. Of the cuts
// whose gain ties with the largest of the column (split/ties.hpp) the lowest is taken.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/profile.hpp"
#include "binning/binned_table.hpp"
#include "binning/level_table.hpp"
#include "binning/value_histogram.hpp"
#include "binning/value_ranks.hpp"
#include "criterion/repeated.hpp"
#include "criterion/weighted_counters.hpp"
#include "split/branching.hpp"
#include "threshold/plan.hpp"

namespace tw {

constexpr double no_gain = -std::numeric_limits<double>::infinity();

// The best cut of a column: everything up to `below` is on the low side, everything from `above` on the high side.
struct Cut {
    double gain = no_gain; // above the undivided node
    int64_t low_rows = 0;  // 0: no cut of known values is the best
    double at = 0;         // the number after which the column is cut
    int last = -1;         // of a cut between bins: the last bin below it
    double below = 0, above = 0;
    int64_t tried = 0;        // cuts that were allowed, where they are searched in order
    bool constant = false;    // all known values are one
    bool has_missing = false; // some rows are missing

    bool found() const { return gain > no_gain; }
    bool located() const { return below < above; }
};

// The columns of a table as the search sees them, for all nodes of a tree.
struct SearchColumns {
    const TrainingTable& training;
    const BinnedTable& binned;
    SearchPlan plan;
    std::span<const ValueRanks> value_ranks; // one per binned column, if the plan needs them
    Profile* profile = nullptr;              // where the time goes, on request
    const LevelTable* levels = nullptr;      // columns of levels that histograms count, too, after all bins
    IndexedVector<ScanColumn, BinnedColumn> by_histogram = {};
    std::vector<TableColumn> by_value = {};

    SearchColumns(const TrainingTable& training_table, const BinnedTable& binned_table, SearchPlan search_plan,
                  std::span<const ValueRanks> ranks = {}, Profile* kept = nullptr,
                  const LevelTable* counted_levels = nullptr)
        : training(training_table),
          binned(binned_table),
          plan(std::move(search_plan)),
          value_ranks(ranks),
          profile(kept),
          levels(counted_levels) {
        for (size_t i = 0; i < plan.columns.size(); ++i) {
            if (plan.columns[i].method == SearchMethod::none) continue;
            const TableColumn column(i);
            if (plan.columns[i].method == SearchMethod::by_value) {
                by_value.push_back(column);
            } else {
                by_histogram.push_back(binned.index_of(column));
            }
        }
    }

    size_t scanned() const { return by_histogram.size(); }
    // Bins and levels of all columns; those of the first column hold every row once.
    int cells() const { return binned.bins() + (levels ? levels->cells() : 0); }
    int first_cells() const {
        if (binned.columns().empty()) return levels->columns().front().levels + 1;
        const ColumnBins& first = binned.columns().front();
        return first.bins + (first.has_missing ? 1 : 0);
    }
    const LevelColumn* counted(TableColumn column) const { return levels ? levels->find(column) : nullptr; }
    Indices<ScanColumn> scan_columns() const { return by_histogram.indices(); }
    const ColumnBins& column(ScanColumn scan_column) const { return binned.columns()[by_histogram[scan_column]]; }
    const uint8_t* bin_of_row(ScanColumn scan_column) const { return binned.column(by_histogram[scan_column]); }
    const Numbers& numbers(ScanColumn scan_column) const {
        return training.table.columns[column(scan_column).column.offset()].numbers;
    }
    const ValueRanks& ranks(ScanColumn scan_column) const { return value_ranks[by_histogram[scan_column].offset()]; }
};

// The same with the counter of the target.
template <CutCounter Counter>
struct SearchContext : SearchColumns {
    SearchContext(SearchColumns columns, const Recipe& settings, const Counter& target_counter,
                  int64_t max_rows_to_sort = 0)
        : SearchColumns(std::move(columns)),
          recipe(settings),
          counter(target_counter),
          max_sorted_rows(max_rows_to_sort),
          reciprocals(max_rows_to_sort * most_repeats(target_counter)) {}

    const Recipe& recipe;
    Counter counter;
    int64_t max_sorted_rows; // so few rows are better sorted than counted
    ReciprocalTable reciprocals;
};

// What a node's cuts are compared by.
struct CutRules {
    TargetRange target_range;
    TieRule ties;
    int64_t min_rows = 1; // rows each side needs
    double min_weight = 0;
    const Task* task = nullptr; // null: cuts have no rules of their own
    bool ordered = false;       // SearchMethod::ordered

    double min_gap() const { return task ? task->recipe.threshold.min_gap : 0; }
    bool counts_cuts() const { return task && task->recipe.threshold.cut_penalty; }

    // The least gain a cut may have and still be the node's, where this is the best known. The best column may put
    // forward a cut one tolerance below its largest gain, a lower column wins with one tolerance less, and this may be
    // a cut one tolerance below the largest gain of its column.
    double least_wanted(double best) const { return std::isfinite(best) ? best - 4 * (best - ties.least(best)) : best; }
};

template <CutCounter Counter>
CutRules cut_rules(const Task& task, const SearchContext<Counter>& context, const NodeFacts& node,
                   const TargetRange& target_range) {
    const Stopping& stopping = task.recipe.stopping;
    const Counter& counter = context.counter;
    CutRules result;
    result.ordered = context.plan.ordered;
    result.target_range = target_range;
    const double impurity_gain =
        impurity(task.recipe.criterion, node.stat, task.measure.offset) * node.weight / counter.unit();
    const double tie_tolerance = task.recipe.tie_tolerance;
    const double tolerance = std::max(rounding * std::max(impurity_gain, std::numeric_limits<double>::min()),
                                      tie_tolerance * node.weight / counter.unit());
    // Targets next to the smallest numbers have no unit of their squares; gains, in whole units, compare exactly.
    result.ties = {std::isfinite(tolerance) ? tolerance : 0, 0, tie_tolerance > 0};
    if (!has_impurity_scale(task.recipe.criterion)) {
        result.ties = {tie_tolerance * node.weight / counter.unit(), rounding, tie_tolerance > 0};
    }
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
        std::copy_n(total, counter.words(), known_.begin());
        if (missing && counter.rows(missing) > 0) {
            has_missing_ = true;
            with_missing_ = with_missing;
            std::copy_n(missing, counter.words(), missing_.begin());
            for (int w = 0; w < counter.words(); ++w) known_[w] -= missing[w];
        }
        known_rows_ = counter.rows(known_.data());
        min_weight_ = rules.min_weight;
        if (rules.task && rules.task->recipe.threshold.min_side_rule) {
            const double least = min_side_weight(*rules.task, counter.weight(known_.data()));
            min_weight_ = std::max(min_weight_, least - weight_tolerance(rules.task->recipe));
        }
        if constexpr (!ScoresPairs<Counter> && !ScoresRows<Counter>) {
            reference_ = counter.side(with_missing_ ? total : known_.data(), rules.target_range, ExactDivision{});
        }
    }

    bool has_missing() const { return has_missing_; }
    int64_t known_rows() const { return known_rows_; }
    double reference() const { return reference_; } // the score of the undivided node, which a gain is measured from
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
    // It is returned as a fraction; for a bin of one class at either end, 0 / 0.
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
        if constexpr (ScoresPairs<Counter>) {
            return counter_.pair(low, high_.data(), rules_.target_range);
        } else {
            return counter_.side(low, rules_.target_range, ExactDivision{}) +
                   counter_.side(high_.data(), rules_.target_range, ExactDivision{}) - reference_;
        }
    }

    // No cut inside the bin that follows the low side is better; exact only as far as needed to decide if it reaches
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
    double gain_of_sides(const Word* low, const Word* high, [[maybe_unused]] const Over& over) const {
        if (min_weight_ > 0 && !(heavy(low) && heavy(high))) return no_gain;
        if constexpr (ScoresPairs<Counter>) {
            return counter_.pair(low, high, rules_.target_range);
        } else if constexpr (ScoresBothSides<Counter> && std::is_same_v<Over, ExactDivision>) {
            return counter_.score_both(low, high, rules_.target_range) - reference_;
        } else {
            return counter_.side(low, rules_.target_range, over) + counter_.side(high, rules_.target_range, over) -
                   reference_;
        }
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

// From the mean by weight, no sum of a side is far larger than the difference of sides.
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
    } else if constexpr (std::is_same_v<Item, typename Repeated<MomentCounter>::Item>) {
        return target_range_between(
            items, [](const Item& item) { return item.target; }, [](const Item& item) { return item.times; });
    } else if constexpr (RepeatedItem<Item>) {
        return {};
    } else if constexpr (requires(const Item& item) { item.target; }) {
        return target_range_between(
            items, [](const auto& item) { return item.target; }, [](const auto& item) { return item.weight; });
    } else {
        return {};
    }
}

} // namespace tw

// Converts the cuts found at a node into scored candidates. The result is independent of the search that found them.
#pragma once

#include <array>
#include <optional>
#include <utility>

#include "split/column_draw.hpp"
#include "threshold/cut.hpp"

namespace tw {

// The values next to a cut, one for each side; without a cut all known rows are one side.
inline std::vector<double> values_beside(const Cut& cut) {
    if (cut.low_rows == 0) return {cut.below};
    return {cut.below, cut.above};
}

// Both sides of a cut and the rows without a value, from what was counted of them: squares and medians are not.
template <TargetCounter Counter>
Histogram sides_of(const Counter& counter, const Measure& measure, int column, const Words<Counter>& known,
                   const Words<Counter>& missing, const Cut& cut, const Words<Counter>& low) {
    Histogram histogram;
    histogram.column = column;
    histogram.width = measure.sums();
    histogram.at = values_beside(cut);
    const auto append = [&](const Words<Counter>& words) {
        counter.to_sums(words.data(), histogram.append());
        histogram.rows.back() = counter.rows(words.data());
    };
    if (cut.low_rows > 0) {
        Words<Counter> above = known;
        for (int w = 0; w < counter.words(); ++w) above[w] -= low[w];
        append(low);
        append(above);
    } else {
        append(known);
    }
    append(missing);
    return histogram;
}

// What a cut takes off the impurity where every row has a value, and its upper child. Small nodes are many: where there
// are few sums, nothing is allocated.
struct CutGain {
    double gain;
    int upper;
};
template <TargetCounter Counter>
CutGain cut_gain_of(const Task& task, const Counter& counter, const NodeFacts& node, const Words<Counter>& known,
                    const Words<Counter>& low) {
    const Measure& measure = task.measure;
    const size_t sums = static_cast<size_t>(measure.sums()), width = static_cast<size_t>(measure.width());
    std::array<Sum, max_fixed_classes> few_sums{};
    std::array<double, 2 * max_fixed_classes> few_stats{};
    std::vector<Sum> many_sums(sums > few_sums.size() ? sums : 0);
    std::vector<double> many_stats(2 * width > few_stats.size() ? 2 * width : 0);
    Sum* kept = many_sums.empty() ? few_sums.data() : many_sums.data();
    double* stats = many_stats.empty() ? few_stats.data() : many_stats.data();
    Words<Counter> side = low;
    counter.to_sums(side.data(), kept);
    measure.read(kept, stats);
    for (int w = 0; w < counter.words(); ++w) side[w] = known[w] - low[w];
    counter.to_sums(side.data(), kept);
    measure.read(kept, stats + width);
    const std::span<const double> sides(stats, 2 * width);
    return {improvement(task.recipe.criterion, node.stat, sides, measure.offset), upper_child(task, sides)};
}

// A cut as a candidate where every row weighs one and has a value; one that was not found has an obstacle.
template <TargetCounter Counter>
Candidate cut_to_candidate(const Task& task, const Counter& counter, const NodeFacts& node, int column, const Cut& cut,
                           const Words<Counter>& known, const Words<Counter>& low) {
    Candidate candidate;
    candidate.column = column;
    candidate.obstacle = cut.found() ? Obstacle::none : cut.constant ? Obstacle::constant : Obstacle::too_small;
    if (!cut.found()) return candidate;
    const CutGain cut_gain = cut_gain_of(task, counter, node, known, low);
    candidate.rating.score = candidate.rating.gain = candidate.rating.decrease = cut_gain.gain;
    Split& split = candidate.split;
    split.upper = cut_gain.upper;
    split.column = column;
    split.closed = task.recipe.threshold.closed;
    split.breaks = {midpoint(cut.below, cut.above, split.closed)};
    split.child_of_bin = {0, 1};
    const double below = static_cast<double>(cut.low_rows);
    split.share = {below / node.weight, (node.weight - below) / node.weight};
    const int64_t rows[] = {cut.low_rows, counter.rows(known.data()) - cut.low_rows};
    set_missing_policy(task, -1, rows, split);
    return candidate;
}

// The general way to the same: the cut leaves at most two bins of known values, which split/branching.hpp rates.
inline Candidate cut_to_rated_candidate(const Task& task, const TrainingTable& training, const NodeFacts& node,
                                        int column, const Cut& cut, Histogram sides) {
    Candidate candidate =
        best_candidate(task, node, training.facts[static_cast<size_t>(column)], std::move(sides), cut.tried);
    candidate.column = column;
    return candidate;
}

// How many of the largest gains of a node's columns are to be exact; 0: all.
inline size_t exact_gains(const Recipe& recipe, const SearchPlan& plan) {
    return plan.keeps_all_columns ? 0 : static_cast<size_t>(std::max<int64_t>(recipe.rivals, 0)) + 1;
}

// The columns that the node draws of those that are not constant there. Candidates by value of others become obstacles.
template <class IsConstant>
std::vector<int> drawn_columns(const Task& task, const SearchColumns& columns, const NodeFacts& node,
                               std::vector<Candidate>& by_value, const IsConstant& is_constant) {
    std::vector<int> drawn;
    for (const ScanColumn i : columns.scan_columns()) {
        if (!is_constant(i)) drawn.push_back(columns.column(i).column.value);
    }
    for (const Candidate& candidate : by_value) {
        if (candidate.obstacle != Obstacle::constant) drawn.push_back(candidate.column);
    }
    draw_columns(node.key, static_cast<size_t>(task.recipe.stopping.max_features), drawn);
    for (Candidate& candidate : by_value) {
        if (!is_drawn(drawn, candidate.column)) candidate.obstacle = Obstacle::constant;
    }
    return drawn;
}

// A column that puts forward a candidate.
struct CandidateColumn {
    TableColumn column;
    std::optional<ScanColumn> scan_column; // where it is searched by histogram
    size_t by_value = 0;                   // else: its place among the columns searched by value
};

inline double largest_gain(const std::vector<double>& gains, const std::vector<double>& level_gains) {
    double best = no_gain;
    for (const double gain : gains) best = std::max(best, gain);
    for (const double gain : level_gains) best = std::max(best, gain);
    return best;
}

// The last of the gains that are to be exact; `no_gain` where there are no more columns.
inline double last_exact_gain(size_t exact, std::vector<double> gains, const std::vector<double>& level_gains) {
    gains.insert(gains.end(), level_gains.begin(), level_gains.end());
    if (exact == 0 || gains.size() < exact) return no_gain;
    const auto last = gains.begin() + static_cast<std::ptrdiff_t>(exact) - 1;
    std::nth_element(gains.begin(), last, gains.end(), std::greater<>());
    return *last;
}

// The columns that put forward candidates, in order: those whose gain is among the best, with their equals, or among as
// many rivals as the recipe keeps; and those searched by value, unless `level_gains` has theirs. Without any
// gain all do, with the reason.
inline std::vector<CandidateColumn> candidate_columns(const Task& task, const SearchColumns& columns,
                                                      const CutRules& rules,
                                                      const IndexedVector<ScanColumn, double>& gains,
                                                      const std::vector<double>& level_gains = {}) {
    const double best = largest_gain(gains, level_gains);
    const bool all = best == no_gain || columns.plan.keeps_all_columns;
    double least = all ? no_gain : rules.least_wanted(best);
    if (!all && task.recipe.rivals > 0) {
        least = rules.least_wanted(last_exact_gain(exact_gains(task.recipe, columns.plan), gains, level_gains));
    }
    std::vector<CandidateColumn> kept;
    kept.reserve(gains.size() + columns.by_value.size());
    for (const ScanColumn i : gains.indices()) {
        if (gains[i] >= least) kept.push_back({columns.column(i).column, i});
    }
    for (size_t i = 0; i < columns.by_value.size(); ++i) {
        if (level_gains.empty() || level_gains[i] >= least) kept.push_back({columns.by_value[i], {}, i});
    }
    std::sort(kept.begin(), kept.end(),
              [](const CandidateColumn& a, const CandidateColumn& b) { return a.column < b.column; });
    return kept;
}

// Whether the candidate of the lowest column wins, whatever the others score: without rivals these need not be made
// then. In small nodes most columns tie. Scores differ from gains by rounding alone, far less than half the tolerance
// within which they tie (split/ties.hpp).
template <TargetCounter Counter>
bool wins_every_tie(const Task& task, const SearchContext<Counter>& context, const CutRules& rules,
                    const NodeFacts& node, const std::vector<double>& gains, const std::vector<double>& level_gains,
                    const Candidate& lowest) {
    const bool gains_decide = !context.plan.keeps_all_columns && (context.by_value.empty() || !level_gains.empty());
    if (task.recipe.rivals > 0 || !gains_decide || !lowest.possible()) return false;
    if (!is_mean_impurity(task.recipe.criterion)) return false; // gains are no scores
    const double best = largest_gain(gains, level_gains);
    if (best == no_gain) return false;
    return lowest.rating.score * node.weight / context.counter.unit() >= best - rules.ties.tolerance / 2;
}

// A column's cut as a candidate. `low`: what lies below it; `count_sides()`: both sides counted from rows, for squares.
template <TargetCounter Counter, class CountSides>
Candidate to_candidate(const Task& task, const SearchContext<Counter>& context, const NodeFacts& node,
                       TableColumn column, const Cut& cut, const Words<Counter>& known, const Words<Counter>& missing,
                       const Words<Counter>& low, const CountSides& count_sides) {
    if (!cut.found() || !(cut.has_missing || context.plan.rates_sides)) {
        return cut_to_candidate(task, context.counter, node, column.value, cut, known, low);
    }
    return cut_to_rated_candidate(task, context.training, node, column.value, cut,
                                  context.plan.counts_sides ? count_sides()
                                                            : sides_of(context.counter, context.training.measure,
                                                                       column.value, known, missing, cut, low));
}

// The levels of a column, from what was counted of each, but for squares that a counter does not keep.
template <TargetCounter Counter>
Histogram histogram_of_cells(const Counter& counter, const Measure& measure, const LevelColumn& column,
                             const typename Counter::Word* cells) {
    Histogram histogram;
    histogram.column = column.column.value;
    histogram.width = measure.sums();
    for (int code = 0; code <= column.levels; ++code, cells += counter.words()) {
        if (counter.listed(cells) == 0 && code < column.levels) continue;
        if (code < column.levels) histogram.at.push_back(code);
        counter.to_sums(cells, histogram.append());
        histogram.rows.back() = counter.rows(cells);
    }
    return histogram;
}

inline Candidate candidate_by_value(const Task& task, const TrainingTable& training, const NodeFacts& facts,
                                    TableColumn column, std::span<const Entry> entries) {
    Candidate candidate =
        best_candidate(task, facts, training.facts[column.offset()], target_histogram(training, entries, column.value));
    candidate.column = column.value;
    return candidate;
}

// What an entry weighs, in the measure's units.
template <class Item>
int64_t weight_of_item([[maybe_unused]] const Item& item) {
    if constexpr (WeightedItem<Item>) {
        return item.weight;
    } else {
        return 1;
    }
}

template <class Item>
std::vector<Entry> entries_of(std::span<const uint32_t> rows, std::span<const Item> items) {
    std::vector<Entry> entries;
    entries.reserve(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
        for (int64_t t = times_of(items[i]); t > 0; --t) entries.push_back({rows[i], weight_of_item(items[i])});
    }
    return entries;
}

// A node's statistics from what its rows add.
template <TargetCounter Counter>
Total total_of_items(const SearchContext<Counter>& context, std::span<const uint32_t> rows,
                     std::span<const typename Counter::Item> items) {
    using Item = typename Counter::Item;
    if constexpr (ScoresRows<Counter>) return node_total(context.training, entries_of(rows, items));
    const Measure& measure = context.training.measure;
    Total total;
    Histogram& all = total.all;
    all.width = measure.sums();
    all.at.push_back(0);
    all.rows.reserve(2); // the node, and a bin for missing values
    all.stats.reserve(2 * static_cast<size_t>(all.width));
    Sum* sums = all.append();
    int64_t& counted = all.rows.back() = static_cast<int64_t>(items.size());
    if constexpr (RepeatedItem<Item>) {
        counted = 0;
        for (const Item& item : items) counted += item.times;
    }
    if constexpr (sums_numbers<Counter>) {
        constexpr size_t at_once = 1024 / (RepeatedItem<Item> ? max_repeats : 1);
        Sum squares = 0;
        int64_t sum = 0, some = 0; // a thousand squares fit 64 bits, all targets do
        size_t low = 0, high = 0;
        for (size_t i = 0; i < rows.size(); ++i) {
            const int64_t target = target_of(items[i]), times = times_of(items[i]);
            sum += target * times;
            some += measure.square[rows[i]] * times;
            if (target < target_of(items[low])) low = i;
            if (target > target_of(items[high])) high = i;
            if (i % at_once == at_once - 1) {
                squares += some;
                some = 0;
            }
        }
        squares += some;
        sums[0] = static_cast<Sum>(counted);
        sums[1] = sum;
        sums[2] = squares;
        all.append();
        if (rows.empty()) return total;
        total.low = measure.raw[rows[low]];
        total.high = measure.raw[rows[high]];
        if (target_of(items[low]) < target_of(items[high])) return total;
    } else if constexpr (counts_classes<Counter>) {
        std::vector<int64_t> count(measure.n_classes, 0);
        if (measure.n_classes == 2) { // without waiting for one count after the other
            for (const Item item : items) count[1] += target_of(item) * times_of(item);
            count[0] = counted - count[1];
        } else {
            for (const Item item : items) count[target_of(item)] += times_of(item);
        }
        std::copy(count.begin(), count.end(), sums);
        all.append();
        return total;
    } else {
        for (size_t i = 0; i < rows.size(); ++i) measure.add(sums, {rows[i], weight_of_item(items[i])});
        all.append();
        if (measure.n_classes > 0 || rows.empty()) return total;
        total.low = total.high = measure.raw[rows[0]];
    }
    // Targets that are one number as they are measured may still be two.
    for (const uint32_t row : rows) {
        total.low = std::min(total.low, measure.raw[row]);
        total.high = std::max(total.high, measure.raw[row]);
    }
    return total;
}

} // namespace tw

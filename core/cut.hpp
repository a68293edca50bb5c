// Cuts found on counters: what the fast ways to look for a threshold have in common.
//
// Comes in: counters of the low side of a cut. Goes out: its merit above the undivided node, so that cuts of columns
// with and without missing values can be compared, and at the end candidates as branching.hpp makes them. Always holds:
// a later cut wins only by more than rounding, so of equal cuts the lowest is taken, as judge.hpp does.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "account.hpp"
#include "branching.hpp"
#include "coding.hpp"
#include "gather.hpp"
#include "merit_weighted.hpp"

namespace tw {

constexpr double nothing = -std::numeric_limits<double>::infinity();

// The best cut of a column: everything up to `below` is on the low side, everything from `above` on the high side.
struct Cut {
    double merit = nothing; // above the undivided node
    int64_t low_rows = 0;   // 0: no cut of known values is the best
    double below = 0, above = 0;
    bool constant = false; // all known values are one
    bool gaps = false;     // some rows are missing

    bool found() const { return merit > nothing; }
    bool placed() const { return below < above; }
};

// What all rows of a tree share.
template <class Counter>
struct Ground {
    const Source& source;
    const CodedTable& coded;
    const Recipe& recipe;
    Counter counter;
    std::vector<int> swept;    // places in coded.columns(): cut by sweeping over codes
    std::vector<int> gathered; // columns of the table that are counted value by value
    int64_t small_rows;        // so few are better ordered than counted
    Inverses inverses;
    Account* account = nullptr; // where the time goes, if anybody asks

    const CodedColumn& column(size_t which) const { return coded.columns()[swept[which]]; }
    const Numbers& numbers(size_t which) const { return source.table.columns[column(which).column].numbers; }
};

// Which columns are swept and which gathered. A third child for missing values is more than a cut can say.
template <class Counter>
void set_swept(Ground<Counter>& ground) {
    const bool three_ways = ground.recipe.missing == Missing::own && ground.recipe.branching != Branching::binary;
    for (size_t i = 0; i < ground.source.table.columns.size(); ++i) {
        const int place = ground.coded.place_of(static_cast<int>(i));
        if (place < 0 || (three_ways && ground.coded.columns()[static_cast<size_t>(place)].gaps)) {
            ground.gathered.push_back(static_cast<int>(i));
        } else {
            ground.swept.push_back(place);
        }
    }
}

// What a node's cuts are compared by.
struct Yardstick {
    Span span;
    double rounding = 0; // merits closer than this are equal
    int64_t least = 1;   // rows each side needs
    double least_weight = 0;

    bool beats(double merit, double best) const { return merit > best + rounding; }
};

template <class Counter>
Yardstick yardstick(const Task& task, const Counter& counter, const NodeFacts& node, const Span& span) {
    const Stopping& stopping = task.recipe.stopping;
    Yardstick result;
    result.span = span;
    const double impurity_merit =
        impurity(task.recipe.rule, node.stat, task.measure.offset) * node.weight / counter.unit();
    result.rounding = 1e-12 * std::max(impurity_merit, std::numeric_limits<double>::min());
    result.least = std::max<int64_t>(1, stopping.min_samples_leaf);
    result.least_weight = std::max(stopping.min_weight_leaf, stopping.min_weight_two) - 1e-9;
    return result;
}

// Rates the cuts of one column at one node.
template <class Counter>
class Scale {
public:
    using Word = typename Counter::Word;

    // `missing`: counters of the rows without a value; `placed`: they are scored on either side, otherwise nowhere.
    Scale(const Counter& counter, const Yardstick& node, const Word* total, const Word* missing, bool placed)
        : counter_(counter), node_(node), known_(no_words(counter)), missing_(known_), high_(known_), more_(known_) {
        gaps_ = missing && counter.rows(missing) > 0;
        placed_ = gaps_ && placed;
        std::copy_n(total, counter.words(), known_.begin());
        if (gaps_) {
            std::copy_n(missing, counter.words(), missing_.begin());
            for (int w = 0; w < counter.words(); ++w) known_[w] -= missing[w];
        }
        known_rows_ = counter.rows(known_.data());
        reference_ = counter.side(placed_ ? total : known_.data(), node.span, Divide{});
    }

    bool gaps() const { return gaps_; }
    int64_t known_rows() const { return known_rows_; }
    double reference() const { return reference_; } // the merit of the undivided node

    // The merit of the cut with these rows below it; `nothing` where a side would be too small.
    template <class Over>
    double of(const Word* low, int64_t low_rows, const Over& over) {
        for (int w = 0; w < counter_.words(); ++w) high_[w] = known_[w] - low[w];
        if (!placed_) {
            if (low_rows < node_.least || known_rows_ - low_rows < node_.least) return nothing;
            return merit(low, high_.data(), over);
        }
        for (int w = 0; w < counter_.words(); ++w) more_[w] = high_[w] + missing_[w];
        double best = allowed(low, more_.data()) ? merit(low, more_.data(), over) : nothing;
        for (int w = 0; w < counter_.words(); ++w) more_[w] = low[w] + missing_[w];
        if (allowed(more_.data(), high_.data())) best = std::max(best, merit(more_.data(), high_.data(), over));
        return best;
    }

    // Known rows against missing ones.
    double of_missing() const {
        if (!placed_ || !allowed(known_.data(), missing_.data())) return nothing;
        return merit(known_.data(), missing_.data(), Divide{});
    }

    // A merit is a squared distance, and a cut inside a bin strays from what an even share of the bin would reach,
    // which is no more than the better of the bin's ends. So no cut inside has more than (sqrt(ends) + sqrt(leeway))^2.
    double leeway(const Word* low, const Word* bin) const {
        if constexpr (Counter::has_stray) {
            const double n = counter_.size(low), m = n + counter_.size(bin), all = counter_.size(known_.data());
            return counter_.stray(bin) * all / std::min(n * (all - n), m * (all - m)) * (1 + 1e-9);
        }
        return std::numeric_limits<double>::infinity();
    }
    // What `leeway` must reach for a cut of merit `to_beat`, if no end of a bin has more than `ends`.
    double leeway_needed(double to_beat, double ends) const {
        if (!Counter::has_stray || placed_ || !(to_beat > ends)) return nothing;
        const double gap = std::sqrt(to_beat) - std::sqrt(std::max(0.0, ends));
        return gap * gap;
    }
    // The merit of the cut with these rows below it, whether or not its sides are large enough.
    double at_end(const Word* low) {
        for (int w = 0; w < counter_.words(); ++w) high_[w] = known_[w] - low[w];
        return counter_.side(low, node_.span, Divide{}) + counter_.side(high_.data(), node_.span, Divide{}) -
               reference_;
    }

    // No cut inside the bin that follows the low side is better; exact only as far as it tells whether it reaches
    // `to_beat`.
    double bound(const Word* low, const Word* bin, double to_beat) {
        const double target = to_beat + reference_;
        for (int w = 0; w < counter_.words(); ++w) high_[w] = known_[w] - low[w] - bin[w];
        if (!placed_) return counter_.bound(low, bin, high_.data(), node_.span, target) - reference_;
        for (int w = 0; w < counter_.words(); ++w) more_[w] = high_[w] + missing_[w];
        const double above = counter_.bound(low, bin, more_.data(), node_.span, target);
        for (int w = 0; w < counter_.words(); ++w) more_[w] = low[w] + missing_[w];
        return std::max(above, counter_.bound(more_.data(), bin, high_.data(), node_.span, target)) - reference_;
    }

private:
    template <class Over>
    double merit(const Word* low, const Word* high, const Over& over) const {
        if (node_.least_weight > 0 && !(heavy(low) && heavy(high))) return nothing;
        return counter_.side(low, node_.span, over) + counter_.side(high, node_.span, over) - reference_;
    }
    bool heavy(const Word* side) const { return counter_.weight(side) >= node_.least_weight; }
    bool allowed(const Word* low, const Word* high) const {
        return counter_.rows(low) >= node_.least && counter_.rows(high) >= node_.least;
    }

    const Counter& counter_;
    const Yardstick& node_;
    Words<Counter> known_, missing_, high_, more_;
    int64_t known_rows_ = 0;
    double reference_ = 0;
    bool gaps_ = false, placed_ = false;
};

template <class Item, class Target>
Span span_between(std::span<const Item> items, const Target& target) {
    if (items.empty()) return {};
    Sum sum = 0;
    int64_t low = target(items[0]), high = low;
    for (const Item& item : items) {
        const int64_t y = target(item);
        sum += y;
        low = std::min(low, y);
        high = std::max(high, y);
    }
    const int64_t mean = static_cast<int64_t>(sum / static_cast<Sum>(items.size()));
    return {static_cast<double>(low), static_cast<double>(high), mean};
}

// What the targets of some rows span; nothing for classes.
template <class Item>
Span span_of(std::span<const Item> items) {
    if constexpr (std::is_same_v<Item, typename Sums::Item>) {
        return span_between(items, [](int64_t item) { return item; });
    } else if constexpr (std::is_same_v<Item, typename WeightedSums::Item>) {
        return span_between(items, [](const auto& item) { return item.target; });
    } else {
        return {};
    }
}

// A cut as a candidate where every row weighs one and has a value; one that was not found says why.
template <class Counter>
Candidate candidate_of(const Task& task, const Counter& counter, const NodeFacts& node, int column, const Cut& cut) {
    Candidate candidate;
    candidate.column = column;
    candidate.obstacle = cut.found() ? Obstacle::none : cut.constant ? Obstacle::constant : Obstacle::too_small;
    if (!cut.found()) return candidate;
    const double gain = std::max(0.0, cut.merit * counter.unit() / node.weight);
    candidate.rating.score = candidate.rating.gain = candidate.rating.decrease = gain;
    Split& split = candidate.split;
    split.column = column;
    split.closed = task.recipe.threshold.closed;
    split.breaks = {midpoint(cut.below, cut.above, split.closed)};
    split.child_of_bin = {0, 1};
    const double low = static_cast<double>(cut.low_rows);
    split.share = {low / node.weight, (node.weight - low) / node.weight};
    settle_missing(task, -1, split);
    return candidate;
}

// The general way to the same: the cut leaves at most two bins of known values, which branching.hpp rates.
inline Candidate rated_cut(const Task& task, const Source& source, const NodeFacts& node, int column, const Cut& cut,
                           const Sides& sides) {
    Buckets buckets;
    buckets.column = column;
    buckets.width = source.measure.sums();
    for (size_t side = 0; side < 3; ++side) {
        if (side < 2 && sides.rows[side] == 0) continue;
        Sum* sums = buckets.append();
        std::copy_n(&sides.stats[side * static_cast<size_t>(buckets.width)], buckets.width, sums);
        buckets.rows.back() = sides.rows[side];
        if (side < 2) buckets.at.push_back(side == 0 ? cut.below : cut.above);
    }
    Candidate candidate = best_candidate(task, node, source.facts[column], std::move(buckets));
    candidate.column = column;
    return candidate;
}

// Gain ratio takes each column's cut of largest gain, but columns are compared by another number, so all are told.
inline bool tells_all(const Recipe& recipe) { return recipe.rule == Rule::gain_ratio; }
inline Rule counted_rule(Rule rule) { return rule == Rule::gain_ratio ? Rule::information_gain : rule; }

// What every cut must beat before it is looked for: the node's best, or, where rivals are told too, the last of those
// told.
inline double bar(const Task& task, const std::vector<Cut>& cuts) {
    if (tells_all(task.recipe)) return nothing;
    const size_t told = task.recipe.rivals > 0 ? static_cast<size_t>(task.recipe.rivals) + 2 : 1;
    if (cuts.size() < told) return nothing;
    std::vector<double> merits;
    for (const Cut& cut : cuts) merits.push_back(cut.merit);
    std::nth_element(merits.begin(), merits.begin() + static_cast<std::ptrdiff_t>(told) - 1, merits.end(),
                     std::greater<>());
    return merits[told - 1];
}

// Which columns' cuts are worth making into candidates: the best with their equals, and as many rivals as the recipe
// remembers. Where there is none, all, for they say why.
inline std::vector<int> worth_telling(const Task& task, const Yardstick& node, const std::vector<Cut>& cuts) {
    double best = nothing;
    for (const Cut& cut : cuts) best = std::max(best, cut.merit);
    std::vector<int> told;
    const bool all = best == nothing || tells_all(task.recipe);
    if (all || task.recipe.rivals > 0) {
        for (size_t i = 0; i < cuts.size(); ++i) told.push_back(static_cast<int>(i));
        if (all) return told;
        std::stable_sort(told.begin(), told.end(), [&](int a, int b) { return cuts[a].merit > cuts[b].merit; });
        // One place more than told: rounding may put the winner second.
        told.resize(std::min(told.size(), static_cast<size_t>(task.recipe.rivals) + 2));
        std::sort(told.begin(), told.end());
        return told;
    }
    for (size_t i = 0; i < cuts.size(); ++i) {
        if (cuts[i].merit >= best - 4 * node.rounding) told.push_back(static_cast<int>(i));
    }
    return told;
}

// A candidate to be told: of a swept column by its cut, or of a column that is gathered.
struct Telling {
    int which = -1; // among the swept columns; -1: gathered
    int column = 0;
};

// What a node tells, in order of columns: swept columns worth it, and all the others.
template <class Counter>
std::vector<Telling> tellings(const Ground<Counter>& ground, const std::vector<int>& told) {
    std::vector<Telling> all;
    for (const int which : told) all.push_back({which, ground.column(which).column});
    for (const int column : ground.gathered) all.push_back({-1, column});
    std::sort(all.begin(), all.end(), [](const Telling& a, const Telling& b) { return a.column < b.column; });
    return all;
}

// Whether the candidate of a cut is made from rows, not from the cut alone.
template <class Counter>
bool needs_rows(const Task& task, const Ground<Counter>& ground, const Telling& telling, const std::vector<Cut>& cuts) {
    if (telling.which < 0) return true;
    const Cut& cut = cuts[telling.which];
    return cut.found() && (cut.gaps || !ground.source.measure.even || tells_all(task.recipe));
}

template <class Counter>
Candidate tell(const Task& task, const Ground<Counter>& ground, const NodeFacts& facts, const Telling& telling,
               const std::vector<Cut>& cuts, std::span<const Entry> entries) {
    const Source& source = ground.source;
    if (telling.which < 0) {
        Candidate candidate =
            best_candidate(task, facts, source.facts[telling.column], count_target(source, entries, telling.column));
        candidate.column = telling.column;
        return candidate;
    }
    const Cut& cut = cuts[telling.which];
    if (!needs_rows(task, ground, telling, cuts)) return candidate_of(task, ground.counter, facts, telling.column, cut);
    return rated_cut(task, source, facts, telling.column, cut,
                     count_sides(source, entries, telling.column, cut.low_rows > 0, cut.below));
}

inline std::vector<Entry> entries_of(const Source& source, std::span<const uint32_t> rows) {
    std::vector<Entry> entries;
    entries.reserve(rows.size());
    for (const uint32_t row : rows) entries.push_back({row, source.measure.weight_of(row)});
    return entries;
}

// A node's statistics from what its rows add.
template <class Counter>
Total total_of_rows(const Ground<Counter>& ground, std::span<const uint32_t> rows,
                    std::span<const typename Counter::Item> items) {
    using Item = typename Counter::Item;
    const Measure& measure = ground.source.measure;
    Total total;
    Buckets& all = total.all;
    all.width = measure.sums();
    all.at.push_back(0);
    Sum* sums = all.append();
    all.rows.back() = static_cast<int64_t>(items.size());
    if constexpr (std::is_same_v<Item, Sums::Item>) {
        Sum squares = 0;
        int64_t sum = 0, some = 0; // a thousand squares fit 64 bits, all targets do
        size_t low = 0, high = 0;
        for (size_t i = 0; i < rows.size(); ++i) {
            sum += items[i];
            some += measure.square[rows[i]];
            if (items[i] < items[low]) low = i;
            if (items[i] > items[high]) high = i;
            if (i % 1024 == 1023) {
                squares += some;
                some = 0;
            }
        }
        squares += some;
        sums[0] = static_cast<Sum>(rows.size());
        sums[1] = sum;
        sums[2] = squares;
        all.append();
        if (rows.empty()) return total;
        total.low = measure.raw[rows[low]];
        total.high = measure.raw[rows[high]];
        if (items[low] < items[high]) return total;
    } else if constexpr (std::is_integral_v<Item>) {
        std::vector<int64_t> count(measure.n_classes, 0);
        for (const Item item : items) ++count[item];
        std::copy(count.begin(), count.end(), sums);
        all.append();
        return total;
    } else {
        for (const uint32_t row : rows) measure.add(sums, {row, measure.weight_of(row)});
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

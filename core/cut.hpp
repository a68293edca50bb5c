// Cuts found on counters: what the fast ways to look for a threshold have in common.
//
// Comes in: counters of the low side of a cut. Goes out: its merit above the undivided node, so that cuts of columns
// with and without missing values can be compared. Always holds: a later cut wins only by more than rounding (or the
// recipe's slack), so of equal cuts the lowest is taken, as judge.hpp does.
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
#include "ladder.hpp"
#include "merit_weighted.hpp"

namespace tw {

constexpr double nothing = -std::numeric_limits<double>::infinity();

// The best cut of a column: everything up to `below` is on the low side, everything from `above` on the high side.
struct Cut {
    double merit = nothing; // above the undivided node
    int64_t low_rows = 0;   // 0: no cut of known values is the best
    double below = 0, above = 0;
    int64_t tried = 0;     // cuts that were allowed, where the recipe asks how many (looks_in_order)
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
    std::span<const Ladder> ladders; // one per coded column; none if the recipe does not need them
    Account* account = nullptr;      // where the time goes, if anybody asks

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

// Whether it matters which values occur at a node, and in which order cuts come (in_order.hpp).
inline bool looks_in_order(const Recipe& recipe) {
    return recipe.threshold.gap > 0 || recipe.threshold.penalised || recipe.slack > 0;
}

// What a node's cuts are compared by.
struct Yardstick {
    Span span;
    double rounding = 0; // merits closer than this are equal
    int64_t least = 1;   // rows each side needs
    double least_weight = 0;
    const Task* task = nullptr; // null: cuts have no rules of their own

    bool in_order() const { return task && looks_in_order(task->recipe); }
    double gap() const { return task ? task->recipe.threshold.gap : 0; }
    bool counts_cuts() const { return task && task->recipe.threshold.penalised; }
    bool has_slack() const { return task && task->recipe.slack > 0; } // so the order of cuts decides

    bool beats(double merit, double best) const { return merit > best + rounding; }
};

template <class Counter>
Yardstick yardstick(const Task& task, const Counter& counter, const NodeFacts& node, const Span& span) {
    const Stopping& stopping = task.recipe.stopping;
    Yardstick result;
    result.span = span;
    const double impurity_merit =
        impurity(task.recipe.rule, node.stat, task.measure.offset) * node.weight / counter.unit();
    result.rounding = std::max(1e-12 * std::max(impurity_merit, std::numeric_limits<double>::min()),
                               task.recipe.slack * node.weight / counter.unit());
    result.least = std::max<int64_t>(1, stopping.min_samples_leaf);
    result.least_weight = std::max(stopping.min_weight_leaf, stopping.min_weight_two) - patience(task.recipe);
    result.task = &task;
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
        least_weight_ = node.least_weight;
        if (node.task && node.task->recipe.threshold.tenth) {
            const double least = least_side(*node.task, counter.weight(known_.data()));
            least_weight_ = std::max(least_weight_, least - patience(node.task->recipe));
        }
        reference_ = counter.side(placed_ ? total : known_.data(), node.span, Divide{});
    }

    bool gaps() const { return gaps_; }
    int64_t known_rows() const { return known_rows_; }
    double reference() const { return reference_; } // the merit of the undivided node
    double least_weight() const { return least_weight_; }
    const Words<Counter>& known() const { return known_; }
    const Words<Counter>& missing() const { return missing_; }
    // Whether a side is large enough; the other has what remains of the known rows.
    bool is_enough(const Word* side) const {
        return counter_.rows(side) >= node_.least && (!(least_weight_ > 0) || heavy(side));
    }

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
    // It is told as a fraction; for a bin of one class at either end, 0 / 0.
    struct Leeway {
        double over, under;
        bool falls_short(double needed) const { return over < needed * under; }
    };
    Leeway leeway(const Word* low, const Word* bin) const {
        if constexpr (Counter::has_stray) {
            const double n = counter_.size(low), m = n + counter_.size(bin), all = counter_.size(known_.data());
            return {counter_.stray(bin) * all * (1 + 1e-9), std::min(n * (all - n), m * (all - m))};
        }
        return {std::numeric_limits<double>::infinity(), 1};
    }
    // What the leeway must reach for a cut of merit `to_beat`, if no end of a bin has more than `ends`.
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
        if (least_weight_ > 0 && !(heavy(low) && heavy(high))) return nothing;
        if constexpr (requires { counter_.both(low, high, node_.span); }) {
            if constexpr (std::is_same_v<Over, Divide>) return counter_.both(low, high, node_.span) - reference_;
        }
        return counter_.side(low, node_.span, over) + counter_.side(high, node_.span, over) - reference_;
    }
    bool heavy(const Word* side) const { return counter_.weight(side) >= least_weight_; }
    bool allowed(const Word* low, const Word* high) const {
        return counter_.rows(low) >= node_.least && counter_.rows(high) >= node_.least;
    }

    const Counter& counter_;
    const Yardstick& node_;
    Words<Counter> known_, missing_, high_, more_;
    int64_t known_rows_ = 0;
    double least_weight_ = 0, reference_ = 0;
    bool gaps_ = false, placed_ = false;
};

// From the mean by weight, no sum of a side is far larger than what tells sides apart.
template <class Item, class Target, class Weight>
Span span_between(std::span<const Item> items, const Target& target, const Weight& weight) {
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
Span span_of(std::span<const Item> items) {
    if constexpr (std::is_same_v<Item, typename Sums::Item>) {
        return span_between(items, [](int64_t item) { return item; }, [](int64_t) { return 1; });
    } else if constexpr (std::is_same_v<Item, typename WeightedSums::Item>) {
        return span_between(
            items, [](const auto& item) { return item.target; }, [](const auto& item) { return item.weight; });
    } else {
        return {};
    }
}

} // namespace tw

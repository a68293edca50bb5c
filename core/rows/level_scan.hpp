// The largest gain of a column of levels, without a candidate for every division of its levels.
//
// For two classes and for numbers the best division into two sets is a cut of the levels in order of their mean
// target (split/branching.cpp), so one pass over the rows of a small node, or over the cells of a histogram, and one
// over the levels give its gain. Only columns whose gain could win, rounding aside, are then made candidates.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "threshold/cut.hpp"

namespace tw {

// The counters of targets for which an order of levels is enough; SearchPlan::scans_levels uses no others.
template <class Counter>
constexpr bool orders_levels =
    Counter::fixed > 0 && Counter::fixed <= 3 && !WeightedItem<typename Counter::Item> && !ScoresRows<Counter>;

// Whether a row lacks a level of a column searched by value, as far as is known.
inline bool has_missing_levels(const SearchColumns& columns, std::span<const uint32_t> rows) {
    return std::ranges::any_of(columns.by_value, [&](TableColumn column) {
        if (columns.training.facts[column.offset()].kind == Kind::number) return true;
        const int32_t* codes = codes_of(columns.training, column.value);
        return std::ranges::any_of(rows, [&](uint32_t row) { return codes[row] < 0; });
    });
}

template <TargetCounter Counter>
class LevelScan {
public:
    // The gain of a column searched by value, of a plan that scans levels. `row(at)` and `item(at)` for at < rows: a
    // row of the table and what it adds.
    template <class Row, class ItemAt>
    double best_gain_of_rows(const SearchContext<Counter>& context, const CutRules& rules, const Words<Counter>& total,
                             TableColumn column, size_t rows, const Row& row, const ItemAt& item) {
        if constexpr (orders_levels<Counter>) return best_gain(context, rules, total, column, rows, row, item);
        return no_gain;
    }

    // The same from the cells of a column in a node's histogram.
    double best_gain_of_cells(const SearchContext<Counter>& context, const CutRules& rules, const Words<Counter>& total,
                              const LevelColumn& column, const typename Counter::Word* cells) {
        if constexpr (orders_levels<Counter>) {
            const Counter& counter = context.counter;
            const size_t words = static_cast<size_t>(counter.words());
            present_.clear();
            present_.reserve(static_cast<size_t>(column.levels));
            for (int code = 0; code < column.levels; ++code, cells += words) {
                if (counter.listed(cells) == 0) continue;
                Level& level = present_.emplace_back(Level{code, 0, zero_words(counter)});
                std::copy_n(cells, words, level.words.begin());
                level.mean = mean_of(counter, level.words);
            }
            if (context.training.facts[column.column.offset()].kind == Kind::nominal) order_by_mean();
            return best_division(context, rules, total, cells, ExactDivision{});
        }
        return no_gain;
    }

private:
    template <class Row, class ItemAt>
    double best_gain(const SearchContext<Counter>& context, const CutRules& rules, const Words<Counter>& total,
                     TableColumn column, size_t rows, const Row& row, const ItemAt& item) {
        const Counter& counter = context.counter;
        const ColumnFacts& facts = context.training.facts[column.offset()];
        Words<Counter> missing = zero_words(counter);
        count(counter, codes_of(context.training, column.value), static_cast<size_t>(facts.levels), rows, row, item,
              missing);
        if (present_.size() < 2 && !context.plan.tries_missing) return no_gain;
        put_in_order(facts.kind == Kind::nominal);
        return best_division(context, rules, total, missing.data(), context.reciprocals);
    }

    // Of the levels present, which are in order.
    template <class Over>
    double best_division(const SearchContext<Counter>& context, const CutRules& rules, const Words<Counter>& total,
                         const typename Counter::Word* missing, const Over& over) {
        const Counter& counter = context.counter;
        CutScorer<Counter> scorer(counter, rules, total.data(), missing, context.plan.tries_missing);
        Words<Counter> low = zero_words(counter);
        double best = scorer.gain_of_missing();
        for (size_t i = 0; i + 1 < present_.size(); ++i) {
            for (int w = 0; w < counter.words(); ++w) low[w] += present_[i].words[w];
            best = std::max(best, scorer.gain(low.data(), counter.rows(low.data()), over));
        }
        return best;
    }

    struct Level {
        int32_t code;
        double mean; // of the target, or the share of the first class
        Words<Counter> words;
    };

    template <class Row, class ItemAt>
    void count(const Counter& counter, const int32_t* codes, size_t levels, size_t rows, const Row& row,
               const ItemAt& item, Words<Counter>& missing) {
        present_.clear();
        if (place_.size() < levels) place_.resize(levels, -1);
        for (size_t at = 0; at < rows; ++at) {
            const int32_t code = codes[row(at)];
            if (code < 0) {
                counter.add(missing.data(), item(at));
                continue;
            }
            int32_t& place = place_[static_cast<size_t>(code)];
            if (place < 0) {
                place = static_cast<int32_t>(present_.size());
                present_.push_back({code, 0, zero_words(counter)});
            }
            counter.add(present_[static_cast<size_t>(place)].words.data(), item(at));
        }
        for (Level& level : present_) {
            place_[static_cast<size_t>(level.code)] = -1;
            level.mean = mean_of(counter, level.words);
        }
    }

    // The order of split/branching.cpp: by mean, levels of one mean by code.
    void put_in_order(bool by_mean) {
        std::sort(present_.begin(), present_.end(), [by_mean](const Level& a, const Level& b) {
            return by_mean && a.mean != b.mean ? a.mean < b.mean : a.code < b.code;
        });
    }

    // The same order for the levels of a histogram, which stand by code: they are dealt into as many ranges of means as
    // there are levels, and only those of one range are compared.
    void order_by_mean() {
        if (present_.size() < 2) return;
        const size_t levels = present_.size();
        const auto [least, most] = std::minmax_element(present_.begin(), present_.end(), has_lower_mean);
        const double low = least->mean, scale = static_cast<double>(levels - 1) / (most->mean - low);
        if (!std::isfinite(scale)) return order_few(present_, 0, levels);
        const auto range = [&](const Level& level) {
            return std::min(levels - 1, static_cast<size_t>((level.mean - low) * scale));
        };
        next_.assign(levels + 1, 0);
        for (const Level& level : present_) ++next_[range(level) + 1];
        std::partial_sum(next_.begin(), next_.end(), next_.begin());
        ordered_.resize(levels);
        for (const Level& level : present_) ordered_[next_[range(level)]++] = level;
        for (size_t i = 0, begin = 0; i < levels; begin = next_[i++])
            order_few(ordered_, begin, next_[i]); // now where it ends
        present_.swap(ordered_);
    }

    static bool has_lower_mean(const Level& a, const Level& b) { return a.mean < b.mean; }

    static void order_few(std::vector<Level>& levels, size_t begin, size_t end) {
        constexpr size_t few = 16;
        if (end - begin > few) {
            std::stable_sort(levels.begin() + static_cast<std::ptrdiff_t>(begin),
                             levels.begin() + static_cast<std::ptrdiff_t>(end), has_lower_mean);
            return;
        }
        for (size_t i = begin + 1; i < end; ++i) {
            for (size_t to = i; to > begin && levels[to].mean < levels[to - 1].mean; --to) {
                std::swap(levels[to], levels[to - 1]);
            }
        }
    }

    static double mean_of(const Counter& counter, const Words<Counter>& words) {
        Sum sums[3] = {0, 0, 0};
        counter.to_sums(words.data(), sums);
        constexpr bool by_class = !sums_numbers<Counter>;
        // Counts and sums of targets fit 64 bits; only sums of squares may not.
        return static_cast<double>(static_cast<int64_t>(sums[by_class ? 0 : 1])) / counter.weight(words.data());
    }

    std::vector<Level> present_, ordered_;
    std::vector<size_t> next_;   // of each range of means, where its next level comes to lie
    std::vector<int32_t> place_; // of each level in `present_`, -1: not there
};

} // namespace tw

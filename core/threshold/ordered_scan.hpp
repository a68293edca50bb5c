// The best cut of a binned column where the values that occur at a node matter, not only their counts.
//
// C4.5 separates only values a minimum distance apart and subtracts a penalty for every allowed cut; J48 ignores a
// small advantage, so the order of cuts decides. A bin is sorted only if a cut inside could be taken, or if some of its
// cuts are allowed and some are not.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "binning/digit_sort.hpp"
#include "binning/value_ranks.hpp"
#include "threshold/bin_refiner.hpp"

namespace tw {

// Sorted alike for all counters of one item, as ValueAndItem.
template <class Item>
struct RankAndItem {
    uint32_t rank;
    Item item;
};
template <class Item>
void sort_by_rank(std::span<RankAndItem<Item>> rows, std::vector<RankAndItem<Item>>& spare) {
    sort_by_digits(rows, spare, [](const RankAndItem<Item>& row) { return uint64_t{row.rank}; });
}

template <CutCounter Counter>
class OrderedScan {
public:
    using Word = typename Counter::Word;

    OrderedScan(const BinRefiner<Counter>& refiner, const CutRules& rules, ScanColumn scan_column)
        : refiner_(refiner),
          scan_(refiner.scan()),
          counter_(scan_.counter()),
          rules_(rules),
          scan_column_(scan_column),
          ranks_(scan_.columns().ranks(scan_column)),
          words_(static_cast<size_t>(counter_.words())),
          scorer_(scan_.scorer(rules, scan_column)),
          present_(refiner.ranks_present(scan_column)) {}

    LocatedCut<Counter> find() {
        cut_.has_missing = scorer_.has_missing();
        set_steps();
        const bool is_one_value = steps_.size() == 1 && steps_[0].first == steps_[0].last;
        cut_.constant = steps_.empty() || (is_one_value && !(scorer_.has_missing() && scan_.tries_missing()));
        open_bins();
        for (size_t i = 0; i < steps_.size(); ++i) {
            const BinStep& step = steps_[i];
            const bool is_counted = is_enough_inside(i);
            if (is_counted) cut_.tried += count_wide(ranks_, present_, step.first, step.last, rules_.min_gap());
            if (step.rows > 0) scan_inside(i, is_counted);
            if (!step.cut_after) continue;
            ++cut_.tried;
            if (step.gain > best_.most()) offer(step.gain, low(i + 1), step.last, steps_[i + 1].first);
        }
        rules_.ties.offer(best_, scorer_.gain_of_missing(), {});
        if (!best_.found()) return {cut_};
        const InnerCut<Counter>& item = best_.winner().item;
        cut_.gain = best_.winner().score;
        cut_.low_rows = item.low_rows;
        cut_.at = cut_.below = item.below;
        cut_.above = item.above;
        return {cut_, item.low};
    }

private:
    // A bin with rows, and the cut after it.
    struct BinStep {
        int bin;
        size_t first, last; // its lowest and highest rank with rows
        double gain = no_gain;
        bool cut_after = false;       // there is a cut, and it is allowed
        size_t open_at = 0, rows = 0; // its rows among those of bins that are looked into
    };
    using Row = RankAndItem<typename Counter::Item>; // of a bin that is looked into

    const Word* node_rows(const BinStep& step) const {
        return scan_.bins(scan_column_) + static_cast<size_t>(step.bin) * words_;
    }
    // What lies below a step.
    const Word* low(size_t step) const { return &lows_[step * words_]; }

    void set_steps() {
        const int bins = scan_.column(scan_column_).bins;
        steps_.reserve(static_cast<size_t>(bins));
        lows_.reserve(static_cast<size_t>(bins + 1) * words_);
        lows_.resize(words_, 0);
        for (int bin = 0; bin < bins; ++bin) {
            BinStep step{bin, 0, 0};
            if (counter_.listed(node_rows(step)) == 0) continue;
            step.first = next_from(present_, ranks_.start[static_cast<size_t>(bin)]);
            step.last = last_before(present_, ranks_.start[static_cast<size_t>(bin) + 1]);
            if (!steps_.empty()) set_cut_after(step.first);
            for (size_t w = 0; w < words_; ++w) lows_.push_back(low(steps_.size())[w] + node_rows(step)[w]);
            steps_.push_back(step);
        }
    }
    // The cut between the last bin and one whose lowest rank is this.
    void set_cut_after(size_t next) {
        BinStep& step = steps_.back();
        if (!ranks_.is_wide(step.last, next, rules_.min_gap())) return;
        const Word* below = low(steps_.size());
        step.gain = scorer_.gain(below, counter_.rows(below), ExactDivision{});
        step.cut_after = step.gain > no_gain;
    }

    // Which bins are looked into, and their rows. Of what was taken before a bin is reached only this much is known: it
    // is no worse than the best cut between bins so far, less the rounding. Where there is only rounding, the best of
    // all will do.
    void open_bins() {
        double so_far = no_gain, best = no_gain;
        for (const BinStep& step : steps_) best = std::max(best, step.gain);
        size_t rows = 0;
        for (size_t i = 0; i < steps_.size(); ++i) {
            BinStep& step = steps_[i];
            const double min_gain = rules_.ties.in_order ? so_far : rules_.ties.least(best);
            so_far = std::max(so_far, step.gain);
            if (step.first == step.last) continue;
            if (!is_edge(i) && scorer_.bound(low(i), node_rows(step), min_gain) < min_gain) continue;
            step.open_at = rows;
            step.rows = static_cast<size_t>(counter_.listed(node_rows(step)));
            rows += step.rows;
        }
        if (rows == 0) return;
        refiner_.note_refined(static_cast<int64_t>(rows));
        read_open_rows(rows);
    }

    // Rows of other bins are written past the last, so that no branch depends on the bin.
    void read_open_rows(size_t rows) {
        rows_.resize(rows + 1);
        std::array<uint32_t, 256> next, step_of;
        next.fill(static_cast<uint32_t>(rows));
        step_of.fill(0);
        for (const BinStep& step : steps_) {
            if (step.rows == 0) continue;
            next[static_cast<size_t>(step.bin)] = static_cast<uint32_t>(step.open_at);
            step_of[static_cast<size_t>(step.bin)] = 1;
        }
        const uint8_t* bin_of = scan_.columns().bin_of_row(scan_column_);
        const std::span<const uint32_t> row = refiner_.rows();
        for (size_t i = 0; i < row.size(); ++i) {
            const uint8_t bin = bin_of[row[i]];
            rows_[next[bin]] = {ranks_.rank_of[row[i]], refiner_.items()[i]};
            next[bin] += step_of[bin];
        }
    }

    // Whether some cuts inside are allowed and some are not; not needed where cuts are not counted.
    bool is_edge(size_t i) {
        return rules_.counts_cuts() && (scorer_.is_enough(low(i)) != scorer_.is_enough(low(i + 1)) ||
                                        is_enough_above(i) != is_enough_above(i + 1));
    }
    // Whether enough rows are left above what lies below a step.
    bool is_enough_above(size_t step) {
        high_ = scorer_.known();
        for (size_t w = 0; w < words_; ++w) high_[w] -= low(step)[w];
        return scorer_.is_enough(high_.data());
    }
    bool is_enough_inside(size_t i) { return scorer_.is_enough(low(i)) && is_enough_above(i + 1); }

    // What a cut must have to be taken now.
    double least_wanted() const {
        return rules_.ties.in_order ? best_.most() + rules_.ties.tolerance : rules_.ties.least(best_.most());
    }
    // Whether no cut after a row of this part, which follows the low side, is wanted.
    bool is_hopeless(const Word* below, const Word* part) {
        const double min_gain = least_wanted();
        return scorer_.bound(below, part, min_gain) < min_gain;
    }

    // `is_counted`: all cuts inside are allowed, and counted.
    void scan_inside(size_t i, bool is_counted) {
        const BinStep& step = steps_[i];
        if (is_hopeless(low(i), node_rows(step)) && (is_counted || !is_edge(i))) return;
        const std::span<Row> rows(&rows_[step.open_at], step.rows);
        sort_by_rank(rows, spare_);
        Words<Counter> below = zero_words(counter_), part = below;
        std::copy_n(low(i), words_, below.begin());
        for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
            end = std::min(begin + rows_at_once, rows.size());
            while (end < rows.size() && rows[end].rank == rows[end - 1].rank) ++end;
            if (is_counted && counter_.words() <= max_words_to_bound) {
                std::fill(part.begin(), part.end(), 0);
                for (size_t at = begin; at < end; ++at) counter_.add(part.data(), rows[at].item);
                if (is_hopeless(below.data(), part.data())) {
                    for (size_t w = 0; w < words_; ++w) below[w] += part[w];
                    continue;
                }
            }
            for (size_t at = begin; at < end; ++at) {
                counter_.add(below.data(), rows[at].item);
                if (at + 1 < rows.size()) try_between(rows[at].rank, rows[at + 1].rank, below, is_counted);
            }
        }
    }
    void try_between(size_t rank, size_t next, const Words<Counter>& below, bool is_counted) {
        if (next == rank || !ranks_.is_wide(rank, next, rules_.min_gap())) return;
        const double gain = scorer_.gain(below.data(), counter_.rows(below.data()), ExactDivision{});
        if (!(gain > no_gain)) return;
        if (!is_counted) ++cut_.tried;
        if (gain > best_.most()) offer(gain, below.data(), rank, next);
    }

    void offer(double gain, const Word* below, size_t rank, size_t next) {
        Words<Counter> rows = zero_words(counter_);
        std::copy_n(below, words_, rows.begin());
        const double at = ranks_.value[rank];
        rules_.ties.offer(best_, gain, {at, counter_.rows(below), at, ranks_.value[next], std::move(rows)});
    }

    static constexpr size_t rows_at_once = 16;   // bounded together before their cuts are scored one by one
    static constexpr int max_words_to_bound = 3; // the bound of many classes costs more than it saves

    const BinRefiner<Counter>& refiner_;
    const HistogramScan<Counter>& scan_;
    const Counter& counter_;
    const CutRules& rules_;
    ScanColumn scan_column_;
    const ValueRanks& ranks_;
    size_t words_;
    CutScorer<Counter> scorer_;
    RankBits present_; // ranks with rows of this node
    std::vector<BinStep> steps_;
    std::vector<Word> lows_; // what lies below each step, and below the end
    std::vector<Row> rows_, spare_;
    Words<Counter> high_;
    Cut cut_;
    FirstOfBest<InnerCut<Counter>> best_;
};

} // namespace tw

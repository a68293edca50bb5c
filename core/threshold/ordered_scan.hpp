// The best cut of a binned column where the values that occur at a node matter, not only their counts.
//
// C4.5 separates only values a minimum distance apart and subtracts a penalty for every allowed cut; J48 ignores a
// small advantage, so the order of cuts decides. A bin is sorted only if a cut inside could be taken, or if some of its
// cuts are allowed and some are not.
#pragma once

#include <algorithm>
#include <vector>

#include "binning/value_ranks.hpp"
#include "threshold/bin_refiner.hpp"

namespace tw {

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
        std::vector<typename BinScan<Counter>::Row> rows = open_bins();
        for (size_t i = 0; i < steps_.size(); ++i) {
            if (steps_[i].open >= 0) {
                const OpenBin<Counter>& bin = bins_[static_cast<size_t>(steps_[i].open)];
                scan_inside(steps_[i], std::span(&rows[bin.first], static_cast<size_t>(bin.rows)));
            } else if (is_enough_inside(steps_[i])) {
                cut_.tried += wide_inside(steps_[i]);
            }
            if (!steps_[i].cut_after) continue;
            ++cut_.tried;
            if (steps_[i].gain > best_.most()) {
                offer(steps_[i].gain, steps_[i].low, ranks_.value[steps_[i].last], ranks_.value[steps_[i + 1].first]);
            }
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
    // A bin with rows: what lies up to its end, and the cut after it.
    struct BinStep {
        int bin;
        size_t first, last; // its lowest and highest rank with rows
        Words<Counter> low;
        double gain = no_gain;
        bool cut_after = false; // there is a cut, and it is allowed
        int open = -1;          // its index among the bins looked into
    };

    const Word* node_rows(const BinStep& step) const {
        return scan_.bins(scan_column_) + static_cast<size_t>(step.bin) * words_;
    }
    Words<Counter> start_of(const BinStep& step) const {
        Words<Counter> low = step.low;
        for (size_t w = 0; w < words_; ++w) low[w] -= node_rows(step)[w];
        return low;
    }

    void set_steps() {
        Words<Counter> low = zero_words(counter_);
        const int bins = scan_.column(scan_column_).bins;
        for (int bin = 0; bin < bins; ++bin) {
            BinStep step{bin, 0, 0, {}};
            if (counter_.listed(node_rows(step)) == 0) continue;
            step.first = next_from(present_, ranks_.start[static_cast<size_t>(bin)]);
            step.last = last_before(present_, ranks_.start[static_cast<size_t>(bin) + 1]);
            if (!steps_.empty()) set_cut_after(steps_.back(), step.first);
            for (size_t w = 0; w < words_; ++w) low[w] += node_rows(step)[w];
            step.low = low;
            steps_.push_back(std::move(step));
        }
    }
    void set_cut_after(BinStep& step, size_t next) {
        if (!ranks_.is_wide(step.last, next, rules_.min_gap())) return;
        step.gain = scorer_.gain(step.low.data(), counter_.rows(step.low.data()), ExactDivision{});
        step.cut_after = step.gain > no_gain;
    }

    // Which bins are looked into, and their rows. Of what was taken before a bin is reached only this much is known: it
    // is no worse than the best cut between bins so far, less the rounding. Where there is only rounding, the best of
    // all will do.
    std::vector<typename BinScan<Counter>::Row> open_bins() {
        double so_far = no_gain, best = no_gain;
        for (const BinStep& step : steps_) best = std::max(best, step.gain);
        std::array<int16_t, 256> open;
        open.fill(-1);
        size_t first = 0;
        for (BinStep& step : steps_) {
            const double min_gain = rules_.ties.in_order ? so_far : rules_.ties.least(best);
            so_far = std::max(so_far, step.gain);
            if (step.first == step.last) continue;
            const Words<Counter> low = start_of(step);
            if (!is_edge(low, step.low) && scorer_.bound(low.data(), node_rows(step), min_gain) < min_gain) continue;
            const int64_t rows = counter_.listed(node_rows(step));
            step.open = open[static_cast<size_t>(step.bin)] = static_cast<int16_t>(bins_.size());
            bins_.push_back({step.bin, first, rows, low});
            first += static_cast<size_t>(rows);
        }
        if (bins_.empty()) return {};
        refiner_.note_refined(static_cast<int64_t>(first));
        return refiner_.rows_in_bins(scan_column_, open, bins_);
    }

    // Whether some cuts inside are allowed and some are not; not needed where cuts are not counted.
    bool is_edge(const Words<Counter>& start, const Words<Counter>& end) const {
        return rules_.counts_cuts() && (scorer_.is_enough(start.data()) != scorer_.is_enough(end.data()) ||
                                        is_enough_above(start) != is_enough_above(end));
    }
    bool is_enough_above(const Words<Counter>& low) const {
        Words<Counter> high = scorer_.known();
        for (size_t w = 0; w < words_; ++w) high[w] -= low[w];
        return scorer_.is_enough(high.data());
    }
    bool is_enough_inside(const BinStep& step) const {
        return scorer_.is_enough(start_of(step).data()) && is_enough_above(step.low);
    }
    int64_t wide_inside(const BinStep& step) const {
        return count_wide(ranks_, present_, step.first, step.last, rules_.min_gap());
    }

    void scan_inside(const BinStep& step, std::span<typename BinScan<Counter>::Row> rows) {
        Words<Counter> low = start_of(step);
        const double min_gain =
            rules_.ties.in_order ? best_.most() + rules_.ties.tolerance : rules_.ties.least(best_.most());
        const bool is_hopeless = scorer_.bound(low.data(), node_rows(step), min_gain) < min_gain;
        if (is_hopeless && !is_edge(low, step.low)) {
            if (is_enough_inside(step)) cut_.tried += wide_inside(step);
            return;
        }
        std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
        for (size_t i = 0; i + 1 < rows.size(); ++i) {
            counter_.add(low.data(), rows[i].item);
            const double at = rows[i].value, next = rows[i + 1].value;
            if (next == at || !is_separable(at, next, rules_.min_gap())) continue;
            const double gain = scorer_.gain(low.data(), counter_.rows(low.data()), ExactDivision{});
            if (!(gain > no_gain)) continue;
            ++cut_.tried;
            if (gain > best_.most()) offer(gain, low, at, next);
        }
    }

    void offer(double gain, const Words<Counter>& low, double below, double above) {
        rules_.ties.offer(best_, gain, {below, counter_.rows(low.data()), below, above, low});
    }

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
    std::vector<OpenBin<Counter>> bins_;
    Cut cut_;
    FirstOfBest<InnerCut<Counter>> best_;
};

} // namespace tw

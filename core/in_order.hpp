// Cuts in order: the best cut of a coded column where it matters which values occur at a node, not only how many rows.
//
// Recipes of C4.5's kind separate only values some way apart, take off something for every cut that was allowed, or
// (J48) do not count a small advantage, so that the order of cuts decides. Comes in: a node's sweep, and the column's
// ladder. Goes out: the cut that trying all of them from the lowest on would take, what lies below it, and how many
// were allowed. Always holds: a bin is sorted only if a cut inside could be taken, or if some of its cuts are allowed
// and some are not.
#pragma once

#include <algorithm>
#include <vector>

#include "ladder.hpp"
#include "sweep.hpp"

namespace tw {

template <class Counter>
class InOrder {
public:
    using Word = typename Counter::Word;

    InOrder(const Sweep<Counter>& sweep, const Counter& counter, const Yardstick& node, size_t which,
            const Ladder& ladder)
        : sweep_(sweep),
          counter_(counter),
          node_(node),
          which_(which),
          ladder_(ladder),
          words_(static_cast<size_t>(counter.words())),
          scale_(sweep.scale(node, which)),
          taken_(sweep.rungs(which, ladder)),
          best_{{}, no_words(counter)} {}

    PlacedCut<Counter> find() {
        best_.cut.gaps = scale_.gaps();
        best_.cut.constant = taken_.size() < 2 && !(scale_.gaps() && sweep_.places_missing());
        set_steps();
        std::vector<typename Inside<Counter>::Row> rows = open_bins();
        for (size_t i = 0; i < steps_.size(); ++i) {
            if (steps_[i].open >= 0) {
                const OpenBin<Counter>& bin = bins_[static_cast<size_t>(steps_[i].open)];
                look_into(steps_[i], std::span(&rows[bin.first], static_cast<size_t>(bin.rows)));
            } else if (is_enough_inside(steps_[i])) {
                best_.cut.tried += wide_inside(steps_[i]);
            }
            if (steps_[i].cut_after) offer(steps_[i].merit, steps_[i].low, below(i + 1), above(i + 1));
        }
        if (const double apart = scale_.of_missing(); node_.beats(apart, best_.cut.merit)) {
            best_.cut.merit = apart;
            best_.cut.low_rows = 0;
        }
        return std::move(best_);
    }

private:
    // A bin with rows: what lies up to its end, and the cut after it.
    struct Step {
        int bin;
        size_t first, last; // of the rungs taken: its own
        Words<Counter> low;
        double merit = nothing;
        bool cut_after = false; // there is a cut, and it is allowed
        int open = -1;          // its place among the bins looked into
    };

    double value(size_t i) const { return ladder_.value[taken_[i]]; }
    bool is_wide(size_t i) const { return may_part(value(i), value(i + 1), node_.gap()); }
    // The values next to the cut after the step before this one.
    double below(size_t step) const { return value(steps_[step].first - 1); }
    double above(size_t step) const { return value(steps_[step].first); }
    const Word* held(const Step& step) const { return sweep_.bins(which_) + static_cast<size_t>(step.bin) * words_; }
    Words<Counter> start_of(const Step& step) const {
        Words<Counter> low = step.low;
        for (size_t w = 0; w < words_; ++w) low[w] -= held(step)[w];
        return low;
    }

    void set_steps() {
        Words<Counter> low = no_words(counter_);
        for (size_t first = 0; first < taken_.size();) {
            const auto bin = std::upper_bound(ladder_.start.begin(), ladder_.start.end(), taken_[first]) - 1;
            const auto end =
                std::lower_bound(taken_.begin() + static_cast<std::ptrdiff_t>(first), taken_.end(), bin[1]);
            const size_t last = static_cast<size_t>(end - taken_.begin());
            Step step{static_cast<int>(bin - ladder_.start.begin()), first, last, low};
            for (size_t w = 0; w < words_; ++w) low[w] += held(step)[w];
            step.low = low;
            if (last < taken_.size() && is_wide(last - 1)) {
                step.merit = scale_.of(low.data(), counter_.rows(low.data()), Divide{});
                step.cut_after = step.merit > nothing;
            }
            steps_.push_back(std::move(step));
            first = last;
        }
    }

    // Which bins are looked into, and their rows. Of what was taken before a bin is reached only this much is known: it
    // is no worse than the best cut between bins so far, less the rounding. Where there is only rounding, the best of
    // all will do.
    std::vector<typename Inside<Counter>::Row> open_bins() {
        double so_far = nothing, best = nothing;
        for (const Step& step : steps_) best = std::max(best, step.merit);
        std::array<int16_t, 256> open;
        open.fill(-1);
        size_t first = 0;
        for (Step& step : steps_) {
            const double least = node_.has_slack() ? so_far : best - node_.rounding;
            so_far = std::max(so_far, step.merit);
            if (step.last - step.first < 2) continue;
            const Words<Counter> low = start_of(step);
            if (!is_edge(low, step.low) && scale_.bound(low.data(), held(step), least) < least) continue;
            const int64_t rows = counter_.listed(held(step));
            step.open = open[static_cast<size_t>(step.bin)] = static_cast<int16_t>(bins_.size());
            bins_.push_back({step.bin, first, rows, low});
            first += static_cast<size_t>(rows);
        }
        if (bins_.empty()) return {};
        sweep_.note_zoomed(static_cast<int64_t>(first));
        return sweep_.rows_inside(which_, open, bins_);
    }

    // Whether some cuts inside are allowed and some are not; of no interest where nobody counts them.
    bool is_edge(const Words<Counter>& start, const Words<Counter>& end) const {
        return node_.counts_cuts() && (scale_.is_enough(start.data()) != scale_.is_enough(end.data()) ||
                                       is_enough_above(start) != is_enough_above(end));
    }
    bool is_enough_above(const Words<Counter>& low) const {
        Words<Counter> high = scale_.known();
        for (size_t w = 0; w < words_; ++w) high[w] -= low[w];
        return scale_.is_enough(high.data());
    }
    bool is_enough_inside(const Step& step) const {
        return scale_.is_enough(start_of(step).data()) && is_enough_above(step.low);
    }
    int64_t wide_inside(const Step& step) const {
        int64_t wide = 0;
        for (size_t i = step.first; i + 1 < step.last; ++i) wide += is_wide(i);
        return wide;
    }

    void look_into(const Step& step, std::span<typename Inside<Counter>::Row> rows) {
        Words<Counter> low = start_of(step);
        const double least = best_.cut.merit + (node_.has_slack() ? node_.rounding : 0);
        const bool is_hopeless = scale_.bound(low.data(), held(step), least) < least;
        if (is_hopeless && !is_edge(low, step.low)) {
            if (is_enough_inside(step)) best_.cut.tried += wide_inside(step);
            return;
        }
        std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
        for (size_t i = 0; i + 1 < rows.size(); ++i) {
            counter_.add(low.data(), rows[i].item);
            const double at = rows[i].value, next = rows[i + 1].value;
            if (next == at || !may_part(at, next, node_.gap())) continue;
            const double merit = scale_.of(low.data(), counter_.rows(low.data()), Divide{});
            if (merit > nothing) offer(merit, low, at, next);
        }
    }

    void offer(double merit, const Words<Counter>& low, double below, double above) {
        ++best_.cut.tried;
        if (!node_.beats(merit, best_.cut.merit)) return;
        best_.cut.merit = merit;
        best_.cut.low_rows = counter_.rows(low.data());
        best_.cut.below = below;
        best_.cut.above = above;
        best_.low = low;
    }

    const Sweep<Counter>& sweep_;
    const Counter& counter_;
    const Yardstick& node_;
    size_t which_;
    const Ladder& ladder_;
    size_t words_;
    Scale<Counter> scale_;
    std::vector<uint32_t> taken_; // rungs with rows of this node
    std::vector<Step> steps_;
    std::vector<OpenBin<Counter>> bins_;
    PlacedCut<Counter> best_;
};

} // namespace tw

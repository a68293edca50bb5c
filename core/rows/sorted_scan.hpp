// Every cut between the sorted rows of a column at a small node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "threshold/median_scan.hpp"

namespace tw {

// Rows and ranks are numbered in 16 bits.
constexpr int64_t max_sorted_rows = 32768;

// A row at its place in the order of a column; equal ranks are equal values.
struct RankedRow {
    uint16_t rank;
    uint16_t row; // numbered within the subtree
};
constexpr uint16_t missing_rank = 0xffff; // the last
static_assert(max_sorted_rows <= std::numeric_limits<decltype(RankedRow::row)>::max());
static_assert(max_sorted_rows <= missing_rank); // ranks of values are below

// The low side of a cut: a row that is in the sample several times is one entry.
struct LowSide {
    size_t entries = 0;
    int64_t rows = 0;
};

// The rows with known values of one column; what a row adds is `item[row]`.
//
// Its loops are not those of threshold/bin_scan.hpp: they divide by a table of reciprocals, keep the sums of both sides
// as rows change sides (ScoresRunning), or skip cuts inside a run of one class.
template <CutCounter Counter>
class SortedScan {
public:
    SortedScan(const Counter& counter, const CutRules& rules, CutScorer<Counter>& scorer,
               const ReciprocalTable& reciprocals, const RankedRow* order, size_t rows,
               const typename Counter::Item* item)
        : counter_(counter),
          rules_(rules),
          scorer_(scorer),
          reciprocals_(reciprocals),
          order_(order),
          rows_(rows),
          item_(item),
          is_simple_(!scorer.has_missing() && !(scorer.min_weight() > 1) && !rules.ordered) {}

    // The best cuts, by what lies below; nothing: known values against missing ones. `total`: of the node; `wanted`: of
    // a smaller gain it need not be known what lies below; `tried`: cuts that were allowed, counted where cuts are
    // searched in order.
    template <class Value>
    const FirstOfBest<LowSide>& best(const Words<Counter>& total, double wanted, const Value& value, int64_t& tried) {
        if constexpr (ScoresRunning<Counter>) {
            if (is_simple_ && !rules_.ties.in_order) {
                scan_running(total, wanted);
                return best_;
            }
        }
        scan(value, tried);
        offer({}, scorer_.gain_of_missing());
        return best_;
    }

private:
    bool is_between_values(size_t at) const { return order_[at].rank != order_[at + 1].rank; }
    void offer(LowSide low, double gain) {
        if (gain > best_.most()) rules_.ties.offer(best_, gain, low);
    }

    // The largest gain first, without a look at who ties with it: most columns are not the best.
    void scan_running(const Words<Counter>& total, double wanted) {
        double most = no_gain;
        each_cut(total, [&](LowSide, double gain) {
            most = std::max(most, gain);
            return true;
        });
        if (most < wanted) return offer({}, most);
        const double least = rules_.ties.least(most);
        each_cut(total, [&](LowSide low, double gain) {
            if (gain < least) return true;
            offer(low, gain);
            return false;
        });
    }

    // Calls visit(low, gain) for the allowed cuts in rising order while it returns true.
    template <class Visit>
    void each_cut(const Words<Counter>& total, const Visit& visit) const {
        typename Counter::Running running(counter_, total.data(), rules_.target_range);
        const int64_t rows = scorer_.known_rows(), least = rules_.min_rows;
        const double reference = scorer_.reference();
        int64_t low_rows = 0;
        for (size_t at = 0; at + 1 < rows_; ++at) {
            const auto& item = item_[order_[at].row];
            running.move(target_of(item), times_of(item));
            low_rows += times_of(item);
            if (!is_between_values(at) || low_rows < least) continue;
            if (rows - low_rows < least) return;
            const double gain = running.score(low_rows, rows - low_rows, reciprocals_) - reference;
            if (!visit(LowSide{at + 1, low_rows}, gain)) return;
        }
    }

    template <class Value>
    void scan(const Value& value, int64_t& tried) {
        Words<Counter> low = zero_words(counter_);
        for (size_t at = 0; at + 1 < rows_; ++at) {
            counter_.add(low.data(), item_[order_[at].row]);
            if (!is_between_values(at) || is_inside_a_run(at)) continue;
            if (rules_.ordered && !is_separable(value(at), value(at + 1), rules_.min_gap())) continue;
            const int64_t low_rows = counter_.rows(low.data());
            const double gain = scorer_.gain(low.data(), low_rows, reciprocals_);
            if (rules_.ordered && gain > no_gain) ++tried;
            offer({at + 1, low_rows}, gain);
        }
    }

    // Between two rows of one class that are alone with their values no cut is better than one at either side.
    bool is_inside_a_run(size_t at) const {
        if constexpr (Counter::is_strict) {
            return is_simple_ && rules_.min_rows <= 1 &&
                   target_of(item_[order_[at].row]) == target_of(item_[order_[at + 1].row]) &&
                   (at == 0 || is_between_values(at - 1)) && (at + 2 >= rows_ || is_between_values(at + 1));
        }
        return false;
    }

    const Counter& counter_;
    const CutRules& rules_;
    CutScorer<Counter>& scorer_;
    const ReciprocalTable& reciprocals_;
    const RankedRow* order_;
    size_t rows_;
    const typename Counter::Item* item_;
    bool is_simple_;
    FirstOfBest<LowSide> best_;
};

// The same for cuts that are scored from rows: `item` of all rows of the subtree, by rising target.
template <ScoresRows Counter>
FirstOfBest<LowSide> best_by_medians(const Counter& counter, const CutRules& rules, const CutScorer<Counter>& scorer,
                                     std::span<const RankedRow> order, std::span<const typename Counter::Item> item) {
    MedianSides<Counter> sides(item, false);
    for (const RankedRow& ranked : order) sides.add(ranked.row);
    const auto undivided = sides.deviations();
    Words<Counter> low{}, high = scorer.known(), row{};
    FirstOfBest<LowSide> best;
    for (size_t at = 0; at + 1 < order.size(); ++at) {
        sides.move(order[at].row);
        row = {};
        counter.add(row.data(), item[order[at].row]);
        for (int w = 0; w < counter.words(); ++w) {
            low[w] += row[w];
            high[w] -= row[w];
        }
        if (order[at].rank == order[at + 1].rank) continue;
        if (!scorer.is_enough(low.data()) || !scorer.is_enough(high.data())) continue;
        rules.ties.offer(best, static_cast<double>(undivided - sides.deviations()),
                         {at + 1, static_cast<int64_t>(at + 1)});
    }
    return best;
}

} // namespace tw

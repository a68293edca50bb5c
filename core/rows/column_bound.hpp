// No cut of a column has more gain than this, at a third of the work of scoring its cuts: most columns of a node fall
// short of the best one before.
//
// For numbers under variance and for two classes under gini the gain of a cut is a squared distance of means: with n
// rows below it, m above, and s the sum of what is below, from the mean of the node, s^2 (1 / n + 1 / m).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "rows/sorted_scan.hpp"

namespace tw {

template <class Counter>
constexpr bool bounds_columns =
    std::is_same_v<Counter, MomentCounter> || std::is_same_v<Counter, TwoClassCounter<Criterion::gini>>;

class ColumnBound {
public:
    static constexpr size_t least_rows = 8; // the cuts of fewer are scored as soon

    explicit ColumnBound(size_t rows) : step_(rows), weight_(rows) {}

    // The rows of a node, each by its number in the subtree; `item` of all of these.
    template <TargetCounter Counter>
        requires bounds_columns<Counter>
    void set(const Words<Counter>& total, const CutRules& rules, const ReciprocalTable& reciprocals,
             std::span<const uint16_t> members, const typename Counter::Item* item) {
        const int64_t rows = static_cast<int64_t>(members.size());
        double scale = 1;
        if constexpr (sums_numbers<Counter>) {
            const int64_t centre = rules.target_range.centre;
            for (const uint16_t row : members) step_[row] = item[row] - centre;
            // The centre is a whole number near the mean, so s strays by what remains, at most.
            slack_ = 1.5 * std::abs(static_cast<double>(total[1] - rows * centre));
            margin_ = 0;
        } else {
            // In units of 1 / rows steps are whole. Both classes stray by the same.
            const int64_t second = static_cast<int64_t>(total[0] >> 32);
            for (const uint16_t row : members) step_[row] = rows * item[row] - second;
            scale = 2 / (static_cast<double>(rows) * static_cast<double>(rows));
            slack_ = 0;
            margin_ = 1e-12 * static_cast<double>(rows); // the scores that a gain is the difference of are rounded
        }
        for (int64_t n = 1; n < rows; ++n) {
            const bool allowed = n >= rules.min_rows && rows - n >= rules.min_rows;
            weight_[static_cast<size_t>(n) - 1] = allowed ? reciprocals(scale, n) + reciprocals(scale, rows - n) : 0;
        }
    }

    // For the rows of the node in the order of a column.
    double operator()(std::span<const RankedRow> order) const {
        const int64_t* step = step_.data();
        const double* weight = weight_.data();
        const size_t cuts = order.size() - 1;
        int64_t low = 0;
        double most[2] = {0, 0}; // two, so that one need not wait for the other
        const auto squared = [&](size_t at) {
            low += step[order[at].row];
            const double sum = static_cast<double>(low);
            return sum * sum * weight[at];
        };
        size_t at = 0;
        for (; at + 2 <= cuts; at += 2) {
            most[0] = std::max(most[0], squared(at));
            most[1] = std::max(most[1], squared(at + 1));
        }
        if (at < cuts) most[0] = std::max(most[0], squared(at));
        const double distance = std::sqrt(std::max(most[0], most[1])) + slack_;
        return distance * distance * (1 + 1e-9) + margin_;
    }

private:
    std::vector<int64_t> step_;  // per row of the subtree: what it adds to s
    std::vector<double> weight_; // of the square after so many rows
    double slack_ = 0, margin_ = 0;
};

} // namespace tw

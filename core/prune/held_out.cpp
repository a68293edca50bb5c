#include "prune/held_out.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/interrupt.hpp"
#include "base/unknown_value.hpp"

namespace tw {
namespace {

double half_poisson_deviance(double truth, double mean) {
    if (!(truth > 0)) return mean - truth;
    return truth * (std::log(truth) - std::log(std::max(mean, std::numeric_limits<double>::min()))) - truth + mean;
}

class RowLoss {
public:
    RowLoss(const PredictingNodes& nodes, const EndedRows& rows)
        : nodes_(nodes), rows_(rows), classes_(static_cast<size_t>(std::sqrt(nodes.cost.size()))) {}

    double operator()(size_t row, size_t node) const {
        switch (nodes_.loss) {
            case Loss::classes: {
                const int32_t truth = rows_.classes[row], predicted = nodes_.predicted[node];
                if (nodes_.cost.empty()) return truth == predicted ? 0 : 1;
                return nodes_.cost[static_cast<size_t>(truth) * classes_ + static_cast<size_t>(predicted)];
            }
            case Loss::squared: {
                const double apart = rows_.numbers[row] - nodes_.number[node];
                return apart * apart;
            }
            case Loss::absolute:
                return std::abs(rows_.numbers[row] - nodes_.number[node]);
            case Loss::poisson:
                return half_poisson_deviance(rows_.numbers[row], nodes_.number[node]);
        }
        unknown_value("Loss");
    }

private:
    const PredictingNodes& nodes_;
    const EndedRows& rows_;
    size_t classes_;
};

} // namespace

void ExactSums::add(size_t place, double value) {
    if (std::isnan(value) || value == 0) return;
    constexpr double largest = std::numeric_limits<double>::max();
    constexpr int fraction_bits = std::numeric_limits<double>::digits - 1;
    constexpr uint64_t implied = uint64_t{1} << fraction_bits, digit_mask = (uint64_t{1} << digit_bits) - 1;
    const uint64_t bits = std::bit_cast<uint64_t>(std::clamp(value, -largest, largest));
    // The number is `mantissa` times 2^lowest.
    const int exponent = static_cast<int>((bits & ~(uint64_t{1} << 63)) >> fraction_bits);
    const uint64_t mantissa = (bits & (implied - 1)) | (exponent > 0 ? implied : 0);
    const int lowest = std::max(exponent, 1) - (std::numeric_limits<double>::max_exponent - 1) - fraction_bits;
    const int shifted = lowest - digit_bits * first_unit; // never negative
    size_t unit = static_cast<size_t>(shifted / digit_bits);
    const int shift = shifted % digit_bits;
    uint64_t digit = (mantissa << shift) & digit_mask, rest = mantissa >> (digit_bits - shift);
    for (;; ++unit) {
        if (digit != 0) {
            std::vector<int64_t>& counts = counts_[unit];
            if (counts.empty()) counts.resize(places_, 0);
            counts[place] += value < 0 ? -static_cast<int64_t>(digit) : static_cast<int64_t>(digit);
        }
        if (rest == 0) return;
        digit = rest & digit_mask;
        rest >>= digit_bits;
    }
}

LossSums sum_losses(const PredictingNodes& nodes, const EndedRows& rows) {
    const size_t places = nodes.parent.size();
    LossSums sums{ExactSums(places), ExactSums(places), ExactSums(places), ExactSums(places)};
    const RowLoss loss(nodes, rows);
    for (size_t row = 0; row < rows.end.size(); ++row) {
        if (row % 4096 == 0) check_interrupt();
        const double weight = rows.weight[row];
        const size_t end = static_cast<size_t>(rows.end[row]);
        if (nodes.stop[end] == 0) {
            const double own = loss(row, end), weighted = weight * own;
            sums.at_inner.add(end, weighted);
            sums.squares_at_inner.add(end, weighted * own);
        }
        for (int32_t node = rows.end[row]; node >= 0; node = nodes.parent[static_cast<size_t>(node)]) {
            const double own = loss(row, static_cast<size_t>(node)), weighted = weight * own;
            sums.as_leaf.add(static_cast<size_t>(node), weighted);
            sums.squares_as_leaf.add(static_cast<size_t>(node), weighted * own);
        }
    }
    return sums;
}

} // namespace tw

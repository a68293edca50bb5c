#include "prune/error_limit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tw {
namespace {

constexpr std::array<double, 9> tabled_confidence{0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00};
constexpr std::array<double, 9> tabled_quantile{4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00};

double quantile_from_table(double confidence) {
    size_t above = 1;
    while (above + 1 < tabled_confidence.size() && confidence > tabled_confidence[above]) ++above;
    const size_t below = above - 1;
    const double reached =
        (confidence - tabled_confidence[below]) / (tabled_confidence[above] - tabled_confidence[below]);
    return tabled_quantile[below] + (tabled_quantile[above] - tabled_quantile[below]) * reached;
}

} // namespace

double normal_upper_quantile(double p) {
    if (p > 0.5) return -normal_upper_quantile(1 - p);
    if (p <= 0) return HUGE_VAL;
    // The tail falls steadily, so halving an interval that holds the quantile ends at the nearest double.
    double low = 0;
    double high = 40;
    while (true) {
        const double middle = low / 2 + high / 2;
        if (middle <= low || middle >= high) return middle;
        (std::erfc(middle / std::sqrt(2.0)) / 2 > p ? low : high) = middle;
    }
}

ErrorLimit::ErrorLimit(double confidence, Deviate deviate) : confidence_(confidence), deviate_(deviate) {
    const double quantile =
        deviate == Deviate::table ? quantile_from_table(confidence) : normal_upper_quantile(confidence);
    squared_ = quantile * quantile;
}

double ErrorLimit::extra(double cases, double errors) const {
    const bool table = deviate_ == Deviate::table;
    if (!(cases > 0) || (!table && confidence_ > 0.5)) return 0;
    const double none = table ? 1e-6 : 0;
    if (errors < (table ? 0.9999 : 1.0)) {
        const double without = cases * (1 - std::pow(confidence_, 1 / cases)); // exact where no error was seen
        return errors <= none ? without : without + errors * (extra(cases, 1) - without);
    }
    if (errors + 0.5 >= cases) return (table ? 0.67 : 1.0) * std::max(0.0, cases - errors);
    const double seen = errors + 0.5;
    const double deviation = std::sqrt(squared_ * (seen * (1 - seen / cases) + squared_ / 4));
    return cases * (seen + squared_ / 2 + deviation) / (cases + squared_) - errors;
}

} // namespace tw

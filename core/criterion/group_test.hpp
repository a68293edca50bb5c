// The chi-square and F statistics of groups, without their p: the form shared by splits of any number of children and
// by CHAID's comparison of many pairs.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "criterion/criterion.hpp"
#include "criterion/distributions.hpp"

namespace tw {

// A group as tests read it. Classes: the weight of each and of all. Numbers: weight, sum, squared deviations, mean.
struct TestGroup {
    const double* stat = nullptr;
    double weight = 0, sum = 0, within = 0, mean = 0;
};

inline TestGroup test_group(Criterion criterion, Stat stat) {
    if (is_for_classes(criterion)) return {stat.data(), std::accumulate(stat.begin(), stat.end(), 0.0)};
    if (!(stat[0] > 0)) return {stat.data()};
    return {stat.data(), stat[0], stat[1], std::max(0.0, stat[2] - stat[1] * stat[1] / stat[0]), stat[1] / stat[0]};
}

// `column`: room for the weight of each class. Templates, so that the comparison of two groups is unrolled.
template <size_t n>
Test chi_square_statistic(std::span<const TestGroup, n> groups, std::span<double> column, bool likelihood_ratio) {
    std::fill(column.begin(), column.end(), 0.0);
    double total = 0, present_groups = 0;
    for (const TestGroup& group : groups) {
        for (size_t c = 0; c < column.size(); ++c) column[c] += group.stat[c];
        total += group.weight;
        present_groups += group.weight > 0;
    }
    const auto present_classes = std::count_if(column.begin(), column.end(), [](double weight) { return weight > 0; });
    Test result;
    result.degrees = std::max(0.0, (present_groups - 1) * static_cast<double>(present_classes - 1));
    if (!(total > 0) || result.degrees <= 0) return result;
    for (const TestGroup& group : groups) {
        for (size_t c = 0; c < column.size(); ++c) {
            const double expected = group.weight * column[c] / total;
            if (!(expected > 0)) continue;
            const double seen = group.stat[c];
            if (likelihood_ratio) {
                if (seen > 0) result.statistic += 2 * seen * std::log(seen / expected);
            } else {
                result.statistic += (seen - expected) * (seen - expected) / expected;
            }
        }
    }
    result.statistic = std::max(0.0, result.statistic);
    return result;
}

template <size_t n>
Test f_statistic(std::span<const TestGroup, n> groups) {
    double weight = 0, sum = 0, within = 0;
    int present = 0;
    for (const TestGroup& group : groups) {
        if (!(group.weight > 0)) continue;
        ++present;
        weight += group.weight;
        sum += group.sum;
        within += group.within;
    }
    Test result;
    result.degrees = present - 1;
    result.degrees_within = weight - present;
    if (present < 2 || !(result.degrees_within > 0)) return result;
    const double mean = sum / weight;
    double between = 0;
    for (const TestGroup& group : groups) {
        if (!(group.weight > 0)) continue;
        between += group.weight * (group.mean - mean) * (group.mean - mean);
    }
    // Rounding leaves a trace of variance in groups of equal targets; below this it is none.
    if (within <= 1e-14 * (within + between)) {
        if (between > 0) result.statistic = -log_zero;
        return result;
    }
    result.statistic = (between / result.degrees) / (within / result.degrees_within);
    return result;
}

template <size_t n>
Test test_statistic(Criterion criterion, std::span<const TestGroup, n> groups, std::span<double> column) {
    if (!is_for_classes(criterion)) return f_statistic(groups);
    return chi_square_statistic(groups, column, criterion == Criterion::likelihood_ratio);
}

// ln p of a statistic.
inline double test_log_p(Criterion criterion, const Test& test) {
    if (is_for_classes(criterion)) return chi_square_log_p(test.statistic, test.degrees);
    if (test.statistic >= -log_zero) return log_zero;
    return f_log_p(test.statistic, test.degrees, test.degrees_within);
}

} // namespace tw

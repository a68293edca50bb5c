// Quantile bins of a column of numbers, made once from the whole table (CHAID).
//
// Equal values share a bin; bin b covers (bounds[b-1], bounds[b]], open at both ends of the line. With S the share of
// weight up to and including a value, its bin is ceil(bins x S); a bin without values is left out, so there may be
// fewer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace tw {

inline std::vector<double> quantile_bounds(std::vector<std::pair<double, int64_t>> values, int groups) {
    std::sort(values.begin(), values.end());
    double total = 0;
    for (const auto& [value, weight] : values) total += static_cast<double>(weight);
    std::vector<double> bounds;
    double reached = 0;
    double group = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        reached += static_cast<double>(values[i].second);
        if (i + 1 < values.size() && values[i + 1].first == values[i].first) continue;
        const double next = std::ceil(groups * (reached / total) - 1e-8);
        if (bounds.empty() || next != group) bounds.push_back(values[i].first);
        bounds.back() = values[i].first;
        group = next;
    }
    return bounds;
}

inline int group_of(const std::vector<double>& bounds, double x) {
    const auto position = std::lower_bound(bounds.begin(), bounds.end(), x);
    return std::min(static_cast<int>(position - bounds.begin()), static_cast<int>(bounds.size()) - 1);
}

} // namespace tw

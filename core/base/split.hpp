// A split maps the bin of a value to a child: thresholds, subsets, multiway and merged groups are one type.
//
// This is the routing rule of growing, prediction and explanation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "base/hash.hpp"
#include "base/small_vector.hpp"
#include "base/table.hpp"

namespace tw {

// Where a row goes whose value is missing (Split::missing) or a level that no child holds (Split::unseen).
constexpr int fractional = -1;
constexpr int stop_here = -2;
constexpr int random_child = -3;
constexpr int as_missing = -4;
// Where a row goes whose value lies within the band of a soft threshold: to the children of both bins.
constexpr int both_bins = -5;

struct Split {
    int column = -1;
    bool closed = true;                   // a break belongs to the interval below it
    SmallVector<double, 1> breaks;        // rising; empty for levels
    SmallVector<int32_t, 4> child_of_bin; // -1: no child holds this level
    SmallVector<double, 2> share;         // per child, of the known weight
    int missing = stop_here;
    int unseen = as_missing;
    int upper = 0; // the child of largest mean target, which rpart calls the right one; known while growing
    // The band of a soft threshold, around the only break: between its ends a row goes to both bins. Equal: none. Only
    // finished trees have bands.
    double band_low = 0, band_high = 0;

    int children() const { return static_cast<int>(share.size()); }
    auto fields() { return std::tie(column, closed, breaks, child_of_bin, share, missing, unseen); }
};

constexpr int value_missing = -1;
constexpr int level_unseen = -2;

inline int bin_of(const Split& split, double x) {
    const auto position = split.closed ? std::lower_bound(split.breaks.begin(), split.breaks.end(), x)
                                       : std::upper_bound(split.breaks.begin(), split.breaks.end(), x);
    return static_cast<int>(position - split.breaks.begin());
}

// The part of a row within the band that goes to the second bin: from 0 at one end over a half at the break to 1.
inline double second_bin_weight(const Split& split, double x) {
    const double middle = split.breaks[0];
    return x <= middle ? 0.5 * ((x - split.band_low) / (middle - split.band_low))
                       : 1 - 0.5 * ((split.band_high - x) / (split.band_high - middle));
}

// The child, or value_missing (missing), or level_unseen (a level that no child holds).
inline int route(const Split& split, const Column& column, int64_t row) {
    if (column.kind == Kind::number) {
        const double x = column.numbers[row];
        return std::isnan(x) ? value_missing : split.child_of_bin[bin_of(split, x)];
    }
    const int code = column.codes[row];
    if (code == -1) return value_missing;
    if (code < 0 || code >= static_cast<int>(split.child_of_bin.size())) return level_unseen;
    const int child = split.child_of_bin[code];
    return child < 0 ? level_unseen : child;
}

// The limit of a split with one break: numbers above it, and no others, go to the second bin.
inline double threshold_limit(const Split& split) {
    return split.closed ? split.breaks[0] : std::nextafter(split.breaks[0], -std::numeric_limits<double>::infinity());
}

// What a row goes by at a node.
enum class RoutedBy { value, surrogate, unseen, missing };

struct Routing {
    int child = stop_here; // or fractional or both_bins
    RoutedBy routed_by = RoutedBy::value;
    int surrogate = 0;     // the index of the surrogate that decided
    double second_bin = 0; // for both_bins: the part of the row that goes to the second
};

// The part of a row that goes to a child. `share`: per child, for a missing value.
inline double part_of_child(const Split& split, const Routing& routing, std::span<const double> share, int child) {
    if (routing.child == fractional) return share[child];
    if (routing.child != both_bins) return routing.child == child ? 1 : 0;
    return (split.child_of_bin[0] == child ? 1 - routing.second_bin : 0) +
           (split.child_of_bin[1] == child ? routing.second_bin : 0);
}

// Where a row goes by its values, before a random child is drawn. Surrogates are tried in order.
inline Routing route_by_values(const Split& split, const std::vector<Split>& surrogates,
                               const std::vector<Column>& columns, int64_t row) {
    if (split.band_low < split.band_high) {
        const double x = columns[split.column].numbers[row];
        if (split.band_low < x && x < split.band_high)
            return {both_bins, RoutedBy::value, 0, second_bin_weight(split, x)};
    }
    const int child = route(split, columns[split.column], row);
    if (child >= 0) return {child, RoutedBy::value};
    if (child == level_unseen && split.unseen != as_missing) return {split.unseen, RoutedBy::unseen};
    for (size_t i = 0; i < surrogates.size(); ++i) {
        const int other = route(surrogates[i], columns[surrogates[i].column], row);
        if (other >= 0) return {other, RoutedBy::surrogate, static_cast<int>(i)};
    }
    return {split.missing, RoutedBy::missing};
}

// Where a row goes: a child, fractional or stop_here. A random child is drawn by `share` and the node's key.
inline Routing route_row(const Split& split, const std::vector<Split>& surrogates, const std::vector<Column>& columns,
                         int64_t row, std::span<const double> share, uint64_t node_key) {
    Routing routing = route_by_values(split, surrogates, columns, row);
    if (routing.child == random_child) routing.child = draw_child(share, node_key, hash_row(columns, row));
    return routing;
}

// Calls put(child, weight) for every child that receives an entry of this weight: one, all in proportion to `share`
// (fractional), or none.
template <class Put>
void share_weight(std::span<const double> share, int child, int64_t weight, const Put& put) {
    if (child >= 0) return put(child, weight);
    if (child != fractional) return;
    for (size_t i = 0; i < share.size(); ++i) {
        const int64_t fraction = std::llround(static_cast<double>(weight) * share[i]);
        if (fraction > 0) put(static_cast<int>(i), fraction);
    }
}

inline int largest_share(const Split& split) {
    return static_cast<int>(std::max_element(split.share.begin(), split.share.end()) - split.share.begin());
}

} // namespace tw

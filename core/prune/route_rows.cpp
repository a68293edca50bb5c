#include "prune/route_rows.hpp"

#include <cmath>

#include "binning/training_table.hpp"
#include "split/branching.hpp"

namespace tw {
namespace {

// The child of each entry by the split's own column: a child, value_missing or level_unseen.
std::vector<int32_t> route_by_column(const Split& split, const Column& column, const Entries& entries) {
    std::vector<int32_t> child(entries.size());
    if (column.kind == Kind::number && split.breaks.size() == 1) {
        const double limit = threshold_limit(split);
        const int32_t side[2] = {split.child_of_bin[0], split.child_of_bin[1]};
        for (size_t i = 0; i < entries.size(); ++i) {
            const double x = column.numbers[entries[i].row];
            child[i] = std::isnan(x) ? value_missing : side[static_cast<int>(x > limit)];
        }
    } else {
        for (size_t i = 0; i < entries.size(); ++i) child[i] = route(split, column, entries[i].row);
    }
    return child;
}

std::vector<double> child_shares(const Recipe& recipe, const Split& split, std::span<const int32_t> child,
                                 const Measure& measure, const std::vector<double>& factor, const Entries& entries) {
    const size_t classes = factor.empty() ? 1 : factor.size();
    std::vector<int64_t> known(split.share.size() * classes, 0);
    const int with_missing = scores_missing(recipe.missing) ? split.missing : value_missing;
    for (size_t i = 0; i < entries.size(); ++i) {
        const int scored = child[i] == value_missing ? with_missing : child[i];
        if (scored < 0) continue;
        known[scored * classes + (factor.empty() ? 0 : measure.classes[entries[i].row])] += entries[i].weight;
    }
    std::vector<double> share(split.share.size(), 0);
    double total = 0;
    for (size_t i = 0; i < share.size(); ++i) {
        for (size_t c = 0; c < classes; ++c) {
            share[i] += static_cast<double>(known[i * classes + c]) / (factor.empty() ? 1 : factor[c]);
        }
        total += share[i];
    }
    if (!(total > 0)) return {split.share.begin(), split.share.end()};
    for (double& share_of_child : share) share_of_child /= total;
    return share;
}

} // namespace

Entries training_entries(const Recipe& recipe, const Measure& measure, const std::vector<Column>& columns) {
    Entries entries;
    for (const uint32_t row : training_rows({columns, measure.rows}, recipe, measure))
        entries.push_back({row, measure.weight_of(row)});
    return entries;
}

RoutedRows route_rows(const Recipe& recipe, const RoutingNode& routing, uint64_t key,
                      const std::vector<Column>& columns, const Measure& measure, const std::vector<double>& factor,
                      const Entries& entries) {
    const Split& split = routing.split;
    std::vector<int32_t> child = route_by_column(split, columns[split.column], entries);
    RoutedRows routed;
    routed.share = child_shares(recipe, split, child, measure, factor, entries);
    std::vector<size_t> count(routed.share.size(), 0);
    for (size_t i = 0; i < entries.size(); ++i) {
        if (child[i] < 0) {
            child[i] = route_by_values(split, routing.surrogates, columns, entries[i].row).child;
            routed.by_values = routed.by_values && child[i] >= 0;
            if (child[i] == random_child) child[i] = draw_child(routed.share, key, hash_row(columns, entries[i].row));
            routed.fractional = routed.fractional || child[i] == fractional;
        }
        if (child[i] >= 0) ++count[child[i]];
    }
    routed.of_child.resize(count.size());
    for (size_t c = 0; c < count.size(); ++c) routed.of_child[c].reserve(count[c]);
    for (size_t i = 0; i < entries.size(); ++i) {
        if (child[i] == stop_here) routed.stopped.push_back(entries[i]);
        share_weight(routed.share, child[i], entries[i].weight,
                     [&](int to, int64_t weight) { routed.of_child[to].push_back({entries[i].row, weight}); });
    }
    return routed;
}

} // namespace tw

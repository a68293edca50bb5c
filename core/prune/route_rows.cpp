#include "prune/route_rows.hpp"

#include <algorithm>
#include <cmath>

#include "base/hash.hpp"
#include "split/branching.hpp"

namespace tw {

Entries training_entries(const Recipe& recipe, const Measure& measure, const std::vector<Column>& columns) {
    Entries all;
    for (int64_t row = 0; row < measure.rows; ++row) {
        if (measure.weight_of(row) == 0 || (recipe.drop_all_missing_rows && is_all_missing(columns, row))) continue;
        all.push_back({static_cast<uint32_t>(row), measure.weight_of(row)});
    }
    return all;
}

std::vector<double> child_shares(const Recipe& recipe, const RoutingNode& routing, const std::vector<Column>& columns,
                                 const Measure& measure, const std::vector<double>& factor, const Entries& entries) {
    const size_t children = routing.children.size();
    const size_t classes = factor.empty() ? 1 : factor.size();
    std::vector<int64_t> known(children * classes, 0);
    const Column& column = columns[routing.split.column];
    const int with_missing = scores_missing(recipe.missing) ? routing.split.missing : value_missing;
    for (const Entry& entry : entries) {
        int child = route(routing.split, column, entry.row);
        if (child == value_missing) child = with_missing;
        if (child >= 0) known[child * classes + (factor.empty() ? 0 : measure.classes[entry.row])] += entry.weight;
    }
    std::vector<double> share(children, 0);
    double total = 0;
    for (size_t i = 0; i < children; ++i) {
        for (size_t c = 0; c < classes; ++c) {
            share[i] += static_cast<double>(known[i * classes + c]) / (factor.empty() ? 1 : factor[c]);
        }
        total += share[i];
    }
    if (!(total > 0)) return routing.split.share;
    for (double& share_of_child : share) share_of_child /= total;
    return share;
}

RoutedRows route_rows(const RoutingNode& routing, uint64_t key, const std::vector<double>& share,
                      const std::vector<Column>& columns, const Entries& entries) {
    const size_t children = routing.children.size();
    RoutedRows routed;
    routed.of_child.resize(children);
    for (const Entry& entry : entries) {
        int child = routed_child(routing.split, routing.surrogates, columns, entry.row);
        if (child == random_child) child = draw_child(share, key, hash_row(columns, entry.row));
        if (child >= 0) {
            routed.of_child[child].push_back(entry);
        } else if (child == fractional) {
            routed.fractional = true;
            for (size_t i = 0; i < children; ++i) {
                const int64_t share_of_child = std::llround(static_cast<double>(entry.weight) * share[i]);
                if (share_of_child > 0) routed.of_child[i].push_back({entry.row, share_of_child});
            }
        } else {
            routed.stopped.push_back(entry);
        }
    }
    return routed;
}

std::vector<double> class_weights(const Measure& measure, const Entries& entries) {
    std::vector<Sum> sums(measure.sums(), 0);
    for (const Entry& entry : entries) measure.add(sums.data(), entry);
    std::vector<double> weights(measure.width());
    measure.read_moments(sums.data(), weights.data());
    return weights;
}

size_t predicted_class(const std::vector<double>& cost, std::span<const double> weights) {
    const size_t classes = weights.size();
    if (cost.empty()) return std::max_element(weights.begin(), weights.end()) - weights.begin();
    size_t best = 0;
    double least = 0;
    for (size_t label = 0; label < classes; ++label) {
        double total = 0;
        for (size_t truth = 0; truth < classes; ++truth) total += weights[truth] * cost[truth * classes + label];
        if (label > 0 && total >= least) continue;
        best = label;
        least = total;
    }
    return best;
}

} // namespace tw

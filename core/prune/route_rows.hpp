// Rows routed through a finished tree, node by node, and their sums.
//
// Rows take the path they took while the tree was grown.
#pragma once

#include <span>
#include <vector>

#include "predict/routing_node.hpp"
#include "target/measure.hpp"

namespace tw {

using Entries = std::vector<Entry>;

// The entries of every row the tree was grown on: those with weight and, where the recipe drops them, with any value.
Entries training_entries(const Recipe& recipe, const Measure& measure, const std::vector<Column>& columns);

// Each child's share of the weight it was scored on (choices.md); the fork's own shares where there is none. `factor`:
// per class, real weight / weight that growing saw; empty: none was altered.
std::vector<double> child_shares(const Recipe& recipe, const RoutingNode& routing, const std::vector<Column>& columns,
                                 const Measure& measure, const std::vector<double>& factor, const Entries& entries);

// Where the entries of a node go.
struct RoutedRows {
    std::vector<Entries> of_child;
    Entries stopped;         // at the node itself
    bool fractional = false; // some entry went to several children, a part to each
};

// By these shares.
RoutedRows route_rows(const RoutingNode& routing, uint64_t key, const std::vector<double>& share,
                      const std::vector<Column>& columns, const Entries& entries);

// Weight per class (Measure::add); classes only.
std::vector<double> class_weights(const Measure& measure, const Entries& entries);

// The class answered where the classes weigh so much: the heaviest or, with costs [truth x classes + answer], the
// cheapest; the first of equals.
size_t predicted_class(const std::vector<double>& cost, std::span<const double> weights);

} // namespace tw

// Rows routed through a finished tree, node by node, and their sums.
//
// Rows take the path they took while the tree was grown.
#pragma once

#include <vector>

#include "predict/routing_node.hpp"
#include "target/measure.hpp"

namespace tw {

using Entries = std::vector<Entry>;

// The entries of every row the tree was grown on: those with weight and, where the recipe drops them, with any value.
Entries training_entries(const Recipe& recipe, const Measure& measure, const std::vector<Column>& columns);

// Where the entries of a node go.
struct RoutedRows {
    std::vector<Entries> of_child;
    Entries stopped;           // at the node itself
    std::vector<double> share; // of each child in the weight that it was scored on (docs/choices.md)
    bool fractional = false;   // some entry went to several children
    bool by_values = true;     // no entry's way depended on `share`, and none stopped
};

// By the shares of these entries, or the split's own where they have none. `factor`: per class, real weight / weight
// that growing saw; empty: none was altered.
RoutedRows route_rows(const Recipe& recipe, const RoutingNode& routing, uint64_t key,
                      const std::vector<Column>& columns, const Measure& measure, const std::vector<double>& factor,
                      const Entries& entries);

} // namespace tw

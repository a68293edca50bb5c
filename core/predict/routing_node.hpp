// A flat tree as nodes ready for routing, and the keys by which random children are drawn.
//
// Keys depend on a node's path, so a row takes the path it took while the tree was grown.
#pragma once

#include <vector>

#include "base/flat_tree.hpp"

namespace tw {

struct RoutingNode {
    Split split; // of nodes with children
    std::vector<Split> surrogates;
    std::vector<int32_t> children;
};

std::vector<RoutingNode> routing_nodes_of(const FlatTree& flat);

// Where a row goes at a node with children: a child, fractional or stop_here.
inline Routing route_row(const RoutingNode& node, uint64_t key, const std::vector<Column>& columns, int64_t row) {
    return route_row(node.split, node.surrogates, columns, row, node.split.share, key);
}

std::vector<uint64_t> node_keys(const std::vector<RoutingNode>& nodes, uint64_t seed);

} // namespace tw

#include "predict/routing_node.hpp"

namespace tw {

std::vector<RoutingNode> routing_nodes_of(const FlatTree& flat) {
    std::vector<RoutingNode> nodes(flat.parent.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
        RoutingNode& node = nodes[i];
        node.children.assign(flat.children.begin() + flat.child_start[i],
                             flat.children.begin() + flat.child_start[i + 1]);
        if (node.children.empty()) continue;
        node.split = split_at(flat, flat.split_start[i]);
        for (int s = 1; s <= flat.n_surrogates[i]; ++s)
            node.surrogates.push_back(split_at(flat, flat.split_start[i] + s));
    }
    return nodes;
}

std::vector<uint64_t> node_keys(const std::vector<RoutingNode>& nodes, uint64_t seed) {
    std::vector<uint64_t> keys(nodes.size());
    keys[0] = root_key(seed);
    for (size_t i = 0; i < nodes.size(); ++i) {
        for (size_t c = 0; c < nodes[i].children.size(); ++c) keys[nodes[i].children[c]] = child_key(keys[i], c);
    }
    return keys;
}

} // namespace tw

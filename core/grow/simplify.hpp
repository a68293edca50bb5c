// Splits taken back while growing, as C4.5, J48 and rpart do.
//
// A node that lost its children keeps its split as its first rival; the root stays.
#pragma once

#include "grow/class_costs.hpp"

namespace tw {

// The loss of a leaf in this node's place: the cost of its predictions, or deviations as the criterion takes them,
// which are squared unless it has a loss of its own.
double leaf_risk(const Recipe& recipe, const Costs& costs, const GrownNode& node);

// rpart's limit makes leaves of nodes that risk no more, whatever their subtrees: a split saves at most its node's
// risk. Negative where the recipe has no limit, or weights are altered while it grows.
double risk_of_sure_leaves(const Recipe& recipe, const Costs& costs, const GrownNode& root);

void simplify(const Recipe& recipe, const Costs& costs, std::vector<GrownNode>& nodes);

// Makes an inner node a leaf that keeps its split as its first rival.
void make_leaf(const Recipe& recipe, GrownNode& node, Stop reason);

} // namespace tw

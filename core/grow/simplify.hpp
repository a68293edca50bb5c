// Splits taken back while growing, as C4.5, J48 and rpart do.
//
// A node that lost its children keeps its split as its first rival; the root stays.
#pragma once

#include "grow/class_costs.hpp"

namespace tw {

void simplify(const Recipe& recipe, const Costs& costs, std::vector<GrownNode>& nodes);

// Makes an inner node a leaf that keeps its split as its first rival.
void make_leaf(const Recipe& recipe, GrownNode& node, Stop reason);

} // namespace tw

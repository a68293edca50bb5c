// Simplifying: the conventions by which an ancestor takes back splits while growing. Nodes in, fewer nodes in use out.
//
// Always holds: a node that lost its children remembers its split as its first rival; the root stays.
#pragma once

#include "costs.hpp"

namespace tw {

void simplify(const Recipe& recipe, const Costs& costs, std::vector<GrownNode>& nodes);

} // namespace tw

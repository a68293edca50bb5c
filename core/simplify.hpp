// Simplifying: the conventions by which an ancestor takes back splits while growing. Nodes in, fewer nodes in use out.
//
// Always holds: a node that lost its children remembers its split as its first rival; the root stays.
#pragma once

#include "tree.hpp"

namespace tw {

void simplify(const Recipe& recipe, std::vector<GrownNode>& nodes);

} // namespace tw

// Growing: count, choose, divide, until every node has a reason to stop. The loop all recipes and engines share.
//
// Comes in: rows behind their three verbs, a recipe. Goes out: the grown nodes, parents before children.
// Always holds: the tree does not depend on threads or on the order in which nodes are worked on.
#pragma once

#include "costs.hpp"
#include "rows.hpp"
#include "tree.hpp"

namespace tw {

std::vector<GrownNode> grow(Rows& rows, const Task& task, Pool& pool, const Costs& costs);

} // namespace tw

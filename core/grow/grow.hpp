// Growing: candidates, choice, partition, until every node has a reason to stop. Shared by all recipes and row stores.
//
// Returns nodes, parents before children. The tree does not depend on threads or on the order of work.
#pragma once

#include "grow/class_costs.hpp"
#include "grow/given.hpp"
#include "grow/grown_node.hpp"
#include "rows/row_store.hpp"

namespace tw {

// `given`: grow or split one node of a tree that exists; null: grow a whole tree.
std::vector<GrownNode> grow(RowStore& rows, const Task& task, ThreadPool& pool, const Costs& costs,
                            const Given* given = nullptr);

} // namespace tw

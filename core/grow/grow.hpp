// Growing: candidates, choice, partition, until every node has a reason to stop. Shared by all recipes and row stores.
//
// Returns nodes, parents before children. The tree does not depend on threads or on the order of work.
#pragma once

#include <optional>
#include <span>

#include "grow/class_costs.hpp"
#include "grow/grown_node.hpp"
#include "rows/row_store.hpp"

namespace tw {

// Rows of the table that take no part in growing but are sent down the tree as prediction sends them: a fold that is
// held out. Surrogates are then searched only where a row of the node, or one that follows, needs them.
using Followers = std::span<const int32_t>;

std::vector<GrownNode> grow(RowStore& rows, const Task& task, ThreadPool& pool, const Costs& costs,
                            std::optional<Followers> followers = std::nullopt);

} // namespace tw

// Growing: candidates, choice, partition, until every node has a reason to stop. Shared by all recipes and row stores.
//
// Returns nodes, parents before children. The tree does not depend on threads or on the order of work.
#pragma once

#include <optional>
#include <span>

#include "grow/class_costs.hpp"
#include "grow/given.hpp"
#include "grow/grown_node.hpp"
#include "rows/row_store.hpp"

namespace tw {

// Rows of the table that take no part in growing but are sent down the tree as prediction sends them: a fold that is
// held out. Surrogates are then searched only where a row of the node, or one that follows, needs them.
using Followers = std::span<const int32_t>;

// The nodes that are left of a tree after pruning, as in FlatTree. Growing stops at its leaves and does not simplify:
// it gives that tree again, with the rivals and surrogates of the recipe.
struct KeptNodes {
    std::span<const int32_t> child_start, children, stop;
};

struct GrowOptions {
    std::optional<Followers> followers = {};
    std::optional<KeptNodes> kept = {};
    bool keeps_splits = true;     // false: nobody will read more of the tree than its nodes
    bool bare = false;            // what leaves could have been split by is of no interest
    const Given* given = nullptr; // grow or split one node of a tree that exists; null: grow a whole tree
};

std::vector<GrownNode> grow(RowStore& rows, const Task& task, ThreadPool& pool, const Costs& costs,
                            const GrowOptions& options = {});

} // namespace tw

// What is given of a tree that exists: the way to one of its nodes and, on request, the split of that node.
//
// The rest of the node's subtree is grown as ever; other nodes beside the way stay leaves.
#pragma once

#include <optional>
#include <vector>

#include "base/split.hpp"
#include "split/given_split.hpp"

namespace tw {

struct GivenStep {
    Split split;
    std::vector<Split> surrogates;
    int child; // the number of the child that the way goes on with
};

struct Given {
    std::vector<GivenStep> path;     // from the root
    std::optional<GivenSplit> split; // none: the node is grown
};

} // namespace tw

// Reduced-error pruning: a subtree that answers validation rows no better than a leaf in its place becomes that leaf.
//
// Comes in: a tree and rows it was not grown on. Goes out: the nodes that become leaves, each with what it and its
// subtree did wrong: the weight of the rows answered wrongly (what that costs), or their weighted squared error.
// Always holds: from the leaves upwards, until every removal would hurt; a tie prunes; no cut makes the answers worse.
// A row that goes down several branches is judged by the answer the whole tree gives it.
#pragma once

#include "tally.hpp"

namespace tw {

struct Reduced {
    std::vector<int32_t> leaf; // 1: the node was made a leaf (nodes below it may be marked too)
    std::vector<double> as_leaf, below;
};

// `measure`: of the validation rows. `cost`: of wrong classes (answer_of); empty: each costs one.
Reduced reduce_error(const FlatTree& flat, const std::vector<Column>& columns, uint64_t seed, const Measure& measure,
                     const std::vector<double>& cost);

} // namespace tw

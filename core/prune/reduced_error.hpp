// Reduced-error pruning: a subtree that predicts validation rows no better than a leaf in its place becomes that leaf.
//
// Bottom-up until every removal would hurt; a tie prunes. The loss is that of the criterion: costs of wrong classes,
// squared or absolute errors, or half the Poisson deviance. A row that follows several branches is judged by the
// prediction of the whole tree.
#pragma once

#include "prune/route_rows.hpp"

namespace tw {

struct Reduced {
    std::vector<int32_t> leaf; // 1: the node was made a leaf (nodes below it may be marked too)
    std::vector<double> as_leaf, below;
};

// `measure`: of the validation rows, with the statistic of the tree's criterion. `cost`: of wrong classes
// (predicted_class); empty: each costs one.
Reduced reduce_error(const FlatTree& flat, const std::vector<Column>& columns, uint64_t seed, const Measure& measure,
                     const std::vector<double>& cost);

} // namespace tw

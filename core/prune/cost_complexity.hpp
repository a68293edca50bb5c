// Weakest-link pruning (Breiman et al. 1984): the alpha from which on each node is a leaf.
//
// Nodes are in depth-first order. An alpha is at least as large as those below it, so the trees of rising alphas are
// nested. Sums are recomputed over children in their order, so a pruned tree gives the same alphas as the tree it was
// cut from.
#pragma once

#include <cstdint>
#include <vector>

namespace tw {

std::vector<double> weakest_links(const int32_t* parent, const double* risk, int64_t n);

// rpart's price of a node: looking up from below, a child is either kept as it is or gone altogether, never cut inside.
std::vector<double> rpart_links(const int32_t* parent, const double* risk, int64_t n);

// A subtree as rpart's rule sees it: what it does wrong as a leaf and by its leaves, its splits, and the price of each.
struct Subtree {
    double as_leaf = 0;
    double risk = 0;
    int64_t splits = 0;
    double complexity = 0;
};

// The node above these subtrees: those that are worth less than itself go first.
Subtree combine_subtrees(double as_leaf, std::vector<Subtree> below);

} // namespace tw

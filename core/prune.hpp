// Weakest links: at which price per leaf each node of a tree stops being worth its subtree.
//
// Comes in: a tree in depth-first order, each node's parent, and what a leaf in each node's place would do wrong.
// Goes out: per node the alpha from which on it is a leaf, or inside one; 0 for leaves.
// Always holds: an alpha is at least as large as those below it, so the trees of rising alphas are nested. Sums are
// taken anew over children in their order, so a tree that was cut gives the same alphas as the tree it was cut from.
#pragma once

#include <cstdint>
#include <vector>

namespace tw {

std::vector<double> weakest_links(const int32_t* parent, const double* risk, int64_t n);

// rpart's price of a node: looking up from below, a child is either kept as it is or gone altogether, never cut inside.
std::vector<double> child_links(const int32_t* parent, const double* risk, int64_t n);

// A subtree as rpart's rule sees it: what it does wrong as a leaf and by its leaves, its splits, and the price of each.
struct Subtree {
    double as_leaf = 0;
    double risk = 0;
    int64_t splits = 0;
    double price = 0;
};

// The node above these subtrees: those that are worth less than itself go first.
Subtree above(double as_leaf, std::vector<Subtree> below);

} // namespace tw

// What the search at depth two keeps: the tree found, the bounds of a root column, and room for its histograms.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "optimal/grid.hpp"

namespace tw {

struct ChildCut {
    int column = -1; // -1: the child is a leaf
    int cut = 0;
};

template <class Real>
struct DepthTwoTree {
    Real loss = std::numeric_limits<Real>::infinity(); // infinity: no tree below the limit
    Real lower = 0;                                    // no tree has less; `loss` if it is the best
    int column = -1;                                   // -1: a single leaf
    int cut = 0;
    ChildCut child[2];
};

// Bounds of the two children at a root cut: below it and above it.
template <class Real>
struct RootEdge {
    Real lower[2]; // for every cut that leaves the child at least these rows
    Real own[2];   // for this cut: counts only children of enough rows
    Real loss[2];
    ChildCut child[2];
};

template <class Real>
struct RootColumn {
    int column = 0;
    bool may_split[2] = {true, true}; // with three leaves one child is a leaf
    Grid grid;
    std::vector<Grid> child; // one per column; without cuts: this column cannot be the child's
    bool open = true;
    Real closed = std::numeric_limits<Real>::infinity(); // the least bound of what was closed
    Real open_lower = 0;                                 // and of what is still open
    DepthTwoTree<Real> best{};                           // found here
};

// Room for the work on one root column, reused by its thread.
template <class Real, class Sum>
struct DepthTwoScratch {
    std::vector<Sum> sums, low, all, side[2][2], work;
    std::vector<Sum> closed; // of every gap of the child's grid: a loss that no open one has; 0: it is open
    std::vector<int32_t> root_bin, bin_of_rank;
    std::vector<RootEdge<Real>> edges;
    // [side][column]: for each edge the bound of every gap of the child's grid, and the loss at every cut
    std::vector<std::vector<Sum>> inside[2], at[2];
};

} // namespace tw

// What each column contributes to a row's prediction: exact Shapley values of a tree with any number of children per
// node.
//
// The game. Players are the columns. v(S) walks down the tree. Where the column that decides for this row (the split's
// own, or that of the surrogate that decided) is in S, the row goes its own way, by several children where its value is
// missing and spreads. Elsewhere all children are taken, each by its part of the children's training weight. The
// values reached, times the weights of their paths, add up to v(S): v(all columns) is the prediction, v(none) the
// base.
//
// The method. A value at the end of a path counts in v(S) with a product of one factor per column on it: `one` (the
// row's own weight) for columns in S, `zero` (the training weight) for others. The weight that Shapley gives to a set
// of s out of n other columns is the integral of t^s (1-t)^(n-s) over t from 0 to 1, so column i gets
//     (one_i - zero_i) * integral of the product over the others of (one_j t + zero_j (1-t)).
// That is a polynomial in t of a degree below the number of columns on the path: a Gauss-Legendre sum of half as many
// points is exact. At each point one walk serves all columns, for along a path the terms of a column telescope.
//
// One contribution per row, column and output. A row's contributions add up to its prediction less the base, but for
// rounding; they do not depend on other rows or on threads. No recursion: a tree may be very deep.
#pragma once

#include <vector>

#include "base/thread_pool.hpp"
#include "predict/routing_node.hpp"

namespace tw {

class TreeShap {
public:
    TreeShap(const FlatTree& flat, uint64_t seed);

    // Per output: the prediction for a row of which nothing is known.
    const std::vector<double>& base() const { return base_; }
    // out: rows x columns x outputs.
    void shap_values(const std::vector<Column>& columns, int64_t rows, ThreadPool& pool, double* out) const;

private:
    class Walk;

    size_t outputs_;
    std::vector<RoutingNode> routing_nodes_;
    std::vector<uint64_t> keys_;
    std::vector<int32_t> depth_;
    std::vector<int32_t> child_number_; // per node: which child of its parent it is
    std::vector<double> zero_;          // per node: its part of the training weight of its parent's children
    std::vector<double> value_;
    std::vector<double> base_;
    size_t deepest_ = 0;
    size_t n_split_columns_ = 0; // columns that any split or surrogate reads
};

} // namespace tw

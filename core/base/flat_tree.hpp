// The finished tree as flat arrays: what is saved, predicted with and pruned.
//
// Nodes stand in depth-first order, a parent before its children; docs/boundary.md explains every array.
#pragma once

#include <cstdint>
#include <vector>

#include "base/packed.hpp"
#include "base/split.hpp"

namespace tw {

// The models by which nodes predict a number; `start` is empty for a tree without models.
struct NodeModels {
    std::vector<int32_t> start;                        // per node, of its terms
    std::vector<int32_t> column, member_start, member; // per term; per level of a term's column: whether it counts
    std::vector<double> coefficient, fill;             // per term
    std::vector<double> intercept, low, high;          // per node
};

struct FlatTree {
    std::vector<int32_t> parent, depth, stop, child_start, children, split_start, n_surrogates;
    std::vector<int64_t> rows;
    std::vector<double> weight, impurity, gain;
    NodeTable stats, value;
    std::vector<int32_t> column, closed, missing, unseen, break_start, bin_start, child_of_bin, share_start;
    std::vector<double> score, adjusted, split_gain, statistic, degrees, log_p, log_multiplier, breaks, share;
    std::vector<double> band_low, band_high; // per split, where thresholds are soft; otherwise empty
    NodeModels models;
};

// One row of the split table.
Split split_at(const FlatTree& flat, int i);

} // namespace tw

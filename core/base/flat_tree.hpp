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

// Calls visit(name, member) for every array that holds one number per place; the one list of the format's arrays.
template <class Tree, class Visit>
void each_array(Tree& flat, Visit visit) {
    visit("parent", flat.parent);
    visit("depth", flat.depth);
    visit("rows", flat.rows);
    visit("weight", flat.weight);
    visit("impurity", flat.impurity);
    visit("gain", flat.gain);
    visit("stop", flat.stop);
    visit("child_start", flat.child_start);
    visit("children", flat.children);
    visit("split_start", flat.split_start);
    visit("n_surrogates", flat.n_surrogates);
    visit("column", flat.column);
    visit("closed", flat.closed);
    visit("score", flat.score);
    visit("adjusted", flat.adjusted);
    visit("split_gain", flat.split_gain);
    visit("statistic", flat.statistic);
    visit("degrees", flat.degrees);
    visit("log_p", flat.log_p);
    visit("log_multiplier", flat.log_multiplier);
    visit("missing", flat.missing);
    visit("unseen", flat.unseen);
    visit("break_start", flat.break_start);
    visit("breaks", flat.breaks);
    visit("bin_start", flat.bin_start);
    visit("child_of_bin", flat.child_of_bin);
    visit("share_start", flat.share_start);
    visit("share", flat.share);
}

// One row of the split table.
Split split_at(const FlatTree& flat, int i);

} // namespace tw

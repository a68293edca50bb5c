// Error-based pruning with subtree raising (C4.5, J48): a subtree becomes a leaf or is replaced by its largest branch
// where that lowers the estimated errors. Without raising no rows are needed, and Python does it.
//
// Nodes are decided bottom-up, each with its final subtree and rows, so pruning a pruned tree changes nothing. Results
// use the node numbers of the input.
#pragma once

#include "prune/error_limit.hpp"
#include "prune/route_rows.hpp"

namespace tw {

struct ErrorBased {
    double confidence = 0.25;
    Deviate deviate = Deviate::table;
    double margin = 0.1;      // errors: what is simpler wins up to this
    std::vector<double> cost; // decides the predictions (predicted_class); errors are counted one by one
    std::vector<double>
        factor; // per class: real weight / weight that growing saw (grow/class_costs.hpp); empty: none was altered
};

// One replacement: of `node` by a leaf (`raised` is -1), or by its branch `raised`. Estimated errors of the leaf (the
// branch) and of the subtree that was there.
struct Replacement {
    int32_t node;
    int32_t raised;
    double instead;
    double below;
};

struct ErrorPruned {
    std::vector<int32_t> kept; // 1: the node remains
    std::vector<int32_t> leaf; // 1: the node was made a leaf
    std::vector<int64_t> rows;
    std::vector<double> weight, impurity, share; // laid out as in FlatTree
    NodeTable stats, value;
    std::vector<Replacement> replacements; // in the order they happened
};

ErrorPruned prune_by_errors(const FlatTree& flat, const std::vector<Column>& columns, const Recipe& recipe,
                            const Measure& measure, const ErrorBased& choice);

} // namespace tw

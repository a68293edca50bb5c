// A tree ready for prediction.
//
// Prediction takes no policy: what a missing value does is part of each split. A random child is drawn by a hash of the
// seed, the node's path and the row's encoded values, so a training row goes where it went.
#pragma once

#include <span>
#include <vector>

#include "base/thread_pool.hpp"
#include "predict/branchless_walk.hpp"
#include "predict/leaf_models.hpp"
#include "predict/routing_node.hpp"

namespace tw {

// One row at every node: where it goes from there (or would go), and how much of it comes there.
struct Trace {
    std::vector<Routing> routing; // leaves stop
    std::vector<double> weight;
};

class Predictor {
public:
    Predictor(const FlatTree& flat, uint64_t seed);

    int outputs() const { return outputs_; }
    // All three return whether the table holds an infinite number, which no tree was learned from: on the way it costs
    // little to look.
    // out: rows x outputs; the weighted sum over all paths a row takes.
    bool predict(const std::vector<Column>& columns, int64_t rows, ThreadPool& pool, double* out) const;
    // out: the index of the largest output, the first of equals.
    template <class Index>
    bool classify(const std::vector<Column>& columns, int64_t rows, ThreadPool& pool, Index* out) const;
    // out: the node that predicts; where a row takes several paths, the heaviest (the first among equals).
    // `complete`: the table is known to hold neither missing values nor infinite numbers, so nobody looks for them.
    bool apply(const std::vector<Column>& columns, int64_t rows, ThreadPool& pool, int32_t* out,
               bool complete = false) const;
    Trace trace(const std::vector<Column>& columns, int64_t row) const;

private:
    // Calls visit(node, weight) for every node where a path of the row ends, in depth-first order.
    template <class Visit>
    void follow_paths(const std::vector<Column>& columns, int64_t row, Visit visit) const;
    // The nodes where the rows from `begin` on end, or -1 for a row that needs `follow_paths`. Rows walk side by side,
    // so that one waits for memory while the others go on.
    void walk(const std::vector<Column>& columns, int64_t begin, std::span<int32_t> end) const;
    int next(const std::vector<Column>& columns, int32_t node, int64_t row) const;
    // Calls single(row, node) for rows with one path, several(row) for the others. `complete`: as for `apply`.
    template <class Single, class Several>
    bool each_row(const std::vector<Column>& columns, int64_t rows, ThreadPool& pool, Single single, Several several,
                  bool complete = false) const;
    void add_values(const std::vector<Column>& columns, int64_t row, double* out) const;

    int outputs_;
    std::vector<RoutingNode> nodes_;
    std::vector<uint64_t> keys_;       // per node
    std::vector<WalkNode> walk_nodes_; // per node
    BranchlessTree branchless_;        // the same steps, if all of them are plain
    NodeTable value_;
    LeafModels models_;
    std::vector<int32_t> largest_; // per node
};

} // namespace tw

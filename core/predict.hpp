// A tree made ready for rows: the same routing rule as growing, nothing else.
//
// Comes in: flat arrays and encoded columns. Goes out: answers per row, or the node that gives them.
// Always holds: prediction takes no policy; what a missing value does is written in each split. A random child is drawn
// by a hash of the recipe's seed, the node's path and the row's encoded values, so a training row goes where it went.
#pragma once

#include <vector>

#include "split.hpp"
#include "tree.hpp"

namespace tw {

class Router {
public:
    Router(const FlatTree& flat, uint64_t seed);

    int answers() const { return answers_; }
    // out: rows x answers; the weighted sum over all paths a row takes.
    void predict(const std::vector<Column>& columns, int64_t rows, int threads, double* out) const;
    // out: the node that answers; where a row takes several paths, the heaviest (the first among equals).
    void apply(const std::vector<Column>& columns, int64_t rows, int threads, int32_t* out) const;

private:
    struct Node {
        Split split;
        std::vector<Split> surrogates;
        std::vector<int32_t> children;
        uint64_t key = 0;
    };
    // Calls visit(node, weight) for every node where a path of the row ends, in depth-first order.
    template <class Visit>
    void follow(const std::vector<Column>& columns, int64_t row, Visit visit) const;
    template <class Work>
    void in_blocks(int64_t rows, int threads, Work work) const;

    int answers_;
    std::vector<Node> nodes_;
    std::vector<double> value_;
};

} // namespace tw

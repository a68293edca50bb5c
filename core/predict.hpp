// A tree made ready for rows: the same routing rule as growing, nothing else.
//
// Comes in: flat arrays and encoded columns. Goes out: answers per row, or the node that gives them.
// Always holds: prediction takes no policy; what a missing value does is written in each split. A random child is drawn
// by a hash of the recipe's seed, the node's path and the row's encoded values, so a training row goes where it went.
#pragma once

#include <span>
#include <vector>

#include "fork.hpp"
#include "pool.hpp"

namespace tw {

// One row at every node: where it goes from there (or would go), and how much of it comes there.
struct Trace {
    std::vector<Way> way; // leaves stop
    std::vector<double> weight;
};

class Router {
public:
    Router(const FlatTree& flat, uint64_t seed);

    int answers() const { return answers_; }
    // out: rows x answers; the weighted sum over all paths a row takes.
    void predict(const std::vector<Column>& columns, int64_t rows, Pool& pool, double* out) const;
    // out: the place of the largest answer, the first of equals.
    void classify(const std::vector<Column>& columns, int64_t rows, Pool& pool, int32_t* out) const;
    // out: the node that answers; where a row takes several paths, the heaviest (the first among equals).
    void apply(const std::vector<Column>& columns, int64_t rows, Pool& pool, int32_t* out) const;
    Trace trace(const std::vector<Column>& columns, int64_t row) const;

private:
    // A node as most are: numbers up to a limit go to one child, larger ones to the other. A leaf leads to itself.
    struct Step {
        double limit = 0;
        int32_t column = 0;
        int32_t child[2] = {0, 0};
        bool plain = false;
        bool leaf = false;
    };
    // Calls visit(node, weight) for every node where a path of the row ends, in depth-first order.
    template <class Visit>
    void follow(const std::vector<Column>& columns, int64_t row, Visit visit) const;
    // The nodes where the rows from `begin` on end, or -1 for a row that needs `follow`. Rows walk side by side, so
    // that one waits for memory while the others go on.
    enum class Plainly { no, single, twice };
    Plainly how_plain(const std::vector<Column>& columns) const;
    void walk(const std::vector<Column>& columns, int64_t begin, std::span<int32_t> end, Plainly plainly) const;
    template <class Value>
    void walk_plain(const std::vector<Column>& columns, int64_t begin, std::span<int32_t> end) const;
    int next(const std::vector<Column>& columns, int32_t node, int64_t row) const;
    // Calls single(row, node) for rows with one path, several(row) for the others.
    template <class Single, class Several>
    void each_row(const std::vector<Column>& columns, int64_t rows, Pool& pool, Single single, Several several) const;
    void add_answers(const std::vector<Column>& columns, int64_t row, double* out) const;

    int answers_;
    std::vector<Fork> nodes_;
    std::vector<uint64_t> keys_; // per node
    std::vector<Step> steps_;    // per node
    bool all_plain_ = true;
    std::vector<double> value_;
    std::vector<int32_t> largest_; // per node
};

} // namespace tw

// Growing by linear pieces: at each node the best of five models of one column explains a part of what is left of the
// target; a line keeps the node whole, two pieces split it, a constant ends it.
//
// The rows are numbers without missing values. The tree is the same for any number of threads and any order of rows.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/table.hpp"
#include "base/thread_pool.hpp"
#include "linear/pieces.hpp"

namespace tw {

struct PilotOptions {
    int max_depth = 12;
    int max_lines = 100; // in one node
    int64_t min_samples_split = 10;
    int64_t min_samples_leaf = 5;
    int64_t min_values = 5; // different values of a column on either side of a line
    std::array<double, pieces> parameters{1, 2, 5, 5, 7};
};

// What a node takes off the target of its rows: a constant and a slope of a column (-1: none).
struct TakenPiece {
    int column = -1;
    double intercept = 0, slope = 0;
};

struct PilotNode {
    int depth = 0;
    int column = -1; // of its split; -1: a leaf
    double threshold = 0;
    int low = -1, high = -1;
    double rest = 0; // the mean of what its pieces leave
    int64_t rows = 0;
    std::vector<TakenPiece> taken;
};

// `weight`: of each row, above zero; null: one each.
std::vector<PilotNode> grow_pilot(const std::vector<Column>& columns, const double* target, const double* weight,
                                  int64_t rows, const PilotOptions& options, ThreadPool& pool);

} // namespace tw

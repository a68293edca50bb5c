// Some rows of a problem, with codes that leave out the values they do not have.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optimal/grid.hpp"
#include "optimal/problem.hpp"

namespace tw {

struct Subset {
    std::vector<int32_t> row;               // of the problem
    std::vector<std::vector<int32_t>> rank; // [column][row of the subset]: rank among the values of these rows
    std::vector<int> ranks;                 // [column]: how many
    std::vector<int32_t> label;
    std::vector<double> target, weight;

    int64_t rows() const { return static_cast<int64_t>(row.size()); }
    int columns() const { return static_cast<int>(rank.size()); }
    double weight_of(size_t i) const { return weight.empty() ? 1.0 : weight[i]; }
    double total_weight() const;
    int64_t bytes() const;
};

// Without columns if the search is over.
Subset all_rows(const Problem& problem, SearchControl& control, ThreadPool& pool);

// Codes of the values in rising order, from 0; of missing values (NaN) 0 too. Returns how many codes there are.
int rank_values(std::span<const double> values, int32_t* codes);

// The rows with a rank up to `cut` in the column, or those above it. Without rows if the search is over.
Subset one_side(const Subset& subset, int column, int cut, bool low, SearchControl& control);

// weight[r]: of the rows with a rank up to r.
std::vector<double> cumulated_weight(const Subset& subset, int column);

// Where rows without a value lie in the ordering of a column.
enum class MissingEnd { none, low, high };
MissingEnd missing_end(const OrderedColumn& column);
// Whether the row has a value in the column.
bool is_known(const Problem& problem, const Subset& subset, int column, size_t row);

// The cuts of a column that leave enough rows on both sides and, where missing values go to the majority, send them
// there.
CutRange allowed_cuts(const Problem& problem, const Subset& subset, int column, const TreeLimits& limits);

// The code in the problem of a rank in the subset.
int code_of_rank(const Problem& problem, const Subset& subset, int column, int rank);

} // namespace tw

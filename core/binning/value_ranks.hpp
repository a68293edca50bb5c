// The distinct values of a column of numbers in order, and the rank of each row's value.
//
// The ranks of a bin are contiguous. Needed by recipes that count the cuts of a column or require a minimum distance
// between values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/large_vector.hpp"
#include "binning/binned_table.hpp"

namespace tw {

struct ValueRanks {
    std::vector<double> value;     // of each rank, rising
    std::vector<uint32_t> start;   // of each bin: its first rank; and the number of ranks
    LargeVector<uint32_t> rank_of; // of each row, nothing sensible where its value is missing; empty: codes are ranks
};

ValueRanks rank_values(const Table& table, const BinnedTable& binned, BinnedColumn column);
// The ranks these rows stand on, rising.
std::vector<uint32_t> ranks_present(const ValueRanks& ranks, const BinnedTable& binned, BinnedColumn column,
                                    std::span<const uint32_t> rows);

} // namespace tw

// The distinct values of a column of numbers in order, and the rank of each row's value.
//
// The ranks of a bin are contiguous. Needed by recipes that count the cuts of a column or require a minimum distance
// between values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bit_words.hpp"
#include "base/large_vector.hpp"
#include "binning/binned_table.hpp"

namespace tw {

// Whether neighbouring values are far enough apart to be cut between.
inline bool is_separable(double below, double above, double min_gap) {
    // Decimal data often differs by the gap itself, which no subtraction of doubles gives exactly.
    return above - below > min_gap * (1 + 1e-9);
}

struct ValueRanks {
    std::vector<double> value;   // of each rank, rising
    std::vector<uint32_t> start; // of each bin: its first rank; and the number of ranks
    LargeVector<uint32_t>
        rank_of; // of each row, the number of ranks where its value is missing; empty: codes are ranks
    std::vector<uint64_t> wide_after; // a bit per rank (base/bit_words.hpp): the next value is separable from this one

    // Whether the values of two ranks, the lower first, are separable: most are so by a wide gap between them.
    bool is_wide(size_t low, size_t high, double min_gap) const {
        return has_any(wide_after, low, high) || (high > low + 1 && is_separable(value[low], value[high], min_gap));
    }
};

ValueRanks rank_values(const Table& table, const BinnedTable& binned, BinnedColumn column, double min_gap);

// The ranks that some rows of a node stand on, a bit for each.
using RankBits = std::vector<uint64_t>;
RankBits ranks_present(const ValueRanks& ranks, const BinnedTable& binned, BinnedColumn column,
                       std::span<const uint32_t> rows);
// The known values among these rows, rising.
std::vector<double> values_present(const ValueRanks& ranks, const BinnedTable& binned, BinnedColumn column,
                                   std::span<const uint32_t> rows);

// How many neighbours among the ranks present from `first` to `last`, both of them present, are separable.
int64_t count_wide(const ValueRanks& ranks, const RankBits& present, size_t first, size_t last, double min_gap);

} // namespace tw

// Ladders: every distinct value of a column of numbers, and the rung each row stands on.
//
// Comes in: a coded column. Goes out: its known values, rising, and each row's place among them. Always holds: equal
// values share a rung; the rungs of a bin lie together. Recipes need them that count the cuts of a column, or separate
// only values that lie some way apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coding.hpp"
#include "large_vector.hpp"

namespace tw {

struct Ladder {
    std::vector<double> value;     // of each rung, rising
    std::vector<uint32_t> start;   // of each bin: its first rung; and the number of rungs
    LargeVector<uint32_t> rung_of; // of each row, nothing sensible where its value is missing; empty: codes are rungs
};

Ladder climb(const Table& table, const CodedTable& coded, size_t place);
// The rungs these rows stand on, rising.
std::vector<uint32_t> rungs_taken(const Ladder& ladder, const CodedTable& coded, size_t place,
                                  std::span<const uint32_t> rows);

} // namespace tw

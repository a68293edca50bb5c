// Coding: a column of numbers as at most 256 ordered bins, without sorting it.
//
// Comes in: the values. Goes out: one byte per row, and whether each bin holds a single value. Always holds: codes keep
// the order of values, and equal values share a code. Where the bins lie changes the work, never the tree, so a sample
// may choose them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tw {

struct Codes {
    std::vector<uint8_t> code; // per row
    std::vector<double> upper; // upper end of every bin but the last
    bool exact = false;        // every bin holds one value

    int bins() const { return static_cast<int>(upper.size()) + 1; }
};

Codes code_column(std::span<const double> values);

} // namespace tw

// Columns of numbers as the codes of levels: by counting, where the numbers are whole and lie close together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/large_vector.hpp"
#include "base/table.hpp"

namespace tw {

struct LevelCodes {
    LargeVector<int32_t> code; // of each row, -1: missing
    std::vector<double> level; // the values of the codes, rising; zero has no sign
};

// One result per column; none where sorting is the better way: numbers that are not whole, far apart, or all missing.
std::vector<std::optional<LevelCodes>> count_levels(const std::vector<Numbers>& columns, int64_t rows);

} // namespace tw

// What the linear model of a leaf may use: a number as it is, or whether a level is one of a set (1 or 0).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/table.hpp"

namespace tw {

struct Regressor {
    int column = 0;
    std::vector<char> member; // per level; empty for a number
};

// NaN where the value is missing, or a level that the table of training did not have.
inline double value_of(const Regressor& regressor, const Column& column, int64_t row) {
    if (column.kind == Kind::number) return column.numbers[row];
    const int code = column.codes[row];
    if (code < 0 || code >= static_cast<int>(regressor.member.size())) return std::numeric_limits<double>::quiet_NaN();
    return regressor.member[static_cast<size_t>(code)] ? 1.0 : 0.0;
}

} // namespace tw

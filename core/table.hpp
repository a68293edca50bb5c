// The encoded table as the core sees it: borrowed arrays, never copied, never changed.
//
// Comes in: pointers owned by the caller (docs/boundary.md gives their layout).
// Always holds: a number is missing iff it is NaN; a level is missing iff its code is -1 and unseen iff it is -2.
#pragma once

#include <cstdint>
#include <vector>

namespace tw {

enum class Kind { number, ordinal, nominal };

struct Column {
    Kind kind = Kind::number;
    int levels = 0;                  // declared levels; 0 for numbers
    const double* numbers = nullptr; // for numbers
    const int32_t* codes = nullptr;  // for levels
};

struct Table {
    std::vector<Column> columns;
    int64_t rows = 0;
};

struct Answers {
    const int32_t* classes = nullptr; // class codes, or null for a numeric target
    const double* numbers = nullptr;  // numeric target, or null
    const double* weight = nullptr;   // null: every row weighs one
    int n_classes = 0;
};

} // namespace tw

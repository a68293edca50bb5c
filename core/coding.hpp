// Coding: columns of numbers as at most 255 ordered bins each, without sorting them.
//
// Comes in: the table. Goes out: one byte per row and coded column, a row's bytes side by side. Always holds: codes
// keep the order of values, and equal values share a code; a missing value has the code after the last bin. Where the
// bins lie changes the work, never the tree, so a sample may choose them.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "large_vector.hpp"
#include "pool.hpp"
#include "table.hpp"

namespace tw {

struct CodedColumn {
    int column = -1; // of the table
    int bins = 0;
    int start = 0;           // place of its first bin among all bins of all columns
    bool exact = false;      // every bin holds one value
    bool gaps = false;       // some values are missing
    std::vector<double> end; // bins - 1 numbers: a bin ends with the value here
};

// What must be known of a table before anything is learned from it.
struct Survey {
    bool missing = false;                            // a row with weight lacks a value
    std::optional<std::pair<int, int64_t>> infinite; // the first infinite number, column by column: its column and row
};
// `weight`: null where every row has one.
Survey survey(const Table& table, const double* weight, Pool& pool);

class CodedTable {
public:
    CodedTable(const Table& table, Pool& pool);

    const std::vector<CodedColumn>& columns() const { return columns_; }
    int bins() const { return bins_; } // of all columns, one for missing values in each
    const uint8_t* row(int64_t i) const { return &by_row_[static_cast<size_t>(i) * columns_.size()]; }
    const uint8_t* column(size_t place) const { return &by_column_[place * static_cast<size_t>(rows_)]; }
    // The place of a column of the table among the coded ones, -1: it is not coded.
    int place_of(int column) const { return places_[static_cast<size_t>(column)]; }

private:
    std::vector<CodedColumn> columns_;
    std::vector<int> places_;
    int64_t rows_ = 0;
    int bins_ = 0;
    LargeVector<uint8_t> by_row_, by_column_;
};

} // namespace tw

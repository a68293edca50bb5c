// Coding: columns of numbers as at most 255 ordered bins each, without sorting them.
//
// Comes in: the table. Goes out: one byte per row and coded column, a row's bytes side by side. Always holds: codes
// keep the order of values, and equal values share a code; a missing value has the code after the last bin. Where the
// bins lie changes the work, never the tree, so a sample may choose them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "array.hpp"
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

    // The value as the bin allows it. A table that is written to while a tree grows from it must not lead rows astray:
    // their bins are known, and stay.
    double within(int bin, double x) const {
        constexpr double far = std::numeric_limits<double>::infinity();
        const size_t place = static_cast<size_t>(bin);
        const double above = bin > 0 ? end[place - 1] : -far, most = place < end.size() ? end[place] : far;
        if (x > above && x <= most) return x;
        return most < far ? most : bin > 0 ? std::nextafter(above, far) : 0.0;
    }

    // The value, which is known by its bin; one that went missing since could not be sorted.
    double known(int bin, double x) const { return x == x ? x : within(bin, x); }

    template <class Archive>
    void pass(Archive& archive) {
        archive(column, bins, start, exact, gaps, end);
    }
};

// --- bins of a table in parts: what each part says of a column of numbers, merged, gives its bins ---

struct ColumnSketch {
    bool gaps = false;
    bool many = false;            // more distinct values than bins
    std::vector<double> distinct; // rising; only a beginning where there are many
    std::vector<double> sample;

    void merge(const ColumnSketch& other);
    template <class Archive>
    void pass(Archive& archive) {
        archive(gaps, many, distinct, sample);
    }
};

// One sketch per column of numbers; every `step`-th row is sampled.
std::vector<ColumnSketch> sketch(const Table& table, int64_t step);
// The bins, laid out one column after the other.
std::vector<CodedColumn> bins_of(const Table& table, const std::vector<ColumnSketch>& sketches);

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
    // By bins that are known already; codes come from elsewhere, or there are no rows.
    CodedTable(const Table& table, std::vector<CodedColumn> columns, Array<uint8_t> by_row, Array<uint8_t> by_column);

    const std::vector<CodedColumn>& columns() const { return columns_; }
    int bins() const { return bins_; } // of all columns, one for missing values in each
    const uint8_t* row(int64_t i) const { return by_row_.data() + static_cast<size_t>(i) * columns_.size(); }
    const uint8_t* column(size_t place) const { return by_column_.data() + place * static_cast<size_t>(rows_); }
    const Array<uint8_t>& by_row() const { return by_row_; }
    const Array<uint8_t>& by_column() const { return by_column_; }
    // The place of a column of the table among the coded ones, -1: it is not coded.
    int place_of(int column) const { return places_[static_cast<size_t>(column)]; }

private:
    std::vector<CodedColumn> columns_;
    std::vector<int> places_;
    int64_t rows_ = 0;
    int bins_ = 0;
    Array<uint8_t> by_row_, by_column_;
};

// The codes of a table's rows by bins that are known already: row by row, and column by column.
std::pair<LargeVector<uint8_t>, LargeVector<uint8_t>> code_by(const Table& table,
                                                              const std::vector<CodedColumn>& columns);

} // namespace tw

// Columns of numbers as at most 255 ordered bins each, without sorting them. One byte per row and column.
//
// Bins keep the order of values, and equal values share a bin; a missing value has the number after the last bin. The
// bins affect the speed of the search but never the tree, so they may be chosen from a sample.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/index.hpp"
#include "base/large_vector.hpp"
#include "base/shared_array.hpp"
#include "base/table.hpp"
#include "base/thread_pool.hpp"

namespace tw {

struct ColumnBins {
    TableColumn column;
    int bins = 0;
    int start = 0;            // place of its first bin among all bins of all columns
    bool exact = false;       // every bin holds one value
    bool has_missing = false; // some values are missing
    std::vector<double> end;  // bins - 1 numbers: a bin ends with the value here

    // The value as the bin allows it. A table that is written to while a tree grows from it must not lead rows astray:
    // their bins are known, and stay.
    double within(int bin, double x) const {
        constexpr double far = std::numeric_limits<double>::infinity();
        const size_t index = static_cast<size_t>(bin);
        const double above = bin > 0 ? end[index - 1] : -far, most = index < end.size() ? end[index] : far;
        if (x > above && x <= most) return x;
        return most < far ? most : bin > 0 ? std::nextafter(above, far) : 0.0;
    }

    // The value, which is known by its bin; one that went missing since could not be sorted.
    double known(int bin, double x) const { return x == x ? x : within(bin, x); }

    auto fields() { return std::tie(column, bins, start, exact, has_missing, end); }
};

class BinnedTable {
public:
    BinnedTable(const Table& table, ThreadPool& pool);
    // By bins that are known already; codes come from elsewhere, or there are no rows.
    BinnedTable(const Table& table, std::vector<ColumnBins> columns, SharedArray<uint8_t> by_row,
                SharedArray<uint8_t> by_column);

    const IndexedVector<BinnedColumn, ColumnBins>& columns() const { return columns_; }
    int bins() const { return bins_; } // of all columns, one for missing values in each
    const uint8_t* row(int64_t i) const { return by_row_.data() + static_cast<size_t>(i) * columns_.size(); }
    const uint8_t* column(BinnedColumn column) const {
        return by_column_.data() + column.offset() * static_cast<size_t>(rows_);
    }
    const SharedArray<uint8_t>& by_row() const { return by_row_; }
    const SharedArray<uint8_t>& by_column() const { return by_column_; }
    // -1: the column has no bins.
    BinnedColumn index_of(TableColumn column) const { return index_of_column_[column]; }

private:
    IndexedVector<BinnedColumn, ColumnBins> columns_;
    IndexedVector<TableColumn, BinnedColumn> index_of_column_;
    int64_t rows_ = 0;
    int bins_ = 0;
    SharedArray<uint8_t> by_row_, by_column_;
};

// The codes of a table's rows by bins that are known already: row by row, and column by column.
std::pair<LargeVector<uint8_t>, LargeVector<uint8_t>> assign_bins(const Table& table,
                                                                  const std::vector<ColumnBins>& columns);

} // namespace tw

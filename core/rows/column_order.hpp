// Sorting the few rows of a small node by value.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rows/sorted_scan.hpp"

namespace tw {

struct ValueAndRow {
    double value;
    uint16_t row;
};

inline void order_by_value(ValueAndRow* begin, ValueAndRow* end) {
    constexpr std::ptrdiff_t insertion = 16;
    if (end - begin > insertion) {
        std::sort(begin, end, [](const ValueAndRow& a, const ValueAndRow& b) { return a.value < b.value; });
        return;
    }
    for (ValueAndRow* at = begin + 1; at < end; ++at) {
        const ValueAndRow moved = *at;
        ValueAndRow* to = at;
        for (; to > begin && moved.value < to[-1].value; --to) *to = to[-1];
        *to = moved;
    }
}

// Which columns have several bins among these rows: not 0.
inline IndexedVector<BinnedColumn, uint8_t> changing_columns(const BinnedTable& binned,
                                                             std::span<const uint32_t> rows) {
    IndexedVector<BinnedColumn, uint8_t> changes(binned.columns().size(), 0);
    const uint8_t* first = binned.row(rows[0]);
    for (const uint32_t row : rows) {
        const uint8_t* code = binned.row(row);
        for (const BinnedColumn c : changes.indices()) {
            changes[c] |= static_cast<uint8_t>(code[c.offset()] ^ first[c.offset()]);
        }
    }
    return changes;
}

// Rows are sorted by counting their bins, then by value within a bin; missing values come last. Where codes are
// values, they stand for them.
inline void order_rows(const SearchColumns& columns, std::span<const uint32_t> row, ScanColumn scan_column,
                       RankedRow* order) {
    constexpr size_t max_rows_sorted_directly = 48; // so few rows are sorted without a look at their bins
    const size_t rows = row.size(), at = columns.by_histogram[scan_column].offset();
    const Numbers& numbers = columns.numbers(scan_column);
    const ColumnBins& column = columns.column(scan_column);
    std::vector<ValueAndRow> sorted(rows);
    size_t known = 0;
    if (rows <= max_rows_sorted_directly && !column.exact) {
        size_t last = rows;
        for (size_t i = 0; i < rows; ++i) {
            const double x = numbers[row[i]];
            sorted[x == x ? known++ : --last] = {x, static_cast<uint16_t>(i)};
        }
        order_by_value(sorted.data(), sorted.data() + known);
    } else {
        std::array<uint16_t, 257> next{};
        for (const uint32_t one : row) ++next[columns.binned.row(one)[at] + 1];
        for (size_t code = 1; code < next.size(); ++code)
            next[code] = static_cast<uint16_t>(next[code] + next[code - 1]);
        known = next[column.bins];
        const std::array<uint16_t, 257> start = next;
        for (size_t i = 0; i < rows; ++i) {
            const uint8_t code = columns.binned.row(row[i])[at];
            const bool by_bin = column.exact || code >= column.bins;
            sorted[next[code]++] = {by_bin ? code : column.known(code, numbers[row[i]]), static_cast<uint16_t>(i)};
        }
        for (int code = 0; code < column.bins && !column.exact; ++code) {
            if (start[code + 1] - start[code] > 1) {
                order_by_value(sorted.data() + start[code], sorted.data() + start[code + 1]);
            }
        }
    }
    uint16_t rank = 0;
    for (size_t i = 0; i < rows; ++i) {
        if (i > 0 && i < known && sorted[i].value != sorted[i - 1].value) ++rank;
        order[i] = {i < known ? rank : missing_rank, sorted[i].row};
    }
}

// Puts the rows of the lower child (`child[row]` is 0, not 1) first; both keep their order. The lower one stays in
// place, without a branch.
inline void partition_in_two(std::span<RankedRow> order, std::span<const int32_t> child, std::span<RankedRow> spare) {
    size_t low = 0, high = 0;
    for (const RankedRow ranked : order) {
        const size_t up = static_cast<size_t>(child[ranked.row]);
        order[low] = ranked;
        spare[high] = ranked;
        low += 1 - up;
        high += up;
    }
    std::copy_n(spare.begin(), high, order.begin() + static_cast<std::ptrdiff_t>(low));
}

// The same for any number of children. `order`: of the parent's rows, in that of the whole column; `next`: where the
// rows of each child lie there.
inline void partition_in_order(std::span<const RankedRow> order, std::span<const int32_t> child,
                               SmallVector<size_t, 4> next, std::span<RankedRow> spare, RankedRow* column_order) {
    std::copy(order.begin(), order.end(), spare.begin());
    for (const RankedRow ranked : spare.first(order.size())) {
        column_order[next[static_cast<size_t>(child[ranked.row])]++] = ranked;
    }
}

} // namespace tw

#include "binning/column_sketch.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "binning/bin_finder.hpp"

namespace tw {

namespace {

// Distinct values beyond this many are not listed: they are more than bins in any case.
void cap(ColumnSketch& column) {
    make_distinct(column.distinct);
    column.many = column.many || column.distinct.size() > max_bins;
    if (column.distinct.size() > 2 * max_bins) column.distinct.resize(2 * max_bins);
}

} // namespace

void ColumnSketch::merge(const ColumnSketch& other) {
    has_missing = has_missing || other.has_missing;
    many = many || other.many;
    distinct.insert(distinct.end(), other.distinct.begin(), other.distinct.end());
    cap(*this);
    sample.insert(sample.end(), other.sample.begin(), other.sample.end());
}

std::vector<ColumnSketch> sketch(const Table& table, int64_t step) {
    std::vector<ColumnSketch> sketches;
    for (const Column& column : table.columns) {
        if (column.kind != Kind::number) continue;
        ColumnSketch& found = sketches.emplace_back();
        for (int64_t row = 0; row < table.rows; row += step) {
            const double x = column.numbers[row];
            if (x == x) found.sample.push_back(x + 0.0);
        }
        found.distinct = found.sample;
        cap(found);
        // Other values are looked for as long as there may be few; a value already known is found by its code.
        std::array<double, block_rows> buffer;
        std::array<uint8_t, block_rows> codes;
        auto finder = std::make_unique<BinFinder>(found.many ? std::vector<double>{} : found.distinct);
        for (int64_t begin = 0; begin < table.rows; begin += block_rows) {
            const int64_t end = std::min(table.rows, begin + block_rows);
            const std::span<double> values(buffer.data(), static_cast<size_t>(end - begin));
            column.numbers.read(begin, values);
            for (const double x : values) found.has_missing = found.has_missing || x != x;
            if (found.many) {
                if (found.has_missing) break;
                continue;
            }
            finder->assign(values, 0, codes.data());
            const size_t before = found.distinct.size();
            for (size_t i = 0; i < values.size(); ++i) {
                if (values[i] == values[i] && finder->end(codes[i]) != values[i])
                    found.distinct.push_back(values[i] + 0.0);
            }
            if (found.distinct.size() == before) continue;
            cap(found);
            if (!found.many) finder = std::make_unique<BinFinder>(found.distinct);
        }
    }
    return sketches;
}

std::vector<ColumnBins> bins_of(const Table& table, const std::vector<ColumnSketch>& sketches) {
    std::vector<ColumnBins> columns;
    for (size_t i = 0; i < table.columns.size(); ++i) {
        if (table.columns[i].kind != Kind::number) continue;
        const ColumnSketch& sketch = sketches[columns.size()];
        ColumnBins& column = columns.emplace_back();
        column.column = TableColumn(i);
        column.has_missing = sketch.has_missing;
        column.exact = !sketch.many;
        std::vector<double> sorted = sketch.sample.size() < max_bins ? sketch.distinct : sketch.sample;
        std::sort(sorted.begin(), sorted.end());
        column.end = column.exact ? sketch.distinct : quantile_ends(sorted);
    }
    lay_out(columns);
    return columns;
}

} // namespace tw

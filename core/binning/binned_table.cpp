#include "binning/binned_table.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>

#include "binning/bin_finder.hpp"
#include "binning/digit_sort.hpp"
#include "binning/number_key.hpp"

namespace tw {
namespace {

constexpr int64_t sample_size = 4096;

// Rows spread over the table; an odd step meets no pattern in them.
std::vector<int64_t> sampled_rows(int64_t rows) {
    std::vector<int64_t> sample;
    const int64_t step = std::max<int64_t>(1, rows / sample_size) | 1;
    for (int64_t row = 0; row < rows; row += step) sample.push_back(row);
    return sample;
}

// Every bin's last value, as far as a sample knows them. Few distinct values get a bin each.
void choose_bins(std::vector<double> sample, ColumnBins& column) {
    std::vector<uint64_t> keys(sample.size());
    std::transform(sample.begin(), sample.end(), keys.begin(), key_of);
    std::vector<uint64_t> spare;
    sort_by_digits(std::span(keys), spare, [](uint64_t key) { return key; });
    std::transform(keys.begin(), keys.end(), sample.begin(), number_of);
    std::vector<double> distinct = sample;
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    column.exact = distinct.size() <= max_bins;
    column.end = column.exact ? std::move(distinct) : quantile_ends(sample);
}

// Values that turned up in a column thought to have few.
class NewValues {
public:
    void add(const std::vector<double>& values) {
        const std::lock_guard<std::mutex> lock(guard_);
        if (many_) return;
        values_.insert(values_.end(), values.begin(), values.end());
        if (values_.size() > 16 * max_bins) {
            make_distinct(values_);
            many_ = values_.size() > max_bins;
        }
    }
    bool any() const { return many_ || !values_.empty(); }

    // Gives the column bins for all its values or, if they are too many, by quantiles of a sample.
    void rebin(const std::vector<double>& sample, ColumnBins& column) {
        std::vector<double> distinct = column.end;
        distinct.insert(distinct.end(), values_.begin(), values_.end());
        make_distinct(distinct);
        column.exact = !many_ && distinct.size() <= max_bins;
        if (column.exact) {
            column.end = std::move(distinct);
            return;
        }
        // A column missing nearly everywhere has a poor sample, and new values are all that is known of it.
        std::vector<double> sorted = sample.size() < max_bins ? distinct : sample;
        std::sort(sorted.begin(), sorted.end());
        column.end = quantile_ends(sorted);
    }

private:
    std::mutex guard_;
    std::vector<double> values_;
    bool many_ = false;
};

// Codes one block of rows of a column.
void bin_block(const Numbers& numbers, const ColumnBins& column, const BinFinder& finder, int64_t begin, int64_t end,
               uint8_t* out, std::atomic<bool>& has_missing, NewValues& new_values) {
    std::array<double, block_rows> buffer;
    const std::span<double> values(buffer.data(), static_cast<size_t>(end - begin));
    numbers.read(begin, values);
    const uint8_t missing = static_cast<uint8_t>(column.exact ? column.end.size() : column.end.size() + 1);
    finder.assign(values, missing, out);
    // By codes, not by values: beyond the last value of a column with few lie new values, and the code of missing
    // ones.
    int absent = 0;
    for (size_t i = 0; i < values.size(); ++i) absent |= static_cast<int>(out[i] == missing);
    if (absent != 0) has_missing = true;
    if (!column.exact) return;
    int is_new = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        is_new |= static_cast<int>(values[i] == values[i]) & static_cast<int>(finder.end(out[i]) != values[i]);
    }
    if (is_new == 0) return;
    std::vector<double> found;
    for (size_t i = 0; i < values.size(); ++i) {
        if (values[i] == values[i] && finder.end(out[i]) != values[i]) found.push_back(values[i] + 0.0);
    }
    make_distinct(found);
    new_values.add(found);
}

} // namespace

BinnedTable::BinnedTable(const Table& table, ThreadPool& pool)
    : index_of_column_(table.columns.size()), rows_(table.rows) {
    for (const TableColumn i : index_of_column_.indices()) {
        if (table.columns[i.offset()].kind != Kind::number) continue;
        index_of_column_[i] = BinnedColumn(columns_.size());
        columns_.emplace_back().column = i;
    }
    std::vector<ColumnBins>& columns = columns_; // no other columns are here
    const size_t width = columns.size();
    const auto numbers_of = [&](size_t c) -> const Numbers& {
        return table.columns[columns[c].column.offset()].numbers;
    };

    // A row of a matrix lies together, so rows are sampled, not values.
    const std::vector<int64_t> sampled = sampled_rows(table.rows);
    std::vector<std::vector<double>> sample(width, std::vector<double>(sampled.size()));
    pool.run(static_cast<int64_t>((sampled.size() + block_rows - 1) / block_rows), [&](int64_t block) {
        const size_t begin = static_cast<size_t>(block * block_rows);
        for (size_t i = begin; i < std::min(sampled.size(), begin + block_rows); ++i) {
            for (size_t c = 0; c < width; ++c) sample[c][i] = numbers_of(c)[sampled[i]] + 0.0; // -0 and 0 are one value
        }
    });
    pool.run(static_cast<int64_t>(width), [&](int64_t c) {
        std::erase_if(sample[c], [](double x) { return x != x; });
        choose_bins(sample[c], columns[c]);
    });

    LargeVector<uint8_t> by_row(static_cast<size_t>(table.rows) * width), by_column(by_row.size());
    const int64_t blocks = (table.rows + block_rows - 1) / block_rows;
    const auto has_missing = std::make_unique<std::atomic<bool>[]>(width);
    std::vector<NewValues> new_values(width);
    const auto bin_columns = [&](const std::vector<size_t>& columns_to_bin) {
        std::vector<BinFinder> finder;
        for (size_t c : columns_to_bin) finder.emplace_back(columns[c].end);
        pool.run(blocks, [&](int64_t block) {
            const int64_t begin = block * block_rows, end = std::min(table.rows, begin + block_rows);
            for (size_t i = 0; i < columns_to_bin.size(); ++i) {
                const size_t c = columns_to_bin[i];
                uint8_t* out = &by_column[c * static_cast<size_t>(table.rows) + static_cast<size_t>(begin)];
                bin_block(numbers_of(c), columns[c], finder[i], begin, end, out, has_missing[c], new_values[c]);
                uint8_t* across = &by_row[static_cast<size_t>(begin) * width + c];
                for (int64_t row = 0; row < end - begin; ++row) across[static_cast<size_t>(row) * width] = out[row];
            }
        });
    };
    std::vector<size_t> all, again;
    for (size_t c = 0; c < width; ++c) all.push_back(c);
    bin_columns(all);
    for (size_t c = 0; c < width; ++c) {
        if (!new_values[c].any()) continue;
        new_values[c].rebin(sample[c], columns[c]);
        has_missing[c] = false; // found by the second pass
        again.push_back(c);
    }
    if (!again.empty()) bin_columns(again);
    for (size_t c = 0; c < width; ++c) columns[c].has_missing = has_missing[c];
    bins_ = lay_out(columns);
    by_row_ = std::move(by_row);
    by_column_ = std::move(by_column);
}

BinnedTable::BinnedTable(const Table& table, std::vector<ColumnBins> columns, SharedArray<uint8_t> by_row,
                         SharedArray<uint8_t> by_column)
    : columns_(std::move(columns)),
      index_of_column_(table.columns.size()),
      rows_(table.rows),
      by_row_(std::move(by_row)),
      by_column_(std::move(by_column)) {
    for (const BinnedColumn c : columns_.indices()) {
        index_of_column_[columns_[c].column] = c;
        bins_ = columns_[c].start + columns_[c].bins + (columns_[c].has_missing ? 1 : 0);
    }
}

std::pair<LargeVector<uint8_t>, LargeVector<uint8_t>> assign_bins(const Table& table,
                                                                  const std::vector<ColumnBins>& columns) {
    const size_t width = columns.size(), rows = static_cast<size_t>(table.rows);
    LargeVector<uint8_t> by_row(rows * width), by_column(rows * width);
    std::vector<BinFinder> finder;
    for (const ColumnBins& column : columns) finder.emplace_back(column.end);
    std::array<double, block_rows> buffer;
    for (size_t begin = 0; begin < rows; begin += block_rows) {
        const size_t count = std::min<size_t>(rows - begin, block_rows);
        for (size_t c = 0; c < width; ++c) {
            const std::span<double> values(buffer.data(), count);
            table.columns[columns[c].column.offset()].numbers.read(static_cast<int64_t>(begin), values);
            uint8_t* out = &by_column[c * rows + begin];
            // Without a bin for them, values that are missing by now lie in the last.
            finder[c].assign(values,
                             static_cast<uint8_t>(columns[c].has_missing ? columns[c].bins : columns[c].bins - 1), out);
            for (size_t i = 0; i < count; ++i) by_row[(begin + i) * width + c] = out[i];
        }
    }
    return {std::move(by_row), std::move(by_column)};
}

} // namespace tw

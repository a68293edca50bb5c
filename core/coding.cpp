#include "coding.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>

#include "finite.hpp"

namespace tw {
namespace {

constexpr size_t most_bins = 255;
constexpr int64_t sample_size = 4096;
constexpr int64_t block_rows = 512; // a block of a matrix stays in cache while its columns are read one by one

void make_distinct(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

// Rows spread over the table; an odd step meets no pattern in them.
std::vector<int64_t> sampled_rows(int64_t rows) {
    std::vector<int64_t> sample;
    const int64_t step = std::max<int64_t>(1, rows / sample_size) | 1;
    for (int64_t row = 0; row < rows; row += step) sample.push_back(row);
    return sample;
}

std::vector<double> quantile_ends(const std::vector<double>& sorted) {
    std::vector<double> ends;
    for (size_t i = 1; i < most_bins; ++i) {
        const double end = sorted[i * sorted.size() / most_bins];
        if (ends.empty() || ends.back() < end) ends.push_back(end);
    }
    return ends;
}

// Every bin's last value, as far as a sample knows them. Few distinct values get a bin each.
void choose_bins(std::vector<double> sample, CodedColumn& column) {
    std::sort(sample.begin(), sample.end());
    std::vector<double> distinct = sample;
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    column.exact = distinct.size() <= most_bins;
    column.end = column.exact ? std::move(distinct) : quantile_ends(sample);
}

// The code is the number of ends below the value. A grid of equal cells tells most of it at once: ends in lower cells
// are below, ends in higher cells are not, and only those in the value's own cell are searched, in steps of fixed size.
class Finder {
public:
    explicit Finder(const std::vector<double>& ends) {
        ends_.fill(std::numeric_limits<double>::infinity());
        std::copy(ends.begin(), ends.end(), ends_.begin());
        if (ends.size() > 1 && std::isfinite(ends.back() - ends.front())) {
            low_ = ends.front();
            scale_ = (cells - 1) / (ends.back() - ends.front());
            if (!std::isfinite(scale_)) scale_ = 0;
        }
        std::array<size_t, cells> inside{};
        for (const double end : ends) ++inside[cell(end)];
        size_t before = 0, most = 0;
        for (size_t i = 0; i < cells; ++i) {
            before_[i] = static_cast<uint8_t>(before);
            before += inside[i];
            most = std::max(most, inside[i]);
        }
        steps_ = static_cast<int>(std::bit_width(most));
    }

    // Writes one code per value.
    void code(std::span<const double> values, uint8_t missing, uint8_t* out) const {
        switch (steps_) {
            case 0:
            case 1:
                return code_in<1>(values, missing, out);
            case 2:
                return code_in<2>(values, missing, out);
            case 3:
            case 4:
                return code_in<4>(values, missing, out);
            default:
                return code_in<8>(values, missing, out);
        }
    }

    double end(size_t code) const { return ends_[code]; }

private:
    static constexpr size_t cells = 1024;

    // Rises with x; a missing value lies in the first.
    size_t cell(double x) const {
        const double place = std::min(std::max(0.0, (x - low_) * scale_), static_cast<double>(cells - 1));
        return static_cast<size_t>(static_cast<int32_t>(place));
    }

    template <int steps>
    void code_in(std::span<const double> values, uint8_t missing, uint8_t* out) const {
        for (const double x : values) {
            size_t below = before_[cell(x)];
            for (size_t step = size_t{1} << (steps - 1); step > 0; step /= 2) {
                below += step * static_cast<size_t>(ends_[below + step - 1] < x);
            }
            *out++ = x == x ? static_cast<uint8_t>(below) : missing;
        }
    }

    double low_ = 0, scale_ = 0;
    int steps_ = 0;
    std::array<uint8_t, cells> before_{};
    std::array<double, 512> ends_; // as many again as there can be, so that a search may look past the last
};

// Values that turned up in a column thought to have few.
class Strangers {
public:
    void add(const std::vector<double>& values) {
        const std::lock_guard<std::mutex> lock(guard_);
        if (many_) return;
        values_.insert(values_.end(), values.begin(), values.end());
        if (values_.size() > 16 * most_bins) {
            make_distinct(values_);
            many_ = values_.size() > most_bins;
        }
    }
    bool any() const { return many_ || !values_.empty(); }

    // Gives the column bins for all its values or, if they are too many, by quantiles of a sample.
    void settle(const std::vector<double>& sample, CodedColumn& column) {
        std::vector<double> distinct = column.end;
        distinct.insert(distinct.end(), values_.begin(), values_.end());
        make_distinct(distinct);
        column.exact = !many_ && distinct.size() <= most_bins;
        if (column.exact) {
            column.end = std::move(distinct);
            return;
        }
        // A column missing nearly everywhere has a poor sample, and strangers are all that is known of it.
        std::vector<double> sorted = sample.size() < most_bins ? distinct : sample;
        std::sort(sorted.begin(), sorted.end());
        column.end = quantile_ends(sorted);
    }

private:
    std::mutex guard_;
    std::vector<double> values_;
    bool many_ = false;
};

// Codes one block of rows of a column.
void code_block(const Numbers& numbers, const CodedColumn& column, const Finder& find, int64_t begin, int64_t end,
                uint8_t* out, std::atomic<bool>& gaps, Strangers& strangers) {
    std::array<double, block_rows> buffer;
    const std::span<double> values(buffer.data(), static_cast<size_t>(end - begin));
    numbers.read(begin, values);
    const uint8_t missing = static_cast<uint8_t>(column.exact ? column.end.size() : column.end.size() + 1);
    find.code(values, missing, out);
    // By codes, not by values: beyond the last value of a column with few lies a stranger, and the code of missing
    // ones.
    int absent = 0;
    for (size_t i = 0; i < values.size(); ++i) absent |= static_cast<int>(out[i] == missing);
    if (absent != 0) gaps = true;
    if (!column.exact) return;
    int foreign = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        foreign |= static_cast<int>(values[i] == values[i]) & static_cast<int>(find.end(out[i]) != values[i]);
    }
    if (foreign == 0) return;
    std::vector<double> found;
    for (size_t i = 0; i < values.size(); ++i) {
        if (values[i] == values[i] && find.end(out[i]) != values[i]) found.push_back(values[i] + 0.0);
    }
    make_distinct(found);
    strangers.add(found);
}

// Gives every column its place among all bins; returns their number.
int lay_out(std::vector<CodedColumn>& columns) {
    int bins = 0;
    for (CodedColumn& column : columns) {
        if (column.exact && !column.end.empty()) column.end.pop_back(); // the last bin has no end
        column.bins = static_cast<int>(column.end.size()) + 1;
        column.start = bins;
        bins += column.bins + (column.gaps ? 1 : 0);
    }
    return bins;
}

// Whether all numbers of a matrix are finite.
template <class Value>
bool all_finite(const void* values, int64_t count, Pool& pool) {
    constexpr int64_t block = 1 << 16;
    std::atomic<bool> finite{true};
    pool.run((count + block - 1) / block, [&](int64_t b) {
        const Value* first = static_cast<const Value*>(values) + b * block;
        if (any_odd<Value>(first, std::min(block, count - b * block), false)) finite = false;
    });
    return finite;
}

} // namespace

Survey survey(const Table& table, const double* weight, Pool& pool) {
    if (const void* matrix = as_matrix(table.columns)) {
        const int64_t count = table.rows * static_cast<int64_t>(table.columns.size());
        const bool finite = table.columns[0].numbers.single() ? all_finite<float>(matrix, count, pool)
                                                              : all_finite<double>(matrix, count, pool);
        if (finite) return {};
    }
    const int64_t blocks = (table.rows + block_rows - 1) / block_rows;
    const auto plain = [](const Numbers& numbers, int64_t begin, int64_t count) {
        return numbers.adjacent() && !(numbers.single() ? any_odd<float>(numbers.address(begin), count, false)
                                                        : any_odd<double>(numbers.address(begin), count, false));
    };
    std::vector<uint8_t> suspect(static_cast<size_t>(blocks), 0);
    std::atomic<bool> missing{false};
    pool.run(blocks, [&](int64_t block) {
        std::array<double, block_rows> buffer;
        const int64_t begin = block * block_rows, end = std::min(table.rows, begin + block_rows);
        const std::span<double> values(buffer.data(), static_cast<size_t>(end - begin));
        int infinite = 0, absent = 0;
        for (const Column& column : table.columns) {
            if (column.kind != Kind::number) {
                for (int64_t row = begin; row < end; ++row) {
                    absent |= static_cast<int>(column.codes[row] < 0 && (!weight || weight[row] > 0));
                }
                continue;
            }
            if (plain(column.numbers, begin, end - begin)) continue;
            column.numbers.read(begin, values);
            int gaps = 0;
            for (const double x : values) {
                infinite |= static_cast<int>(std::abs(x) > std::numeric_limits<double>::max());
                gaps |= static_cast<int>(x != x);
            }
            for (size_t i = 0; i < values.size() && gaps != 0; ++i) {
                const int64_t row = begin + static_cast<int64_t>(i);
                absent |= static_cast<int>(values[i] != values[i] && (!weight || weight[row] > 0));
            }
        }
        suspect[static_cast<size_t>(block)] = static_cast<uint8_t>(infinite);
        if (absent != 0) missing = true;
    });
    for (size_t i = 0; i < table.columns.size(); ++i) {
        if (table.columns[i].kind != Kind::number) continue;
        for (int64_t block = 0; block < blocks; ++block) {
            if (suspect[static_cast<size_t>(block)] == 0) continue;
            for (int64_t row = block * block_rows; row < std::min(table.rows, (block + 1) * block_rows); ++row) {
                if (std::isinf(table.columns[i].numbers[row])) return {missing, std::pair(static_cast<int>(i), row)};
            }
        }
    }
    return {missing, std::nullopt};
}

CodedTable::CodedTable(const Table& table, Pool& pool) : places_(table.columns.size(), -1), rows_(table.rows) {
    for (size_t i = 0; i < table.columns.size(); ++i) {
        if (table.columns[i].kind != Kind::number) continue;
        places_[i] = static_cast<int>(columns_.size());
        columns_.emplace_back();
        columns_.back().column = static_cast<int>(i);
    }
    const size_t width = columns_.size();
    const auto numbers_of = [&](size_t c) -> const Numbers& { return table.columns[columns_[c].column].numbers; };

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
        choose_bins(sample[c], columns_[c]);
    });

    LargeVector<uint8_t> by_row(static_cast<size_t>(table.rows) * width), by_column(by_row.size());
    const int64_t blocks = (table.rows + block_rows - 1) / block_rows;
    const auto gaps = std::make_unique<std::atomic<bool>[]>(width);
    std::vector<Strangers> strangers(width);
    const auto code_columns = [&](const std::vector<size_t>& which) {
        std::vector<Finder> find;
        for (size_t c : which) find.emplace_back(columns_[c].end);
        pool.run(blocks, [&](int64_t block) {
            const int64_t begin = block * block_rows, end = std::min(table.rows, begin + block_rows);
            for (size_t i = 0; i < which.size(); ++i) {
                const size_t c = which[i];
                uint8_t* out = &by_column[c * static_cast<size_t>(table.rows) + static_cast<size_t>(begin)];
                code_block(numbers_of(c), columns_[c], find[i], begin, end, out, gaps[c], strangers[c]);
                uint8_t* across = &by_row[static_cast<size_t>(begin) * width + c];
                for (int64_t row = 0; row < end - begin; ++row) across[static_cast<size_t>(row) * width] = out[row];
            }
        });
    };
    std::vector<size_t> all, again;
    for (size_t c = 0; c < width; ++c) all.push_back(c);
    code_columns(all);
    for (size_t c = 0; c < width; ++c) {
        if (!strangers[c].any()) continue;
        strangers[c].settle(sample[c], columns_[c]);
        gaps[c] = false; // the second look tells
        again.push_back(c);
    }
    if (!again.empty()) code_columns(again);
    for (size_t c = 0; c < width; ++c) columns_[c].gaps = gaps[c];
    bins_ = lay_out(columns_);
    by_row_ = std::move(by_row);
    by_column_ = std::move(by_column);
}

CodedTable::CodedTable(const Table& table, std::vector<CodedColumn> columns, Array<uint8_t> by_row,
                       Array<uint8_t> by_column)
    : columns_(std::move(columns)),
      places_(table.columns.size(), -1),
      rows_(table.rows),
      by_row_(std::move(by_row)),
      by_column_(std::move(by_column)) {
    for (size_t c = 0; c < columns_.size(); ++c) {
        places_[static_cast<size_t>(columns_[c].column)] = static_cast<int>(c);
        bins_ = columns_[c].start + columns_[c].bins + (columns_[c].gaps ? 1 : 0);
    }
}

// --- tables in parts ---

namespace {

// Distinct values beyond this many are not told: they are more than bins in any case.
void cap(ColumnSketch& column) {
    make_distinct(column.distinct);
    column.many = column.many || column.distinct.size() > most_bins;
    if (column.distinct.size() > 2 * most_bins) column.distinct.resize(2 * most_bins);
}

} // namespace

void ColumnSketch::merge(const ColumnSketch& other) {
    gaps = gaps || other.gaps;
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
        auto find = std::make_unique<Finder>(found.many ? std::vector<double>{} : found.distinct);
        for (int64_t begin = 0; begin < table.rows; begin += block_rows) {
            const int64_t end = std::min(table.rows, begin + block_rows);
            const std::span<double> values(buffer.data(), static_cast<size_t>(end - begin));
            column.numbers.read(begin, values);
            for (const double x : values) found.gaps = found.gaps || x != x;
            if (found.many) {
                if (found.gaps) break;
                continue;
            }
            find->code(values, 0, codes.data());
            const size_t before = found.distinct.size();
            for (size_t i = 0; i < values.size(); ++i) {
                if (values[i] == values[i] && find->end(codes[i]) != values[i])
                    found.distinct.push_back(values[i] + 0.0);
            }
            if (found.distinct.size() == before) continue;
            cap(found);
            if (!found.many) find = std::make_unique<Finder>(found.distinct);
        }
    }
    return sketches;
}

std::vector<CodedColumn> bins_of(const Table& table, const std::vector<ColumnSketch>& sketches) {
    std::vector<CodedColumn> columns;
    for (size_t i = 0; i < table.columns.size(); ++i) {
        if (table.columns[i].kind != Kind::number) continue;
        const ColumnSketch& sketch = sketches[columns.size()];
        CodedColumn& column = columns.emplace_back();
        column.column = static_cast<int>(i);
        column.gaps = sketch.gaps;
        column.exact = !sketch.many;
        std::vector<double> sorted = sketch.sample.size() < most_bins ? sketch.distinct : sketch.sample;
        std::sort(sorted.begin(), sorted.end());
        column.end = column.exact ? sketch.distinct : quantile_ends(sorted);
    }
    lay_out(columns);
    return columns;
}

std::pair<LargeVector<uint8_t>, LargeVector<uint8_t>> code_by(const Table& table,
                                                              const std::vector<CodedColumn>& columns) {
    const size_t width = columns.size(), rows = static_cast<size_t>(table.rows);
    LargeVector<uint8_t> by_row(rows * width), by_column(rows * width);
    std::vector<Finder> find;
    for (const CodedColumn& column : columns) find.emplace_back(column.end);
    std::array<double, block_rows> buffer;
    for (size_t begin = 0; begin < rows; begin += block_rows) {
        const size_t count = std::min<size_t>(rows - begin, block_rows);
        for (size_t c = 0; c < width; ++c) {
            const std::span<double> values(buffer.data(), count);
            table.columns[static_cast<size_t>(columns[c].column)].numbers.read(static_cast<int64_t>(begin), values);
            uint8_t* out = &by_column[c * rows + begin];
            // Without a bin for them, values that are missing by now lie in the last.
            find[c].code(values, static_cast<uint8_t>(columns[c].gaps ? columns[c].bins : columns[c].bins - 1), out);
            for (size_t i = 0; i < count; ++i) by_row[(begin + i) * width + c] = out[i];
        }
    }
    return {std::move(by_row), std::move(by_column)};
}

} // namespace tw

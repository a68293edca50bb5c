#include "base/value_checks.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

namespace tw {

namespace {

constexpr int64_t block_rows = 512; // a block of a matrix stays in cache while its columns are read

// Whether all numbers of a matrix are finite.
template <class Value>
bool all_finite(const void* values, int64_t count, ThreadPool& pool) {
    constexpr int64_t block = 1 << 16;
    std::atomic<bool> finite{true};
    pool.run((count + block - 1) / block, [&](int64_t b) {
        const Value* first = static_cast<const Value*>(values) + b * block;
        if (any_nonfinite<Value>(first, std::min(block, count - b * block), false)) finite = false;
    });
    return finite;
}

} // namespace

ValueChecks check_values(const Table& table, const double* weight, ThreadPool& pool) {
    if (const void* matrix = as_matrix(table.columns)) {
        const int64_t count = table.rows * static_cast<int64_t>(table.columns.size());
        const bool finite = table.columns[0].numbers.single() ? all_finite<float>(matrix, count, pool)
                                                              : all_finite<double>(matrix, count, pool);
        if (finite) return {};
    }
    const int64_t blocks = (table.rows + block_rows - 1) / block_rows;
    const auto plain = [](const Numbers& numbers, int64_t begin, int64_t count) {
        return numbers.adjacent() && !(numbers.single() ? any_nonfinite<float>(numbers.address(begin), count, false)
                                                        : any_nonfinite<double>(numbers.address(begin), count, false));
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
                int negative = 0;
                for (int64_t row = begin; row < end; ++row) negative |= column.codes[row];
                for (int64_t row = begin; row < end && negative < 0; ++row) {
                    absent |= static_cast<int>(column.codes[row] < 0 && (!weight || weight[row] > 0));
                }
                continue;
            }
            if (plain(column.numbers, begin, end - begin)) continue;
            column.numbers.read(begin, values);
            int has_missing = 0;
            for (const double x : values) {
                infinite |= static_cast<int>(std::abs(x) > std::numeric_limits<double>::max());
                has_missing |= static_cast<int>(x != x);
            }
            for (size_t i = 0; i < values.size() && has_missing != 0; ++i) {
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

} // namespace tw

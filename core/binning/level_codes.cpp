#include "binning/level_codes.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

namespace tw {
namespace {

constexpr int64_t block_rows = 1024; // a block of a matrix stays in cache while its columns are read
constexpr int32_t farthest = 1 << 30;
constexpr int32_t missing = std::numeric_limits<int32_t>::min();

// A column on its way to codes: until the range of its numbers is known, a code is the number itself.
struct WholeNumbers {
    LargeVector<int32_t> number;
    int32_t least = farthest, most = -farthest;
    bool whole = true;

    void append(std::span<const double> values, int64_t begin) {
        int32_t* out = number.data() + begin;
        int32_t low = least, high = most, odd = 0;
        for (const double x : values) {
            const bool fits = x >= -farthest && x <= farthest; // NaN does not
            const int32_t place = static_cast<int32_t>(fits ? x : 0.0);
            odd |= static_cast<int>(x == x) & static_cast<int>(static_cast<double>(place) != x);
            low = std::min(low, fits ? place : farthest);
            high = std::max(high, fits ? place : -farthest);
            *out++ = x == x ? place : missing;
        }
        least = low;
        most = high;
        whole = whole && odd == 0;
    }
};

std::optional<LevelCodes> coded(WholeNumbers column) {
    const int64_t rows = static_cast<int64_t>(column.number.size());
    const int64_t range = static_cast<int64_t>(column.most) - column.least;
    if (!column.whole || range < 0 || range > 4 * rows) return std::nullopt;
    const size_t no_value = static_cast<size_t>(range) + 1; // the place of missing values, after all others
    const auto place = [&](int32_t number) {
        return number == missing ? no_value : static_cast<size_t>(static_cast<int64_t>(number) - column.least);
    };
    std::vector<int32_t> code(no_value + 1, -1);
    for (const int32_t number : column.number) code[place(number)] = 0;
    LevelCodes found;
    for (size_t i = 0; i < no_value; ++i) {
        if (code[i] < 0) continue;
        code[i] = static_cast<int32_t>(found.level.size());
        found.level.push_back(static_cast<double>(column.least + static_cast<int64_t>(i)));
    }
    code[no_value] = -1;
    if (found.level.size() == no_value) { // no gaps: nothing to look up
        for (int32_t& number : column.number) number = number == missing ? -1 : number - column.least;
    } else {
        for (int32_t& number : column.number) number = code[place(number)];
    }
    found.code = std::move(column.number);
    return found;
}

} // namespace

std::vector<std::optional<LevelCodes>> count_levels(const std::vector<Numbers>& columns, int64_t rows) {
    std::vector<WholeNumbers> numbers(columns.size());
    for (WholeNumbers& column : numbers) column.number.resize(static_cast<size_t>(rows));
    std::array<double, block_rows> buffer;
    for (int64_t begin = 0; begin < rows; begin += block_rows) {
        const std::span<double> values(buffer.data(), static_cast<size_t>(std::min(block_rows, rows - begin)));
        for (size_t c = 0; c < columns.size(); ++c) {
            if (!numbers[c].whole) continue;
            columns[c].read(begin, values);
            numbers[c].append(values, begin);
        }
    }
    std::vector<std::optional<LevelCodes>> found;
    for (WholeNumbers& column : numbers) found.push_back(coded(std::move(column)));
    return found;
}

} // namespace tw

#include "ladder.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "breathe.hpp"

namespace tw {
namespace {

struct Placed {
    double value;
    uint32_t row;
};

// Codes are rungs: one value stands for each bin.
Ladder one_rung_a_bin(const Numbers& numbers, const CodedColumn& column, const uint8_t* codes, int64_t rows) {
    Ladder ladder;
    ladder.value.assign(static_cast<size_t>(column.bins), 0.0);
    ladder.start.resize(static_cast<size_t>(column.bins) + 1);
    std::iota(ladder.start.begin(), ladder.start.end(), 0U);
    for (int64_t row = 0; row < rows; ++row) {
        if (codes[row] < column.bins) ladder.value[codes[row]] = column.within(codes[row], numbers[row]);
    }
    return ladder;
}

} // namespace

Ladder climb(const Table& table, const CodedTable& coded, size_t place) {
    const CodedColumn& column = coded.columns()[place];
    const Numbers& numbers = table.columns[static_cast<size_t>(column.column)].numbers;
    const uint8_t* codes = coded.column(place);
    if (column.exact) return one_rung_a_bin(numbers, column, codes, table.rows);
    // Rows are sorted by counting their codes, then by value within each bin.
    const size_t bins = static_cast<size_t>(column.bins);
    std::vector<size_t> next(bins + 2, 0);
    for (int64_t row = 0; row < table.rows; ++row) ++next[static_cast<size_t>(codes[row]) + 1];
    for (size_t bin = 1; bin < next.size(); ++bin) next[bin] += next[bin - 1];
    const std::vector<size_t> first = next;
    LargeVector<Placed> placed(static_cast<size_t>(table.rows));
    for (int64_t row = 0; row < table.rows; ++row) {
        const int code = codes[row];
        const double value = code < column.bins ? column.within(code, numbers[row]) : 0.0;
        placed[next[code]++] = {value, static_cast<uint32_t>(row)};
    }
    Ladder ladder;
    ladder.rung_of = LargeVector<uint32_t>(static_cast<size_t>(table.rows));
    for (size_t bin = 0; bin < bins; ++bin) {
        breathe();
        ladder.start.push_back(static_cast<uint32_t>(ladder.value.size()));
        const auto begin = placed.begin() + static_cast<std::ptrdiff_t>(first[bin]);
        const auto end = placed.begin() + static_cast<std::ptrdiff_t>(first[bin + 1]);
        std::sort(begin, end, [](const Placed& a, const Placed& b) { return a.value < b.value; });
        for (auto at = begin; at != end; ++at) {
            if (at == begin || at->value != (at - 1)->value) ladder.value.push_back(at->value);
            ladder.rung_of[at->row] = static_cast<uint32_t>(ladder.value.size() - 1);
        }
    }
    ladder.start.push_back(static_cast<uint32_t>(ladder.value.size()));
    return ladder;
}

std::vector<uint32_t> rungs_taken(const Ladder& ladder, const CodedTable& coded, size_t place,
                                  std::span<const uint32_t> rows) {
    const int missing = coded.columns()[place].bins;
    const uint8_t* codes = coded.column(place);
    const uint32_t* rung_of = ladder.rung_of.empty() ? nullptr : ladder.rung_of.data();
    std::vector<uint64_t> taken(ladder.value.size() / 64 + 1, 0);
    for (const uint32_t row : rows) {
        if (codes[row] == missing) continue;
        const uint32_t rung = rung_of ? rung_of[row] : codes[row];
        taken[rung / 64] |= uint64_t{1} << (rung % 64);
    }
    std::vector<uint32_t> rungs;
    rungs.reserve(std::min(rows.size(), ladder.value.size()));
    for (size_t word = 0; word < taken.size(); ++word) {
        for (uint64_t left = taken[word]; left != 0; left &= left - 1) {
            rungs.push_back(static_cast<uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(left))));
        }
    }
    return rungs;
}

} // namespace tw

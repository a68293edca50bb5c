#include "binning/value_ranks.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/interrupt.hpp"

namespace tw {
namespace {

struct ValueAndRow {
    double value;
    uint32_t row;
};

// Codes are ranks: one value stands for each bin.
ValueRanks one_rank_per_bin(const Numbers& numbers, const ColumnBins& column, const uint8_t* bin_of_row, int64_t rows) {
    ValueRanks ranks;
    ranks.value.assign(static_cast<size_t>(column.bins), 0.0);
    ranks.start.resize(static_cast<size_t>(column.bins) + 1);
    std::iota(ranks.start.begin(), ranks.start.end(), 0U);
    for (int64_t row = 0; row < rows; ++row) {
        if (bin_of_row[row] < column.bins) ranks.value[bin_of_row[row]] = column.within(bin_of_row[row], numbers[row]);
    }
    return ranks;
}

} // namespace

ValueRanks rank_values(const Table& table, const BinnedTable& binned, BinnedColumn index) {
    const ColumnBins& column = binned.columns()[index];
    const Numbers& numbers = table.columns[column.column.offset()].numbers;
    const uint8_t* bin_of_row = binned.column(index);
    if (column.exact) return one_rank_per_bin(numbers, column, bin_of_row, table.rows);
    // Rows are sorted by counting their codes, then by value within each bin.
    const size_t bins = static_cast<size_t>(column.bins);
    std::vector<size_t> next(bins + 2, 0);
    for (int64_t row = 0; row < table.rows; ++row) ++next[static_cast<size_t>(bin_of_row[row]) + 1];
    for (size_t bin = 1; bin < next.size(); ++bin) next[bin] += next[bin - 1];
    const std::vector<size_t> first = next;
    LargeVector<ValueAndRow> sorted(static_cast<size_t>(table.rows));
    for (int64_t row = 0; row < table.rows; ++row) {
        const int code = bin_of_row[row];
        const double value = code < column.bins ? column.within(code, numbers[row]) : 0.0;
        sorted[next[code]++] = {value, static_cast<uint32_t>(row)};
    }
    ValueRanks ranks;
    ranks.rank_of = LargeVector<uint32_t>(static_cast<size_t>(table.rows));
    for (size_t bin = 0; bin < bins; ++bin) {
        check_interrupt();
        ranks.start.push_back(static_cast<uint32_t>(ranks.value.size()));
        const auto begin = sorted.begin() + static_cast<std::ptrdiff_t>(first[bin]);
        const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(first[bin + 1]);
        std::sort(begin, end, [](const ValueAndRow& a, const ValueAndRow& b) { return a.value < b.value; });
        for (auto at = begin; at != end; ++at) {
            if (at == begin || at->value != (at - 1)->value) ranks.value.push_back(at->value);
            ranks.rank_of[at->row] = static_cast<uint32_t>(ranks.value.size() - 1);
        }
    }
    ranks.start.push_back(static_cast<uint32_t>(ranks.value.size()));
    return ranks;
}

std::vector<uint32_t> ranks_present(const ValueRanks& ranks, const BinnedTable& binned, BinnedColumn column,
                                    std::span<const uint32_t> rows) {
    const int missing = binned.columns()[column].bins;
    const uint8_t* bin_of_row = binned.column(column);
    const uint32_t* rank_of = ranks.rank_of.empty() ? nullptr : ranks.rank_of.data();
    std::vector<uint64_t> taken(ranks.value.size() / 64 + 1, 0);
    for (const uint32_t row : rows) {
        if (bin_of_row[row] == missing) continue;
        const uint32_t rank = rank_of ? rank_of[row] : bin_of_row[row];
        taken[rank / 64] |= uint64_t{1} << (rank % 64);
    }
    std::vector<uint32_t> present;
    present.reserve(std::min(rows.size(), ranks.value.size()));
    for (size_t word = 0; word < taken.size(); ++word) {
        for (uint64_t left = taken[word]; left != 0; left &= left - 1) {
            present.push_back(static_cast<uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(left))));
        }
    }
    return present;
}

} // namespace tw

#include "binning/value_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/interrupt.hpp"
#include "binning/prefetch.hpp"

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

bool is_lower(const ValueAndRow& a, const ValueAndRow& b) { return a.value < b.value; }

// Many values are spread over cells of equal width first, about one in each.
void order_by_value(std::span<ValueAndRow> rows, std::vector<ValueAndRow>& spare, std::vector<uint32_t>& next) {
    constexpr size_t few = 32;
    const auto [lowest, highest] = std::minmax_element(rows.begin(), rows.end(), is_lower);
    const double start = rows.empty() ? 0 : lowest->value, width = rows.empty() ? 0 : highest->value - start;
    const double per_value = static_cast<double>(rows.size() - 1) / width;
    if (rows.size() <= few || !std::isfinite(width) || !std::isfinite(per_value)) {
        return std::sort(rows.begin(), rows.end(), is_lower);
    }
    const auto cell_of = [&](double x) { return static_cast<size_t>((x - start) * per_value); };
    next.assign(rows.size() + 2, 0);
    for (const ValueAndRow& row : rows) ++next[cell_of(row.value) + 2];
    for (size_t cell = 2; cell < next.size(); ++cell) next[cell] += next[cell - 1];
    spare.assign(rows.begin(), rows.end());
    for (const ValueAndRow& row : spare) rows[next[cell_of(row.value) + 1]++] = row;
    for (size_t cell = 0; cell < spare.size(); ++cell) { // each now ends where the next one starts
        if (next[cell + 1] - next[cell] > 1) {
            std::sort(rows.begin() + next[cell], rows.begin() + next[cell + 1], is_lower);
        }
    }
}

// Rows are sorted by counting their codes, then by value within each bin.
ValueRanks rank_rows(const Numbers& numbers, const ColumnBins& column, const uint8_t* bin_of_row, int64_t rows) {
    const size_t bins = static_cast<size_t>(column.bins);
    std::vector<size_t> next(bins + 2, 0);
    for (int64_t row = 0; row < rows; ++row) ++next[static_cast<size_t>(bin_of_row[row]) + 1];
    for (size_t bin = 1; bin < next.size(); ++bin) next[bin] += next[bin - 1];
    const std::vector<size_t> first = next;
    LargeVector<ValueAndRow> sorted(static_cast<size_t>(rows));
    for (int64_t row = 0; row < rows; ++row) {
        const int code = bin_of_row[row];
        const double value = code < column.bins ? column.within(code, numbers[row]) : 0.0;
        sorted[next[code]++] = {value, static_cast<uint32_t>(row)};
    }
    std::vector<ValueAndRow> spare;
    std::vector<uint32_t> cells;
    ValueRanks ranks;
    ranks.rank_of = LargeVector<uint32_t>(static_cast<size_t>(rows));
    for (size_t bin = 0; bin < bins; ++bin) {
        check_interrupt();
        ranks.start.push_back(static_cast<uint32_t>(ranks.value.size()));
        const auto begin = sorted.begin() + static_cast<std::ptrdiff_t>(first[bin]);
        const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(first[bin + 1]);
        order_by_value({begin, end}, spare, cells);
        for (auto at = begin; at != end; ++at) {
            if (at == begin || at->value != (at - 1)->value) ranks.value.push_back(at->value);
            ranks.rank_of[at->row] = static_cast<uint32_t>(ranks.value.size() - 1);
        }
    }
    ranks.start.push_back(static_cast<uint32_t>(ranks.value.size()));
    for (size_t at = first[bins]; at < sorted.size(); ++at) ranks.rank_of[sorted[at].row] = ranks.start.back();
    return ranks;
}

} // namespace

ValueRanks rank_values(const Table& table, const BinnedTable& binned, BinnedColumn index, double min_gap) {
    const ColumnBins& column = binned.columns()[index];
    const Numbers& numbers = table.columns[column.column.offset()].numbers;
    const auto rank = column.exact ? one_rank_per_bin : rank_rows;
    ValueRanks ranks = rank(numbers, column, binned.column(index), table.rows);
    ranks.wide_after.assign(words_for(ranks.value.size()), 0);
    for (size_t i = 0; i + 1 < ranks.value.size(); ++i) {
        if (is_separable(ranks.value[i], ranks.value[i + 1], min_gap)) set_bit(ranks.wide_after, i);
    }
    return ranks;
}

RankBits ranks_present(const ValueRanks& ranks, const BinnedTable& binned, BinnedColumn column,
                       std::span<const uint32_t> rows) {
    RankBits present(words_for(ranks.value.size()), 0);
    if (ranks.rank_of.empty()) {
        const uint8_t* bin_of_row = binned.column(column);
        for (const uint32_t row : rows) set_bit(present, bin_of_row[row]);
    } else {
        for (size_t i = 0; i < rows.size(); ++i) {
            prefetch(&ranks.rank_of[rows[std::min(i + prefetch_distance, rows.size() - 1)]]);
            set_bit(present, ranks.rank_of[rows[i]]);
        }
    }
    present[ranks.value.size() / 64] &= bits_before(ranks.value.size()); // a missing value has no rank
    return present;
}

std::vector<double> values_present(const ValueRanks& ranks, const BinnedTable& binned, BinnedColumn column,
                                   std::span<const uint32_t> rows) {
    std::vector<double> values;
    const RankBits present = ranks_present(ranks, binned, column, rows);
    for (size_t rank = 0; rank < ranks.value.size(); ++rank) {
        if (has_bit(present, rank)) values.push_back(ranks.value[rank] + 0.0); // -0 and 0 are one value
    }
    return values;
}

int64_t count_wide(const ValueRanks& ranks, const RankBits& present, size_t first, size_t last, double min_gap) {
    int64_t wide = 0;
    for (size_t word = first / 64; word <= last / 64; ++word) {
        uint64_t lower = present[word]; // the lower ranks of the pairs
        if (word == first / 64) lower &= ~bits_before(first);
        if (word == last / 64) lower &= bits_before(last);
        if (lower == 0) continue;
        const uint64_t next = word + 1 < present.size() ? present[word + 1] : 0;
        const uint64_t close = lower & ~ranks.wide_after[word], beside = present[word] >> 1 | next << 63;
        wide += count_bits(lower & ~(close & beside)); // but for those next to a close rank
        for (uint64_t left = close & ~beside; left != 0; left &= left - 1) {
            // The next rank present, and the gaps up to it, are nearly always within the word.
            const size_t low = least_of(word, left);
            const uint64_t above = present[word] & ~bits_before(low) & ~(left & ~(left - 1));
            const uint64_t between = (above & ~(above - 1)) - 1;
            if (above != 0 && (ranks.wide_after[word] & between & ~bits_before(low)) != 0) continue;
            wide -= !ranks.is_wide(low, next_from(present, low + 1), min_gap);
        }
    }
    return wide;
}

} // namespace tw

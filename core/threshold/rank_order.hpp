// Sorting rows by the rank of their values: by counting digits, in time that grows with the rows alone.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace tw {

// Rows have a `rank` from `first` to `last`; equals keep their order. `spare` is room for as many rows.
template <class Row>
void order_by_rank(std::span<Row> rows, uint32_t first, uint32_t last, std::vector<Row>& spare) {
    constexpr size_t few = 16;
    if (rows.size() <= few) {
        for (size_t i = 1; i < rows.size(); ++i) {
            const Row moved = rows[i];
            size_t to = i;
            for (; to > 0 && moved.rank < rows[to - 1].rank; --to) rows[to] = rows[to - 1];
            rows[to] = moved;
        }
        return;
    }
    constexpr int widest = 10;
    const int bits = std::bit_width(last - first),
              most = std::min(widest, static_cast<int>(std::bit_width(rows.size())));
    const int digits = (bits + most - 1) / most;
    spare.resize(std::max(spare.size(), rows.size()));
    Row *from = rows.data(), *to = spare.data();
    for (int digit = 0; digit < digits; ++digit) {
        const int width = (bits + digits - 1) / digits, shift = digit * width;
        const uint32_t mask = (uint32_t{1} << width) - 1;
        std::array<uint32_t, (size_t{1} << widest) + 1> next;
        std::fill_n(next.begin(), mask + 2, 0);
        for (size_t i = 0; i < rows.size(); ++i) ++next[((from[i].rank - first) >> shift & mask) + 1];
        for (uint32_t d = 1; d <= mask; ++d) next[d] += next[d - 1];
        for (size_t i = 0; i < rows.size(); ++i) to[next[(from[i].rank - first) >> shift & mask]++] = from[i];
        std::swap(from, to);
    }
    if (from != rows.data()) std::copy_n(from, rows.size(), rows.data());
}

} // namespace tw

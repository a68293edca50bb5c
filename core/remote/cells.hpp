// Counting the rows of key ranges into cells.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "criterion/counters.hpp"
#include "remote/protocol.hpp"

namespace tw {

constexpr uint64_t max_dense_cells = 256;

// A row in a cell of a range.
struct CellRow {
    uint64_t cell;
    uint32_t row;
};

// The cells of each range, from the rows in it; what a row adds is `item(row)`.
template <CutCounter Counter, class ItemOf>
void count_into_cells(const Counter& counter, std::span<const KeyRange> ranges,
                      std::vector<std::vector<CellRow>>& rows_of_range, std::vector<Cells>& out, const ItemOf& item) {
    using Word = typename Counter::Word;
    const size_t words = static_cast<size_t>(counter.words());
    for (size_t i = 0; i < rows_of_range.size(); ++i) {
        std::vector<CellRow>& inside = rows_of_range[i];
        Cells& cells = out.emplace_back();
        auto& counts = cells.counts.template of<Word>();
        const uint64_t last = (ranges[i].last - ranges[i].first) >> ranges[i].shift;
        if (last < max_dense_cells) { // counted where they stand
            std::vector<Word> all((last + 1) * words, Word{0});
            for (const auto& [cell, row] : inside) counter.add(&all[cell * words], item(row));
            for (uint64_t cell = 0; cell <= last; ++cell) {
                if (counter.listed(&all[cell * words]) == 0) continue;
                cells.cell.push_back(cell);
                for (size_t w = 0; w < words; ++w) counts.push_back(all[cell * words + w]);
            }
            continue;
        }
        std::sort(inside.begin(), inside.end(), [](const CellRow& a, const CellRow& b) { return a.cell < b.cell; });
        for (const auto& [cell, row] : inside) {
            if (cells.cell.empty() || cells.cell.back() != cell) {
                cells.cell.push_back(cell);
                counts.resize(counts.size() + words, 0);
            }
            counter.add(reinterpret_cast<Word*>(&counts[counts.size() - words]), item(row));
        }
    }
}

} // namespace tw

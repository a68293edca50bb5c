#include "binning/level_table.hpp"

#include <algorithm>

namespace tw {

LevelTable::LevelTable(const Table& table, ThreadPool& pool) : index_of_column_(table.columns.size(), -1) {
    for (size_t i = 0; i < table.columns.size(); ++i) {
        if (!is_counted_by_level(table.columns[i])) continue;
        index_of_column_[i] = static_cast<int>(columns_.size());
        columns_.push_back({TableColumn(i), table.columns[i].levels, cells_});
        cells_ += table.columns[i].levels + 1;
    }
    const size_t width = columns_.size(), rows = static_cast<size_t>(table.rows);
    codes_ = LargeVector<uint16_t>(rows * width);
    constexpr size_t block_rows = 4096;
    pool.run(static_cast<int64_t>(width > 0 ? (rows + block_rows - 1) / block_rows : 0), [&](int64_t block) {
        const size_t begin = static_cast<size_t>(block) * block_rows, end = std::min(rows, begin + block_rows);
        for (size_t c = 0; c < width; ++c) {
            const int32_t* codes = table.columns[columns_[c].column.offset()].codes;
            const size_t levels = static_cast<size_t>(columns_[c].levels);
            for (size_t row = begin; row < end; ++row) {
                codes_[row * width + c] = static_cast<uint16_t>(std::min(levels, static_cast<size_t>(codes[row])));
            }
        }
    });
}

} // namespace tw

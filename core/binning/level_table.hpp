// Columns of levels as 16-bit codes, row by row: the levels of a row lie together.
//
// A level is counted in the cell of its code, a missing one in the cell after the last level.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/index.hpp"
#include "base/large_vector.hpp"
#include "base/table.hpp"
#include "base/thread_pool.hpp"

namespace tw {

struct LevelColumn {
    TableColumn column;
    int levels = 0;
    int start = 0; // place of its first cell among those of all columns
};

// Columns with more levels are counted value by value: most cells of a histogram would be empty.
constexpr int max_counted_levels = 4096;
inline bool is_counted_by_level(const Column& column) {
    return column.kind != Kind::number && column.allowed && column.levels > 0 && column.levels <= max_counted_levels;
}

class LevelTable {
public:
    LevelTable() = default;
    LevelTable(const Table& table, ThreadPool& pool);

    const std::vector<LevelColumn>& columns() const { return columns_; }
    int cells() const { return cells_; } // of all columns
    const uint16_t* row(int64_t i) const { return codes_.data() + static_cast<size_t>(i) * columns_.size(); }
    // Null: the column is not counted by level.
    const LevelColumn* find(TableColumn column) const {
        const int at = index_of_column_.empty() ? -1 : index_of_column_[column.offset()];
        return at < 0 ? nullptr : &columns_[static_cast<size_t>(at)];
    }

private:
    std::vector<LevelColumn> columns_;
    std::vector<int> index_of_column_; // per column of the table, -1: none
    int cells_ = 0;
    LargeVector<uint16_t> codes_;
};

} // namespace tw

// The child of each row of a binned table.
//
// Equals `route_row`; for a threshold the bin decides, except in the bin that holds the threshold, for levels the code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/split.hpp"
#include "binning/binned_table.hpp"
#include "target/measure.hpp"

namespace tw {

class RowRouter {
public:
    RowRouter(const BinnedTable& binned, const std::vector<Column>& columns, const Split& split,
              const std::vector<Split>& surrogates, uint64_t node_key);

    // `child`: one per row, negative for rows that stop here; `count`: added to, one per child.
    void route(std::span<const uint32_t> rows, int32_t* child, std::span<size_t> count) const;

private:
    int route_one(uint32_t row) const;
    void route_by_bin(std::span<const uint32_t> rows, int32_t* child, std::span<size_t> count) const;
    void route_by_code(std::span<const uint32_t> rows, int32_t* child, std::span<size_t> count) const;

    const std::vector<Column>& columns_;
    const Split& split_;
    const std::vector<Split>& surrogates_;
    uint64_t node_key_;
    const uint8_t* bin_ = nullptr; // of the split's column, if it is a number with one limit
    int limit_bin_ = 0, missing_ = 0;
    const int32_t* codes_ = nullptr; // of the split's column, if it has levels
};

// Calls put(child, entry) for wherever each entry goes.
template <class Put>
void route_entries(const std::vector<Column>& columns, uint64_t node_key, const Split& split,
                   const std::vector<Split>& surrogates, std::span<const Entry> entries, const Put& put) {
    for (const Entry& entry : entries) {
        const int child = route_row(split, surrogates, columns, entry.row, split.share, node_key).child;
        share_weight(split.share, child, entry.weight,
                     [&](int to, int64_t weight) { put(to, Entry{entry.row, weight}); });
    }
}

} // namespace tw

// The child of each row of a binned table.
//
// Equals `routed_child`; for a threshold the bin decides, except in the bin that holds the threshold.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.hpp"
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

    const std::vector<Column>& columns_;
    const Split& split_;
    const std::vector<Split>& surrogates_;
    uint64_t node_key_;
    const uint8_t* bin_ = nullptr; // of the split's column, if it is a number with one limit
    int limit_bin_ = 0, missing_ = 0;
};

// Calls put(child, weight) for wherever an entry of this weight goes, by what the split says of it: to a child, to all
// of them in parts (spread), or nowhere.
template <class Put>
void share_weight(const Split& split, int child, int64_t weight, const Put& put) {
    if (child >= 0) return put(child, weight);
    if (child != fractional) return;
    for (int i = 0; i < split.children(); ++i) {
        const int64_t part = std::llround(static_cast<double>(weight) * split.share[i]);
        if (part > 0) put(i, part);
    }
}

// Calls put(child, entry) for wherever each entry goes.
template <class Put>
void route_entries(const std::vector<Column>& columns, uint64_t node_key, const Split& split,
                   const std::vector<Split>& surrogates, std::span<const Entry> entries, const Put& put) {
    for (const Entry& entry : entries) {
        int child = routed_child(split, surrogates, columns, entry.row);
        if (child == random_child) child = draw_child(split.share, node_key, hash_row(columns, entry.row));
        share_weight(split, child, entry.weight, [&](int to, int64_t weight) { put(to, Entry{entry.row, weight}); });
    }
}

} // namespace tw

// Column sampling: which columns a node may look at where the recipe limits their number (Stopping::max_features).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/hash.hpp"

namespace tw {

// Keeps the first `wanted` of these columns in an order that every node has for itself.
inline void draw_columns(uint64_t node_key, size_t wanted, std::vector<int>& columns) {
    std::sort(columns.begin(), columns.end(), [node_key](int a, int b) {
        return mix(node_key, static_cast<uint64_t>(a)) < mix(node_key, static_cast<uint64_t>(b));
    });
    if (columns.size() > wanted) columns.resize(wanted);
    std::sort(columns.begin(), columns.end());
}
inline bool is_drawn(const std::vector<int>& drawn, int column) {
    return std::binary_search(drawn.begin(), drawn.end(), column);
}

} // namespace tw

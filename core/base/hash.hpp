// Random choices without state: a draw is a hash of the seed, the node's path and the row's values, so it does not
// depend on the order of rows, threads or partitions.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/table.hpp"

namespace tw {

inline uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t x = a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2));
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

inline uint64_t hash_row(const std::vector<Column>& columns, int64_t row) {
    uint64_t hash = 1;
    for (const Column& column : columns) {
        if (column.kind == Kind::number) {
            const double x = column.numbers[row];
            hash = mix(hash, std::isnan(x) ? 0x7ff8ULL : std::bit_cast<uint64_t>(x == 0 ? 0.0 : x));
        } else {
            hash = mix(hash, static_cast<uint64_t>(static_cast<int64_t>(column.codes[row])));
        }
    }
    return hash;
}

// A child, each with its share as probability.
inline int draw_child(std::span<const double> share, uint64_t node_key, uint64_t row_hash) {
    const double u = static_cast<double>(mix(node_key, row_hash) >> 11) * 0x1.0p-53;
    double reached = 0;
    int last = 0;
    for (int i = 0; i < static_cast<int>(share.size()); ++i) {
        if (!(share[i] > 0)) continue;
        reached += share[i];
        last = i;
        if (u < reached) return i;
    }
    return last;
}

// A node's key is made from its path, so that draws do not depend on the order of growing.
inline uint64_t root_key(uint64_t seed) { return mix(seed, 0); }
inline uint64_t child_key(uint64_t key, size_t child) { return mix(key, child + 1); }

} // namespace tw

// A flat tree made ready for rows: one fork per node, as routing reads it.
//
// Comes in: flat arrays. Goes out: splits, surrogates and children, and the keys by which random children are drawn.
// Always holds: keys name a node by its path, so a row goes where it went while the tree was grown.
#pragma once

#include <vector>

#include "draw.hpp"
#include "tree.hpp"

namespace tw {

struct Fork {
    Split split; // of nodes with children
    std::vector<Split> surrogates;
    std::vector<int32_t> children;
};

std::vector<Fork> forks_of(const FlatTree& flat);

// Where a row goes at a fork with children, chance drawn: a child, or spread or stop_here.
inline Way way_of(const Fork& fork, uint64_t key, const std::vector<Column>& columns, int64_t row) {
    Way way = way_of(fork.split, fork.surrogates, columns, row);
    if (way.child == random_child) way.child = draw_child(fork.split.share, key, hash_row(columns, row));
    return way;
}

inline uint64_t root_key(uint64_t seed) { return mix(seed, 0); }
inline uint64_t child_key(uint64_t key, size_t child) { return mix(key, child + 1); }
std::vector<uint64_t> keys_of(const std::vector<Fork>& forks, uint64_t seed);

} // namespace tw

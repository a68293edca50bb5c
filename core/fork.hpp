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

inline uint64_t root_key(uint64_t seed) { return mix(seed, 0); }
inline uint64_t child_key(uint64_t key, size_t child) { return mix(key, child + 1); }

} // namespace tw

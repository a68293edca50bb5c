// Two trees on the same rows: which node of one holds the rows of a node of the other, and how alike their leaves are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tw {

// A tree and where rows end in it. Nodes are numbered depth first.
struct EndsInTree {
    std::span<const int32_t> leaf;   // per row
    std::span<const int32_t> parent; // per node
};

struct Overlap {
    // For each node looked up, the node of the second tree that shares most of its rows by the Jaccard index (rows in
    // both over rows in either), the one nearest the root among equals; and that index.
    std::vector<int32_t> closest;
    std::vector<double> jaccard;
    // How far both trees put the same pairs of rows into one leaf: 1 if all, 0 as chance would (adjusted Rand index,
    // Hubert and Arabie 1985).
    double rand = 1;
};

// `nodes`: those of the first tree that are looked up. Few pairs of nodes are counted in a table, many in lists.
Overlap overlap_of(const EndsInTree& first, const EndsInTree& second, std::span<const int32_t> nodes);
// The same, with the form to count by.
Overlap overlap_in_table(const EndsInTree& first, const EndsInTree& second, std::span<const int32_t> nodes);
Overlap overlap_in_lists(const EndsInTree& first, const EndsInTree& second, std::span<const int32_t> nodes);

} // namespace tw

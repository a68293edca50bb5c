// Rows: the only thing that sees rows. Growing asks it to count and to divide, nothing else.
//
// Always holds: nodes are numbered by the caller; counting a node is const and may run on many threads; what is counted
// does not depend on the order of rows.
#pragma once

#include <vector>

#include "branching.hpp"
#include "buckets.hpp"
#include "split.hpp"

namespace tw {

// The whole node as a single bin, and the range of a numeric target in it.
struct Total {
    Buckets all;
    double low = 0;
    double high = 0;
};

class Rows {
public:
    virtual ~Rows() = default;

    virtual int columns() const = 0;
    virtual const ColumnFacts& facts(int column) const = 0;

    virtual Total total(int node) const = 0;
    // Target statistics per bin of a column, and of the entries where it is missing.
    virtual Buckets count(int node, int column) const = 0;
    // The same with the child that `split` sends each entry to as the target: a bin's sums are the weight per child,
    // then the rows per child. Entries that cannot answer the split are not counted, but their bin is listed.
    virtual Buckets count_children(int node, int column, const Split& split) const = 0;
    // Sends the node's entries to its children, new nodes numbered first, first + 1, ...; the node is forgotten.
    virtual void divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates,
                        int first) = 0;
    // Makes room for nodes below this number; divide may then run on many threads.
    virtual void reserve(int nodes) = 0;
    // Rows the tree is grown on.
    virtual int64_t used_rows() const = 0;
};

} // namespace tw

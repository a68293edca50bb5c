// Rows: the only thing that sees rows. Growing asks it to count and to divide, nothing else.
//
// Always holds: nodes are numbered by the caller; counting a node is const and may run on many threads; what is counted
// does not depend on the order of rows.
#pragma once

#include <memory>
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

// A node whose split is wanted.
struct Ask {
    int node;
    NodeFacts facts;
};

struct Detached;

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

    // The best candidate of every column for each node. This is count and choose per column; rows that can count many
    // nodes and columns at once, or find the best without looking at every value, do better.
    virtual std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<Ask>& asks, int threads);
    // A small node's rows by themselves, if its subtree is better grown apart.
    virtual std::unique_ptr<Detached> detach(int /*node*/) const { return nullptr; }
    // Nodes of at most this many rows are worth detaching.
    virtual int64_t small() const { return 0; }
};

// Rows of one small node, renumbered from 0, with the target as they see it.
struct Detached {
    virtual ~Detached() = default;
    virtual Rows& rows() = 0;
    virtual const Measure& measure() const = 0;
};

} // namespace tw

// Rows: the only thing that sees rows. Growing asks it to count and to divide, nothing else.
//
// Always holds: nodes are numbered by the caller; what is counted does not depend on the order of rows.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "branching.hpp"
#include "gather.hpp"
#include "pool.hpp"
#include "split.hpp"
#include "surrogate.hpp"

namespace tw {

// A node whose split is wanted.
struct Ask {
    int node;
    NodeFacts facts;
};

class Rows {
public:
    virtual ~Rows() = default;

    virtual const Source& source() const = 0;
    int columns() const { return static_cast<int>(source().table.columns.size()); }
    // Rows the tree is grown on.
    virtual int64_t used_rows() const = 0;

    virtual Total total(int node) const = 0;
    // The best candidate of every column for each node. A column that cannot be among the best and its rivals may be
    // left out.
    virtual std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<Ask>& asks,
                                                           Pool& pool) = 0;
    // The best imitation of the split by every other column, in order of columns.
    virtual std::vector<Surrogate> surrogates(const Task& task, int node, const Split& split, Pool& pool) = 0;
    // Sends the node's entries to its children, new nodes numbered first, first + 1, ...; the node is forgotten.
    virtual void divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates,
                        int first, Pool& pool) = 0;
    // Makes room for nodes below this number; divide may then run on many threads.
    virtual void reserve(int nodes) = 0;

    // Nodes of at most this many rows are better grown apart: by one thread each, on rows of their own.
    virtual int64_t apart() const { return 0; }
    virtual std::unique_ptr<Rows> detach(int /*node*/) { return nullptr; }
};

} // namespace tw

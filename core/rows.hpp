// Rows: the only thing that sees rows. Growing asks it to count and to divide, nothing else.
//
// Always holds: nodes are numbered by the caller; what is counted does not depend on the order of rows.
#pragma once

#include <memory>
#include <optional>
#include <span>
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
// A node with a split that others should imitate.
struct Chosen {
    int node;
    const Split* split;
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
    // The same for many nodes, which rows that lie elsewhere would rather be asked about at once.
    virtual std::vector<std::vector<Surrogate>> surrogates_of(const Task& task, const std::vector<Chosen>& chosen,
                                                              Pool& pool) {
        std::vector<std::vector<Surrogate>> found;
        for (const auto& [node, split] : chosen) found.push_back(surrogates(task, node, *split, pool));
        return found;
    }
    // Sends the node's entries to its children, new nodes numbered first, first + 1, ...; the node is forgotten.
    virtual void divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates,
                        int first, Pool& pool) = 0;
    // Makes room for nodes below this number; divide may then run on many threads.
    virtual void reserve(int nodes) = 0;
    // All nodes of a level are divided: from now on the children's totals are asked for. `levels`: so many more may
    // follow below the children.
    virtual void settle(int64_t /*levels*/) {}

    // Whether a node of so many rows, with so many levels to come at most, is better grown apart: by one thread, on
    // rows of its own.
    virtual bool is_apart(int64_t /*rows*/, int64_t /*levels*/) const { return false; }
    // Whether a node's rows lie apart from the others already, so that it must be grown apart.
    virtual bool lies_apart(int /*node*/) const { return false; }
    // As many of these nodes, from the first on, as should be grown apart at once; `detach` is asked for them next.
    virtual size_t fetch(std::span<const int> nodes) { return nodes.size(); }
    virtual std::unique_ptr<Rows> detach(int /*node*/) { return nullptr; }

    // What these rows stand on lives as long as they do.
    void keep(std::shared_ptr<const void> ground) { kept_ = std::move(ground); }

private:
    std::shared_ptr<const void> kept_;
};

} // namespace tw

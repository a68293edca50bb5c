// Row store: the only interface that sees rows. Growing needs candidates, totals and partitioning.
//
// Nodes are numbered by the caller; results do not depend on the order of rows.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/split.hpp"
#include "base/thread_pool.hpp"
#include "binning/value_histogram.hpp"
#include "split/branching.hpp"
#include "split/surrogate.hpp"

namespace tw {

class RowStore {
public:
    virtual ~RowStore() = default;

    virtual const TrainingTable& training() const = 0;
    int columns() const { return static_cast<int>(training().table.columns.size()); }
    // Rows the tree is grown on.
    virtual int64_t used_rows() const = 0;

    virtual Total total(int node) const = 0;
    // The node's rows, where they lie in memory.
    virtual std::vector<Entry> entries(int /*node*/) const { throw std::logic_error("these rows lie elsewhere"); }
    // The best candidate of every column for each node. A column that cannot be among the best and its rivals may be
    // left out.
    virtual std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<OpenNode>& open_nodes,
                                                           ThreadPool& pool) = 0;
    // For each node the best surrogate of every other column, in order of columns.
    virtual std::vector<std::vector<Surrogate>> surrogates(const Task& task, const std::vector<ChosenSplit>& chosen,
                                                           ThreadPool& pool) = 0;
    // Sends the node's entries to its children, new nodes numbered first, first + 1, ...; the node is forgotten.
    virtual void partition(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates,
                           int first, ThreadPool& pool) = 0;
    // Makes room for nodes below this number; `partition` may then run on many threads.
    virtual void reserve(int nodes) = 0;
    // All nodes of a level are partitioned: the children's totals are needed next. `levels`: so many more may
    // follow below the children.
    virtual void finish_level(int64_t /*levels*/) {}

    // Whether a node of so many rows, with so many levels to come at most, is better grown apart: by one thread, on
    // rows of its own.
    virtual bool should_detach(int64_t /*rows*/, int64_t /*levels*/) const { return false; }
    // Whether a node's rows lie apart from the others already, so that it must be grown apart.
    virtual bool is_detached(int /*node*/) const { return false; }
    // As many of these nodes, from the first on, as should be grown apart at once; `detach` is called for them next.
    virtual size_t fetch(std::span<const int> nodes) { return nodes.size(); }
    virtual std::unique_ptr<RowStore> detach(int /*node*/) { return nullptr; }

    // What these rows stand on lives as long as they do.
    void keep(std::shared_ptr<const void> owner) { kept_ = std::move(owner); }

private:
    std::shared_ptr<const void> kept_;
};

} // namespace tw

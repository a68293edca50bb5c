// Row store: the only interface that sees rows. Growing needs candidates, totals and partitioning.
//
// Nodes are numbered by the caller; results do not depend on the order of rows.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "base/split.hpp"
#include "base/thread_pool.hpp"
#include "binning/value_histogram.hpp"
#include "split/branching.hpp"
#include "split/surrogate.hpp"

namespace tw {

// A node whose rows go to its children, numbered first, first + 1, ...
struct NodeSplit {
    int node = 0;
    uint64_t key = 0;
    Split split;
    std::vector<Split> surrogates;
    int first = 0;

    auto fields() { return std::tie(node, key, split, surrogates, first); }
};

class RowStore;
using MakeRows = std::function<std::unique_ptr<RowStore>()>;

class RowStore {
public:
    virtual ~RowStore() = default;

    virtual const TrainingTable& training() const = 0;
    int columns() const { return static_cast<int>(training().table.columns.size()); }

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
    // Sends the rows of these nodes, at least one and all of a level, to their children; the nodes are forgotten.
    // `levels`: so many more may follow below the children.
    virtual void partition(std::vector<NodeSplit> splits, int64_t levels, ThreadPool& pool) = 0;

    // Whether a node with so many levels to come at most is better grown apart: by one thread, on rows of its own.
    virtual bool should_detach(int /*node*/, int64_t /*levels*/) const { return false; }
    // Makes the rows of such nodes, each where it is grown: of as many nodes, from the first on, as should be grown at
    // once.
    virtual std::vector<MakeRows> detach(std::span<const int> /*nodes*/) { return {}; }

    // What these rows stand on lives as long as they do.
    void keep(std::shared_ptr<const void> owner) { kept_ = std::move(owner); }

private:
    std::shared_ptr<const void> kept_;
};

// How many nodes there are once these have children.
inline size_t nodes_after(const std::vector<NodeSplit>& splits) {
    return static_cast<size_t>(splits.back().first + splits.back().split.children());
}

// Few large nodes are partitioned by all threads together, many nodes by one thread each.
template <class Partition>
void partition_each(const std::vector<NodeSplit>& splits, ThreadPool& pool, const Partition& partition) {
    if (static_cast<int64_t>(splits.size()) < pool.threads()) {
        for (const NodeSplit& split : splits) partition(split);
    } else {
        pool.run(static_cast<int64_t>(splits.size()), [&](int64_t i) { partition(splits[static_cast<size_t>(i)]); });
    }
}

} // namespace tw

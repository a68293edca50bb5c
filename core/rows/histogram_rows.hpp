// Rows with binned columns: exact cuts at the cost of histograms.
//
// The histogram of a node gives the gain of every cut between bins; a bin is refined only where a cut inside could
// still win (`bound` of the counters). The larger of two children is counted by subtraction, unless rows went to both;
// small nodes switch to sorted_rows.
#pragma once

#include <memory>

#include "rows/node_histograms.hpp"
#include "rows/partition.hpp"
#include "rows/row_store.hpp"
#include "threshold/candidates.hpp"
#include "threshold/search.hpp"

namespace tw {

// Null if no column is searched by histogram; then ExhaustiveRows serves. The binned table may be shared by many trees;
// without one, the columns are binned now. `profile`: where the time goes, or null.
std::unique_ptr<RowStore> histogram_rows(const Table& table, const Recipe& recipe, const Measure& measure,
                                         std::shared_ptr<const BinnedTable> binned, Profile* profile, ThreadPool& pool);

// Data shared by all nodes of one fit. Owned jointly; freed with the last row store.
template <TargetCounter Counter>
struct TreeData {
    TreeData(const Table& table, const Recipe& recipe, const Measure& measure, std::shared_ptr<const BinnedTable> bins,
             const SearchPlan& plan, const Counter& counter, Profile* profile, ThreadPool& pool);

    std::shared_ptr<const BinnedTable> binned;
    std::shared_ptr<RowPartition<typename Counter::Item>> partition; // of all rows, until some of them are fractional
    LevelTable levels;
    std::vector<ValueRanks> value_ranks;
    TrainingTable training;
    SearchContext<Counter> context;

private:
    DistinctOf known_values() const;
};

template <TargetCounter Counter>
class HistogramRows final : public RowStore {
public:
    using Word = typename Counter::Word;
    using Item = typename Counter::Item;

    // Node 0 is the range of the partition; only this store may touch it. So few rows are better ordered than counted,
    // and so few are grown apart.
    HistogramRows(std::shared_ptr<TreeData<Counter>> tree_data, NodeRows<Item> all, int64_t max_sorted_rows,
                  int64_t max_detached_rows);

    const TrainingTable& training() const override { return context_.training; }
    Total total(int node) const override { return total_of_items(context_, rows(node), items(node)); }
    std::vector<Entry> entries(int node) const override { return entries_of(rows(node), items(node)); }
    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<OpenNode>& open_nodes,
                                                   ThreadPool& pool) override;
    std::vector<std::vector<Surrogate>> surrogates(const Task& task, const std::vector<ChosenSplit>& chosen,
                                                   ThreadPool& pool) override;
    void partition(std::vector<NodeSplit> splits, int64_t levels, ThreadPool& pool) override;
    bool should_detach(int node, int64_t) const override {
        return static_cast<int64_t>(size(node)) <= std::max(max_detached_rows_, max_sorted_rows_);
    }
    std::vector<MakeRows> detach(std::span<const int> nodes) override;

private:
    size_t size(int node) const { return node_rows_[node].range.size(); }
    std::span<const uint32_t> rows(int node) const {
        const auto& [partition, range] = node_rows_[node];
        return std::span<const uint32_t>(partition->row).subspan(range.begin, range.size());
    }
    std::span<const Item> items(int node) const {
        const auto& [partition, range] = node_rows_[node];
        return std::span<const Item>(partition->item).subspan(range.begin, range.size());
    }
    std::unique_ptr<RowStore> detached(int node) const;
    void count(const std::vector<int>& nodes, ThreadPool& pool);
    const Word* cells_of(int node, const LevelColumn& column) {
        const size_t first = static_cast<size_t>(context_.binned.bins() + column.start);
        return histograms_.of(node).data() + first * static_cast<size_t>(context_.counter.words());
    }
    Candidate candidate_at(const Task& task, const OpenNode& open_node, TableColumn column);
    std::vector<std::vector<Candidate>> candidates_by_value(const Task& task, const std::vector<OpenNode>& open_nodes,
                                                            ThreadPool& pool);
    void scan_levels(NodeSearches<Counter>& searches, ThreadPool& pool);
    std::vector<Surrogate> surrogates_of(const Task& task, const ChosenSplit& chosen, ThreadPool& pool);
    void partition_node(const NodeSplit& at, ThreadPool& pool);

    std::shared_ptr<TreeData<Counter>> tree_data_;
    const SearchContext<Counter>& context_;
    int64_t max_sorted_rows_, max_detached_rows_;
    std::vector<NodeRows<Item>> node_rows_; // per node
    NodeHistograms<Word> histograms_;
};

} // namespace tw

// Rows in memory, examined value by value. Slow, serves every recipe.
#pragma once

#include "rows/row_store.hpp"

namespace tw {

class ExhaustiveRows final : public RowStore {
public:
    ExhaustiveRows(const Table& table, const Recipe& recipe, const Measure& measure, ThreadPool& pool);
    // With the columns' facts known, and these entries as the only node.
    ExhaustiveRows(TrainingTable training, std::vector<Entry> entries);

    const TrainingTable& training() const override { return training_; }
    Total total(int node) const override { return node_total(training_, entries_[node]); }
    std::vector<Entry> entries(int node) const override { return entries_[node]; }
    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<OpenNode>& open_nodes,
                                                   ThreadPool& pool) override;
    std::vector<std::vector<Surrogate>> surrogates(const Task& task, const std::vector<ChosenSplit>& chosen,
                                                   ThreadPool& pool) override;
    void partition(std::vector<NodeSplit> splits, int64_t levels, ThreadPool& pool) override;

private:
    LargeVector<uint32_t> rows_;
    TrainingTable training_;
    std::vector<std::vector<Entry>> entries_; // per node
};

// The surrogates of one node by gathering, from its entries.
std::vector<Surrogate> surrogates_by_value(const Task& task, const TrainingTable& training,
                                           std::span<const Entry> entries, const Split& split, ThreadPool& pool);

} // namespace tw

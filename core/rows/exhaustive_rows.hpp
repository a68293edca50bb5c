// Rows in memory, examined value by value. Slow, serves every recipe.
#pragma once

#include <cmath>

#include "rows/row_store.hpp"

namespace tw {

class ExhaustiveRows final : public RowStore {
public:
    ExhaustiveRows(const Table& table, const Recipe& recipe, const Measure& measure, ThreadPool& pool);
    // With the columns' facts known, and these entries as the only node.
    ExhaustiveRows(TrainingTable training, std::vector<Entry> entries);

    const TrainingTable& training() const override { return training_; }
    int64_t used_rows() const override { return used_rows_; }
    Total total(int node) const override { return node_total(training_, entries_[node]); }
    std::vector<Entry> entries(int node) const override { return entries_[node]; }
    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<OpenNode>& open_nodes,
                                                   ThreadPool& pool) override;
    std::vector<std::vector<Surrogate>> surrogates(const Task& task, const std::vector<ChosenSplit>& chosen,
                                                   ThreadPool& pool) override;
    void partition(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates, int first,
                   ThreadPool& pool) override;
    void reserve(int nodes) override { entries_.resize(std::max<size_t>(entries_.size(), nodes)); }

private:
    LargeVector<uint32_t> rows_;
    TrainingTable training_;
    int64_t used_rows_;
    std::vector<std::vector<Entry>> entries_; // per node
};

// The surrogates of one node by gathering, for whoever has its entries.
std::vector<Surrogate> surrogates_by_value(const Task& task, const TrainingTable& training,
                                           std::span<const Entry> entries, const Split& split, ThreadPool& pool);

} // namespace tw

// Rows in memory: every node holds its entries; counting gathers and orders them.
#pragma once

#include "rows.hpp"

namespace tw {

class RowsCpu : public Rows {
public:
    // Rows of weight 0 (and, on request, rows with every column missing) take no part.
    RowsCpu(const Table& table, const Recipe& recipe, const Measure& measure, int threads);

    int columns() const override { return static_cast<int>(table_.columns.size()); }
    const ColumnFacts& facts(int column) const override { return (*facts_)[column]; }
    Total total(int node) const override;
    Buckets count(int node, int column) const override;
    Buckets count_children(int node, int column, const Split& split) const override;
    void divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates,
                int first) override;
    void reserve(int nodes) override { entries_.resize(std::max<size_t>(entries_.size(), nodes)); }
    int64_t used_rows() const override { return used_rows_; }

protected:
    // The same columns, other rows: facts are those of the whole table.
    RowsCpu(const Table& table, const Recipe& recipe, const Measure& measure,
            std::shared_ptr<const std::vector<ColumnFacts>> facts);

    const std::vector<Entry>& entries(int node) const { return entries_[node]; }
    const Table& table() const { return table_; }
    const Recipe& recipe() const { return recipe_; }
    const Measure& measure() const { return measure_; }
    std::shared_ptr<const std::vector<ColumnFacts>> shared_facts() const { return facts_; }

private:
    ColumnFacts learn_facts(int column) const;
    void code_bins(int column, const std::vector<double>& bounds);
    double value(int column, uint32_t row) const; // NaN: missing; levels as their code, binned numbers as their bin
    template <class Add>
    Buckets gather(int node, int column, int width, Add add) const;
    // Which target ranks lie in which bin; `bin_of(entry number)` names it.
    template <class BinOf>
    void attach_members(int node, Buckets& buckets, BinOf bin_of) const;

    const Table& table_;
    const Recipe& recipe_;
    const Measure& measure_;
    int64_t used_rows_ = 0;
    std::shared_ptr<const std::vector<ColumnFacts>> facts_;
    std::vector<std::vector<int32_t>> bin_codes_; // per binned column
    std::vector<std::vector<Entry>> entries_;     // per node
};

} // namespace tw

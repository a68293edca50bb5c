// Rows in memory, looked at one by one: every node holds its entries; counting gathers and orders them. Serves every
// recipe.
#pragma once

#include "large_vector.hpp"
#include "rows.hpp"

namespace tw {

// What growing needs to know of the columns from the whole table: the rows it is grown on.
Source learn_source(const Table& table, const Recipe& recipe, const Measure& measure, std::span<const uint32_t> rows,
                    Pool& pool);
// The rows that take part: those with a weight and, on request, with any value.
LargeVector<uint32_t> taking_part(const Table& table, const Recipe& recipe, const Measure& measure);

class RowsCpu final : public Rows {
public:
    RowsCpu(const Table& table, const Recipe& recipe, const Measure& measure, Pool& pool);

    const Source& source() const override { return source_; }
    int64_t used_rows() const override { return used_rows_; }
    Total total(int node) const override { return total_of(source_, entries_[node]); }
    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<Ask>& asks, Pool& pool) override;
    std::vector<Surrogate> surrogates(const Task& task, int node, const Split& split, Pool& pool) override;
    void divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates, int first,
                Pool& pool) override;
    void reserve(int nodes) override { entries_.resize(std::max<size_t>(entries_.size(), nodes)); }

private:
    LargeVector<uint32_t> rows_;
    Source source_;
    int64_t used_rows_;
    std::vector<std::vector<Entry>> entries_; // per node
};

// The surrogates of one node by gathering, for whoever has its entries.
std::vector<Surrogate> gather_surrogates(const Task& task, const Source& source, std::span<const Entry> entries,
                                         const Split& split, Pool& pool);

} // namespace tw

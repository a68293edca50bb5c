// Rows in memory, looked at one by one: every node holds its entries; counting gathers and orders them. Serves every
// recipe.
#pragma once

#include <cmath>
#include <functional>

#include "draw.hpp"
#include "large_vector.hpp"
#include "rows.hpp"

namespace tw {

// What growing needs to know of the columns from the whole table: the rows it is grown on. `distinct(column)`: their
// known values, rising, if somebody has them already.
using DistinctOf = std::function<std::vector<double>(int)>;
Source learn_source(const Table& table, const Recipe& recipe, const Measure& measure, std::span<const uint32_t> rows,
                    Pool& pool, const DistinctOf& distinct = nullptr);
// The known values of a column, rising, each with its weight.
using KnownValues = std::vector<std::pair<double, int64_t>>;
KnownValues known_values(const Column& data, const Measure& measure, std::span<const uint32_t> rows);
// Whether anything but kind and levels must be known of a column.
bool needs_values(const Column& data, const Recipe& recipe);
ColumnFacts facts_of(const Column& data, const Recipe& recipe, const KnownValues& known);
// The bin of every row of a binned column, -1: missing.
std::vector<int32_t> code_bins(const Numbers& numbers, int64_t rows, const std::vector<double>& bounds);
// The rows that take part: those with a weight and, on request, with any value.
LargeVector<uint32_t> taking_part(const Table& table, const Recipe& recipe, const Measure& measure);

class RowsCpu final : public Rows {
public:
    RowsCpu(const Table& table, const Recipe& recipe, const Measure& measure, Pool& pool);
    // With the columns' facts known, and these entries as the only node.
    RowsCpu(Source source, std::vector<Entry> entries);

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

// Calls put(child, weight) for wherever an entry of this weight goes, by what the split says of it: to a child, to all
// of them in parts (spread), or nowhere.
template <class Put>
void send_parts(const Split& split, int child, int64_t weight, const Put& put) {
    if (child >= 0) return put(child, weight);
    if (child != spread) return;
    for (int i = 0; i < split.children(); ++i) {
        const int64_t part = std::llround(static_cast<double>(weight) * split.share[i]);
        if (part > 0) put(i, part);
    }
}

// Calls put(child, entry) for wherever each entry goes.
template <class Put>
void send_entries(const std::vector<Column>& columns, uint64_t node_key, const Split& split,
                  const std::vector<Split>& surrogates, std::span<const Entry> entries, const Put& put) {
    for (const Entry& entry : entries) {
        int child = destination(split, surrogates, columns, entry.row);
        if (child == random_child) child = draw_child(split.share, node_key, hash_row(columns, entry.row));
        send_parts(split, child, entry.weight, [&](int to, int64_t weight) { put(to, Entry{entry.row, weight}); });
    }
}

// The surrogates of one node by gathering, for whoever has its entries.
std::vector<Surrogate> gather_surrogates(const Task& task, const Source& source, std::span<const Entry> entries,
                                         const Split& split, Pool& pool);

} // namespace tw

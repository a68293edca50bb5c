// Rows with coded columns: exact cuts at the price of histograms.
//
// Counting a node gives the merit of every cut between bins; a bin is looked into (zoomed) only where a cut inside it
// could still be best, which merit.hpp's bound tells.
// Comes in: rows and what each adds. Goes out: the same candidates as an exhaustive search. Always holds: a node's rows
// lie together, in the order of the table; the larger of two children is counted by subtraction; small nodes leave
// histograms behind (rows_small).
#pragma once

#include <memory>

#include "histograms.hpp"
#include "large_vector.hpp"
#include "rows.hpp"
#include "sweep.hpp"

namespace tw {

// The choice by which a recipe must look at every value of a column of numbers; null: codes serve.
const char* needs_all_values(const Recipe& recipe, size_t columns);
// Whether a recipe can look for the cuts of a table's numbers by their codes.
bool suits_codes(const Table& table, const Recipe& recipe);

// Whether the recipe and the table allow it; otherwise null, and RowsCpu serves. The coded table may be shared by many
// trees; without one, the columns are coded now. `account`: where the time goes, or null.
std::unique_ptr<Rows> coded_rows(const Table& table, const Recipe& recipe, const Measure& measure,
                                 std::shared_ptr<const CodedTable> coded, Account* account, Pool& pool);

// All rows of a tree, node by node: ranges of arrays that are divided in place.
template <class Counter>
struct Field {
    Field(LargeVector<uint32_t> rows, const Counter& counter, Pool& pool);

    LargeVector<uint32_t> row, spare_row;
    LargeVector<typename Counter::Item> item, spare_item;
    LargeVector<int32_t> child;
};

// What all rows of a tree share, and live as long as any of them.
template <class Counter>
struct Estate {
    Estate(const Table& table, const Recipe& recipe, const Measure& measure, std::shared_ptr<const CodedTable> codes,
           const Counter& counter, Account* account, Pool& pool);

    std::shared_ptr<const CodedTable> coded;
    Field<Counter> field;
    Source source;
    Ground<Counter> ground;
};

struct Stretch {
    size_t begin = 0, end = 0;
    size_t size() const { return end - begin; }
};

template <class Counter>
class RowsCoded final : public Rows {
public:
    using Word = typename Counter::Word;
    using Item = typename Counter::Item;

    // The node numbered 0 is the stretch of the field; nobody else may touch it.
    RowsCoded(std::shared_ptr<Estate<Counter>> estate, Stretch stretch, int64_t apart);

    const Source& source() const override { return ground_.source; }
    int64_t used_rows() const override { return static_cast<int64_t>(stretch_[0].size()); }
    Total total(int node) const override { return total_of_rows(ground_, rows(node), items(node)); }
    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<Ask>& asks, Pool& pool) override;
    std::vector<Surrogate> surrogates(const Task& task, int node, const Split& split, Pool& pool) override;
    void divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates, int first,
                Pool& pool) override;
    void reserve(int nodes) override;
    bool is_apart(int64_t rows, int64_t) const override { return rows <= apart_; }
    std::unique_ptr<Rows> detach(int node) override;

private:
    struct Search;

    std::span<const uint32_t> rows(int node) const {
        return std::span<const uint32_t>(field_.row).subspan(stretch_[node].begin, stretch_[node].size());
    }
    std::span<const Item> items(int node) const {
        return std::span<const Item>(field_.item).subspan(stretch_[node].begin, stretch_[node].size());
    }
    void count(const std::vector<int>& nodes, Pool& pool);

    std::shared_ptr<Estate<Counter>> estate_;
    const Ground<Counter>& ground_;
    Field<Counter>& field_;
    int64_t apart_;
    std::vector<Stretch> stretch_; // per node
    Histograms<Word> histograms_;
};

} // namespace tw

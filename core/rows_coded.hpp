// Rows with coded columns: exact cuts at the price of histograms.
//
// Counting a node gives the merit of every cut between bins; a bin is looked into (zoomed) only where a cut inside it
// could still be best, which merit.hpp's bound tells.
// Comes in: rows and what each adds. Goes out: the same candidates as an exhaustive search. Always holds: a node's rows
// lie together, in the order of the table; the larger of two children is counted by subtraction, unless rows were
// spread over both; small nodes leave histograms behind (rows_small).
#pragma once

#include <memory>

#include "field.hpp"
#include "histograms.hpp"
#include "rows.hpp"
#include "sweep.hpp"
#include "telling.hpp"

namespace tw {

// Whether the recipe and the table allow it; otherwise null, and RowsCpu serves. The coded table may be shared by many
// trees; without one, the columns are coded now. `account`: where the time goes, or null.
std::unique_ptr<Rows> coded_rows(const Table& table, const Recipe& recipe, const Measure& measure,
                                 std::shared_ptr<const CodedTable> coded, Account* account, Pool& pool);

// What all rows of a tree share, and live as long as any of them.
template <class Counter>
struct Estate {
    Estate(const Table& table, const Recipe& recipe, const Measure& measure, std::shared_ptr<const CodedTable> codes,
           const Counter& counter, Account* account, Pool& pool);

    std::shared_ptr<const CodedTable> coded;
    std::shared_ptr<Field<typename Counter::Item>> field; // of all rows, until some of them are spread
    std::vector<Ladder> ladders;
    Source source;
    Ground<Counter> ground;
};

template <class Counter>
class RowsCoded final : public Rows {
public:
    using Word = typename Counter::Word;
    using Item = typename Counter::Item;

    // The node numbered 0 is the stretch of the field; nobody else may touch it.
    RowsCoded(std::shared_ptr<Estate<Counter>> estate, Holding<Item> all, int64_t apart);

    const Source& source() const override { return ground_.source; }
    int64_t used_rows() const override { return static_cast<int64_t>(held_[0].stretch.size()); }
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

    size_t size(int node) const { return held_[node].stretch.size(); }
    std::span<const uint32_t> rows(int node) const {
        const auto& [field, stretch] = held_[node];
        return std::span<const uint32_t>(field->row).subspan(stretch.begin, stretch.size());
    }
    std::span<const Item> items(int node) const {
        const auto& [field, stretch] = held_[node];
        return std::span<const Item>(field->item).subspan(stretch.begin, stretch.size());
    }
    void count(const std::vector<int>& nodes, Pool& pool);
    void find_cuts(const Task& task, std::vector<Search>& searches, Pool& pool);
    void find_in_order(std::vector<Search>& searches, Pool& pool);
    Candidate tell(const Task& task, Search& search, const Telling& telling) const;

    std::shared_ptr<Estate<Counter>> estate_;
    const Ground<Counter>& ground_;
    int64_t apart_;
    std::vector<Holding<Item>> held_; // per node
    Histograms<Word> histograms_;
};

} // namespace tw

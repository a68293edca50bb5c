// Rows of a small node, whose whole subtree fits in cache: every column is ordered once, and dividing keeps the order.
//
// Comes in: the node's rows and what each adds. Goes out: exact cuts, each column read once per node. Always holds:
// where rows are spread, each child gets rows of its own and is grown apart, as a small node itself.
#pragma once

#include <cstdint>

#include "rows.hpp"
#include "telling.hpp"

namespace tw {

template <class Counter>
class RowsSmall final : public Rows {
public:
    using Item = typename Counter::Item;

    RowsSmall(const Ground<Counter>& ground, std::span<const uint32_t> rows, std::span<const Item> items);

    // Rows that are nobody else's.
    struct Own {
        std::vector<uint32_t> row;
        std::vector<Item> item;
    };
    RowsSmall(const Ground<Counter>& ground, std::unique_ptr<Own> own);

    const Source& source() const override { return ground_.source; }
    int64_t used_rows() const override { return static_cast<int64_t>(row_.size()); }
    Total total(int node) const override;
    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<Ask>& asks, Pool& pool) override;
    std::vector<Surrogate> surrogates(const Task& task, int node, const Split& split, Pool& pool) override;
    void divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates, int first,
                Pool& pool) override;
    void reserve(int nodes) override { part_.resize(std::max<size_t>(part_.size(), nodes)); }
    bool lies_apart(int node) const override { return part_[node].own != nullptr; }
    std::unique_ptr<Rows> detach(int node) override;

private:
    // A row at its place in the order of a column; equal ranks are equal values.
    struct Place {
        uint16_t rank;
        uint16_t row; // numbered within this subtree
    };
    static constexpr uint16_t missing_rank = 0xffff; // the last

    struct Stretch {
        size_t begin = 0, end = 0;
    };

    // A node; its rows lie apart from its siblings' in `member_` from the start, in the columns once it is asked about.
    struct Part {
        Stretch stretch;
        int parent = -1; // of a node whose columns still lie with its siblings'
        int first = -1;  // the first child
        int children = 0;
        std::unique_ptr<Own> own = nullptr; // of a node some of whose rows were spread
    };

    size_t find_changing();
    void order_column(size_t which);
    void divide_columns(int parent);
    template <class Seen>
    Cut best_cut(const Seen& seen, const typename Seen::Item* item, const Yardstick& node, const Words<Seen>& total,
                 size_t which, Stretch stretch, bool places_missing) const;
    Words<Counter> low_side(size_t which, const Cut& cut, Stretch stretch) const;
    Place* order(size_t which) { return &order_[static_cast<size_t>(slot_[which]) * row_.size()]; }
    const Place* order(size_t which) const { return &order_[static_cast<size_t>(slot_[which]) * row_.size()]; }
    std::vector<uint32_t> table_rows(int node) const;
    std::vector<Item> node_items(int node) const;
    Sides sides(size_t which, const Cut& cut, Stretch stretch) const;
    void divide_and_spread(const Split& split, Stretch stretch, int first);

    std::unique_ptr<Own> own_; // where `row_` and `item_` lie, unless they are somebody else's
    const Ground<Counter>& ground_;
    std::span<const uint32_t> row_; // in the table
    std::span<const Item> item_;
    std::vector<uint16_t> member_; // rows, node by node
    std::vector<int> slot_;        // per column: its place in `order_`, or -1 if all its values here are one
    std::vector<Place> order_;     // column after column, each node by node
    std::vector<Part> part_;       // per node
    std::vector<int32_t> child_;   // per row
    std::vector<Place> spare_;
};

} // namespace tw

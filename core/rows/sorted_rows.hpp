// Rows of a small node whose whole subtree fits in cache: every column is sorted once, and partitioning keeps the
// order.
//
// Where rows are fractional, each child gets rows of its own and is grown as a detached node.
#pragma once

#include <cstdint>
#include <limits>

#include "rows/column_bound.hpp"
#include "rows/level_scan.hpp"
#include "rows/row_store.hpp"
#include "rows/sorted_scan.hpp"
#include "threshold/candidates.hpp"

namespace tw {

// A column's cut. Of its rows in order, those before `low_end` lie below the cut, those from `known_end` have no value.
struct SortedCut {
    Cut cut;
    size_t low_end = 0, known_end = 0;
};

template <TargetCounter Counter>
class SortedRows final : public RowStore {
public:
    using Item = typename Counter::Item;

    SortedRows(const SearchContext<Counter>& context, std::span<const uint32_t> rows, std::span<const Item> items);

    // Rows that no other store shares.
    struct OwnedRows {
        std::vector<uint32_t> row;
        std::vector<Item> item;
    };
    SortedRows(const SearchContext<Counter>& context, std::unique_ptr<OwnedRows> own);

    const TrainingTable& training() const override { return context_.training; }
    Total total(int node) const override;
    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<OpenNode>& open_nodes,
                                                   ThreadPool& pool) override;
    std::vector<std::vector<Surrogate>> surrogates(const Task& task, const std::vector<ChosenSplit>& chosen,
                                                   ThreadPool& pool) override;
    void partition(std::vector<NodeSplit> splits, int64_t levels, ThreadPool& pool) override;
    bool should_detach(int node, int64_t) const override { return nodes_[node].own != nullptr; }
    std::vector<MakeRows> detach(std::span<const int> nodes) override;

private:
    struct RowRange {
        size_t begin = 0, end = 0;
    };
    static constexpr size_t few_rows = 16; // most nodes have no more

    // A node; its rows lie apart from its siblings' in `member_` from the start, in the columns once it is searched.
    struct Node {
        RowRange range;
        int parent = -1; // of a node whose columns still lie with its siblings'
        int first = -1;  // the first child
        int children = 0;
        std::unique_ptr<OwnedRows> own = nullptr; // of a node with fractional rows
    };

    size_t find_changing();
    void partition_columns(int parent);
    // What the cuts of a node's columns have in common. `complete`: scores columns where no row lacks a value.
    template <CutCounter AnyCounter>
    struct NodeCuts {
        const AnyCounter& counter;
        const typename AnyCounter::Item* item; // of each row of the subtree
        const CutRules& rules;
        const Words<AnyCounter>& total;
        RowRange range;
        bool tries_missing;
        CutScorer<AnyCounter> complete{counter, rules, total.data(), nullptr, tries_missing};
        const ColumnBound* bound = nullptr; // of such columns, if there is one
    };
    // A gain below `wanted` is not found, or without what lies below.
    template <CutCounter AnyCounter>
    SortedCut best_cut(NodeCuts<AnyCounter>& node, ScanColumn scan_column, double wanted) const;
    template <CutCounter AnyCounter>
    Words<AnyCounter> count(const AnyCounter& counter, const typename AnyCounter::Item* item, ScanColumn scan_column,
                            RowRange range) const;
    // The columns of a node up to one that no later one can beat; the others have no gain.
    struct ScannedColumns {
        IndexedVector<ScanColumn, SortedCut> cuts;
        IndexedVector<ScanColumn, double> gains;
        std::vector<double> level_gains; // of columns searched by value, where the plan scans levels
    };
    void scan_columns(const CutRules& rules, const Words<Counter>& total, RowRange range, double unbeatable,
                      ScannedColumns& found);
    std::vector<Candidate> candidates_of(const Task& task, const OpenNode& open_node);
    std::vector<Surrogate> surrogates_of(const Task& task, const ChosenSplit& chosen, ThreadPool& pool);
    RankedRow* order(ScanColumn scan_column) { return &order_[static_cast<size_t>(slot_[scan_column]) * row_.size()]; }
    const RankedRow* order(ScanColumn scan_column) const {
        return &order_[static_cast<size_t>(slot_[scan_column]) * row_.size()];
    }
    // Of `row_` or `item_`, those of a node.
    template <class Value>
    SmallVector<Value, few_rows> at_node(std::span<const Value> values, int node) const {
        const RowRange range = nodes_[node].range;
        SmallVector<Value, few_rows> own;
        own.reserve(range.end - range.begin);
        for (size_t at = range.begin; at < range.end; ++at) own.push_back(values[member_[at]]);
        return own;
    }
    void partition_node(const NodeSplit& at_node);
    void partition_fractional(const Split& split, RowRange range, int first);

    std::unique_ptr<OwnedRows> own_; // where `row_` and `item_` lie, unless the caller owns them
    const SearchContext<Counter>& context_;
    std::span<const uint32_t> row_; // in the table
    std::span<const Item> item_;
    std::vector<uint16_t> member_;        // rows, node by node
    IndexedVector<ScanColumn, int> slot_; // in `order_`, or -1 if all values of the column here are one
    std::vector<RankedRow> order_;        // column after column, each node by node
    std::vector<Node> nodes_;             // per node
    std::vector<int32_t> child_;          // per row
    std::vector<RankedRow> spare_;
    std::vector<uint16_t> spare_member_;
    LevelScan<Counter> level_scan_;
    ColumnBound bound_;
    ScannedColumns scanned_; // of the node that is searched
    bool complete_;          // no row lacks a value of any column that is searched
};

} // namespace tw

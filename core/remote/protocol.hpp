// Requests to workers and their replies.
//
// Replies of two partitions can be merged into that of both; merging adds integers and takes unions and extremes, so
// its order does not matter. Only `plan`, `bounds` and `node_splits` change a worker's state.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "base/split.hpp"
#include "binning/binned_table.hpp"
#include "binning/column_sketch.hpp"
#include "binning/number_key.hpp"
#include "binning/value_histogram.hpp"
#include "remote/serialize.hpp"
#include "rows/row_store.hpp"

namespace tw {

// --- requests ---

// How partitions see the table: what makes rows integers, and the bins of its numbers (none: the recipe does not use
// them).
struct Plan {
    Units units;
    std::vector<ColumnBins> binned;

    auto fields() { return std::tie(units, binned); }
};

struct NodeColumn {
    int node = 0;
    TableColumn column;

    auto fields() { return std::tie(node, column); }
};

// Columns counted by the child that a split sends each row to.
struct ChildCounts {
    int node = 0;
    Split split;
    std::vector<TableColumn> columns;

    auto fields() { return std::tie(node, split, columns); }
};

// The values of a binned column from one key to another, in cells of 2^shift keys (see `key_of`).
struct KeyRange {
    int node = 0;
    BinnedColumn column;
    uint64_t first = 0, last = 0;
    int shift = 0;
    int surrogate = -1; // counted by the child that this one of `surrogate_histograms` sends rows to; -1: by target

    auto fields() { return std::tie(node, column, first, last, shift, surrogate); }
};

// A column cut after a number: the values next to the cut are requested.
struct CutAt {
    int node = 0;
    TableColumn column;
    double at = 0;

    bool operator==(const CutAt&) const = default;
    auto fields() { return std::tie(node, column, at); }
};

struct Request {
    int64_t summary = 0;              // sketches, weights and targets; every so many rows are sampled. 0: not needed
    std::optional<double> max_weight; // of all weights: the whole weight is wanted
    std::optional<Units> weighed;     // targets of rows with weight are wanted
    std::optional<Plan> plan;
    std::vector<TableColumn> values;         // columns whose distinct values are wanted
    std::vector<std::vector<double>> bounds; // per column the bins of its numbers, for all trees to come
    std::vector<NodeSplit> node_splits;
    std::vector<int> totals, histograms; // nodes
    std::vector<NodeColumn> value_histograms;
    std::vector<ChildCounts> child_histograms;
    std::vector<ChildCounts> surrogate_histograms; // wanted as histograms, if no ranges are
    std::vector<KeyRange> ranges;
    std::vector<CutAt> cuts;
    std::vector<int> rows; // nodes whose rows are wanted as they are

    auto fields() {
        return std::tie(summary, max_weight, weighed, plan, values, bounds, node_splits, totals, histograms,
                        value_histograms, child_histograms, surrogate_histograms, ranges, cuts, rows);
    }
};

// --- replies ---

// Counters of any width.
struct Counts {
    std::vector<uint32_t> narrow;
    std::vector<uint64_t> wide;
    std::vector<Sum> widest;

    template <class Word>
    auto& of() {
        if constexpr (sizeof(Word) == 4) {
            return narrow;
        } else if constexpr (sizeof(Word) == 8) {
            return wide;
        } else {
            return widest;
        }
    }
    void add(const Counts& other);
    auto fields() { return std::tie(narrow, wide, widest); }
};

struct TableSummary {
    WeightSummary weights;
    TargetSummary targets; // as if every row had weight
    std::vector<ColumnSketch> sketches;

    auto fields() { return std::tie(weights, targets, sketches); }
};

struct ColumnValues {
    std::vector<double> value; // rising
    std::vector<int64_t> weight;

    auto fields() { return std::tie(value, weight); }
};

// The cells of a range that hold rows, rising, and the counters of each.
struct Cells {
    std::vector<uint64_t> cell;
    Counts counts;

    auto fields() { return std::tie(cell, counts); }
};

// Some rows as they are, and as they are measured. One array per column; those of the other kinds are empty.
struct RowBatch {
    std::vector<std::vector<float>> single;
    std::vector<std::vector<double>> numbers;
    std::vector<std::vector<int32_t>> codes;
    std::vector<int32_t> classes;
    std::vector<double> target;
    std::vector<int64_t> weight; // empty: one unit each

    int64_t size() const { return static_cast<int64_t>(classes.size() + target.size()); }
    void append(const RowBatch& other);
    auto fields() { return std::tie(single, numbers, codes, classes, target, weight); }
};

// The largest value below a cut and the smallest above it.
struct CutEdges {
    double below = -std::numeric_limits<double>::infinity(), above = std::numeric_limits<double>::infinity();

    auto fields() { return std::tie(below, above); }
};

struct Reply {
    std::optional<TableSummary> summary;
    Sum scaled_total_weight = 0;
    std::optional<TargetSummary> weighed;
    std::vector<ColumnValues> values;
    std::vector<Histogram> totals; // one bin each
    std::vector<double> low, high;
    std::vector<Counts> histograms, surrogate_histograms;
    std::vector<Histogram> value_histograms, child_histograms;
    std::vector<Cells> ranges;
    std::vector<CutEdges> cuts;
    std::vector<RowBatch> rows;

    void merge(Reply other);
    auto fields() {
        return std::tie(summary, scaled_total_weight, weighed, values, totals, low, high, histograms,
                        surrogate_histograms, value_histograms, child_histograms, ranges, cuts, rows);
    }
};

} // namespace tw

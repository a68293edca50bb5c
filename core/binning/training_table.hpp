// The table a tree is grown on: columns, the measured target, and what is known of each column from all rows.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/index.hpp"
#include "base/large_vector.hpp"
#include "base/recipe.hpp"
#include "base/shared_array.hpp"
#include "base/table.hpp"
#include "base/thread_pool.hpp"
#include "target/measure.hpp"

namespace tw {

// What is known of a column from the whole table.
struct ColumnFacts {
    Kind kind = Kind::number; // binned numbers are ordinal here
    int levels = 0;           // levels, or bins
    bool allowed = true;      // whether splits and surrogates may use it
    bool quantile_binned = false;
    std::vector<double> bounds;   // upper bound of each bin (binned only)
    std::vector<double> distinct; // distinct values, rising (numbers whose
                                  // thresholds are observed values)
};

// Where values are read from.
struct TrainingTable {
    const Table& table;
    const Measure& measure;
    std::vector<ColumnFacts> facts;
    std::vector<SharedArray<int32_t>> quantile_bins; // per binned column

    // NaN: missing; levels as their code, binned numbers as their bin.
    double value(int column, uint32_t row) const;
};

// The codes of a column of levels or of quantile bins; null for other numbers.
const int32_t* codes_of(const TrainingTable& training, int column);

// What growing needs to know of the columns from the whole table: the rows it is grown on. `distinct(column)`: their
// known values, rising, if they are known already.
using DistinctOf = std::function<std::vector<double>(TableColumn)>;
TrainingTable training_table(const Table& table, const Recipe& recipe, const Measure& measure,
                             std::span<const uint32_t> rows, ThreadPool& pool, const DistinctOf& distinct = nullptr);

// The known values of a column, rising, each with its weight.
using WeightedValues = std::vector<std::pair<double, int64_t>>;
WeightedValues weighted_values(const Column& data, const Measure& measure, std::span<const uint32_t> rows);

// Whether anything but kind and levels must be known of a column.
bool needs_distinct_values(const Column& data, const Recipe& recipe);

ColumnFacts column_facts(const Column& data, const Recipe& recipe, const WeightedValues& known);

// The bin of every row of a binned column, -1: missing.
std::vector<int32_t> assign_quantile_bins(const Numbers& numbers, int64_t rows, const std::vector<double>& bounds);

// The rows that take part: those with a weight and, on request, with any value; as often as they are in the sample, or
// `once`.
LargeVector<uint32_t> training_rows(const Table& table, const Recipe& recipe, const Measure& measure,
                                    ThreadPool* pool = nullptr, bool once = false);

} // namespace tw

// A partition prepared once for all trees: binned and measured, as plain arrays that can be stored anywhere.
#pragma once

#include "base/recipe.hpp"
#include "base/shared_array.hpp"
#include "binning/value_histogram.hpp"
#include "remote/protocol.hpp"

namespace tw {

// Empty arrays are not needed.
struct PreparedPartition {
    SharedArray<uint8_t> plan; // the written form of the Plan
    SharedArray<int64_t> weight, target, square, log;
    SharedArray<uint32_t> rank;
    SharedArray<uint8_t> by_row, by_column;
    SharedArray<uint8_t> bounds;        // the written form of the binned columns' bounds
    SharedArray<int32_t> quantile_bins; // of binned columns, one after the other

    // Calls visit(name, array) for each.
    template <class Self, class Visit>
    static void each(Self& self, const Visit& visit) {
        visit("plan", self.plan);
        visit("weight", self.weight);
        visit("target", self.target);
        visit("square", self.square);
        visit("log", self.log);
        visit("rank", self.rank);
        visit("by_row", self.by_row);
        visit("by_column", self.by_column);
        visit("bounds", self.bounds);
        visit("bin_codes", self.quantile_bins);
    }
};

PreparedPartition prepare(const Table& table, const Target& targets, const Plan& plan);
// The same with the bins of binned columns.
PreparedPartition with_bounds(PreparedPartition prepared, const Table& table,
                              const std::vector<std::vector<double>>& bounds);

Plan plan_of(const PreparedPartition& prepared);
Measure measure_from(const Plan& plan, const PreparedPartition& prepared, const Target& targets, int64_t rows);
TrainingTable training_from(const Table& table, const Measure& measure, const Recipe& recipe,
                            const PreparedPartition& prepared);

} // namespace tw

// The target as integers, so that sums do not depend on the order of rows, threads or partitions.
//
// Units are powers of two; whole-number weights and dyadic targets of ordinary size are exact.
//
// As integers a statistic has `sums` numbers: one weight per class, or weight, sum and sum of squares of a numeric
// target measured from `offset` (and, for Poisson, the sum of y ln y). As doubles, what criteria read, it has `width`
// numbers: the class weights, or weight, sum and a third that the criterion needs: the sum of squares, of y ln y, or,
// for the absolute error, weight, median and sum of absolute deviations.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "base/recipe.hpp"
#include "base/shared_array.hpp"
#include "base/table.hpp"

namespace tw {

__extension__ typedef __int128 Sum;

// One row at a node; fractional rows are several entries whose weights are fractions of the row's.
struct Entry {
    uint32_t row;
    int64_t weight; // in units of Measure::weight_unit
};

struct Measure {
    Statistic statistic = Statistic::classes;
    int n_classes = 0; // 0: numeric target
    double weight_unit = 1;
    double sum_unit = 1;    // of weight x target
    double square_unit = 1; // of weight x squared target
    double log_unit = 1;    // of weight x y ln y
    double offset = 0;
    double target_unit = 1;
    const double* raw = nullptr; // the numeric target as given

    int64_t rows = 0;
    bool unit_weights = false;    // rows weigh one unit, or nothing
    int64_t max_abs = 1;          // no target of a row with weight is farther from the offset
    SharedArray<int64_t> weight;  // per row; empty: all weigh one unit
    SharedArray<int32_t> repeats; // per row: how often it is in the sample; empty: once
    SharedArray<int32_t> classes; // per row
    SharedArray<int64_t> target;  // per row, in target_unit from offset
    SharedArray<int64_t> square;  // per row
    SharedArray<int64_t> log;     // per row, y ln y (Poisson only)
    SharedArray<uint32_t> rank;   // per row, place of the target among its distinct values (medians only)
    SharedArray<double> rank_value;
    SharedArray<int64_t> rank_target;

    int64_t weight_of(int64_t row) const { return weight.empty() ? 1 : weight[row]; }
    int32_t repeats_of(int64_t row) const { return weight_of(row) == 0 ? 0 : repeats.empty() ? 1 : repeats[row]; }
    int width() const { return n_classes > 0 ? n_classes : 3; }
    int sums() const { return n_classes > 0 ? n_classes : statistic == Statistic::deviance ? 4 : 3; }

    void add(Sum* stat, const Entry& entry) const {
        if (n_classes > 0) {
            stat[classes[entry.row]] += entry.weight;
        } else {
            stat[0] += entry.weight;
            stat[1] += static_cast<Sum>(target[entry.row]) * entry.weight;
            stat[2] += static_cast<Sum>(square[entry.row]) * entry.weight;
            if (statistic == Statistic::deviance) stat[3] += static_cast<Sum>(log[entry.row]) * entry.weight;
        }
    }

    // Sums as the numbers a criterion reads (not for medians, which are no sums: see Accumulator).
    void read(const Sum* stat, double* out) const;
    // Sums as class weights, or weight, sum and sum of squares from the offset, whatever the criterion needs.
    void read_moments(const Sum* stat, double* out) const;
    // Sums as the tree reports them: class weights, or weight, mean, sum of squared deviations.
    void to_report(const Sum* stat, double* out) const;
};

// --- how a table is measured: facts of its parts, merged, give the units that all parts share ---

struct WeightSummary {
    double max_weight = 0;
    bool whole = true; // all weights are whole numbers
    int64_t rows = 0;

    void merge(const WeightSummary& other);
    auto fields() { return std::tie(max_weight, whole, rows); }
};
WeightSummary summarize_weights(const Target& targets, int64_t rows);
// The whole weight in parts of the heaviest, as an integer: added up like this it does not depend on the order of rows.
Sum scaled_total_weight(const Target& targets, int64_t rows, double max_weight);

struct TargetSummary {
    bool any = false;
    double low = 0, high = 0;     // of rows with weight
    double max_log = 0;           // Poisson only
    std::vector<double> distinct; // medians only, rising

    void merge(const TargetSummary& other);
    auto fields() { return std::tie(any, low, high, max_log, distinct); }
};

// The scales that turn targets and weights into integers.
struct Units {
    Statistic statistic = Statistic::classes;
    int n_classes = 0;
    bool weighted = false; // rows have weights of their own, or are going to be divided
    bool unit_weights = true;
    double weight_scale = 1, total_weight = 0;
    double offset = 0, target_scale = 1, square_scale = 1, log_scale = 1;
    int64_t max_abs = 1;
    std::vector<double> distinct;

    auto fields() {
        return std::tie(statistic, n_classes, weighted, unit_weights, weight_scale, total_weight, offset, target_scale,
                        square_scale, log_scale, max_abs, distinct);
    }
};

// `fractions`: weights will be divided, so they get as many binary places as fit. `parts`: as `scaled_total_weight`
// counts.
Units weight_units(const WeightSummary& facts, Sum parts, bool has_weights, bool fractions, Statistic statistic,
                   int n_classes);
TargetSummary summarize_target(const Target& targets, int64_t rows, const Units& units);
void set_target_units(const TargetSummary& facts, Units& units);
// The units without any row.
Measure empty_measure(const Units& units);
// Every row in these units.
Measure measure_rows(const Target& targets, int64_t rows, const Units& units);

// All of it for a table that is one part.
Measure measure_target(const Target& targets, int64_t rows, bool fractions, Statistic statistic);

} // namespace tw

// What is added up about the target, in integers: sums do not depend on the order of rows, threads or partitions.
//
// Comes in: the answers and weights of all rows. Goes out: `Measure`, every row's contribution as an integer, and the
// units that turn sums of them back into numbers. Always holds: units are powers of two; whole-number weights and
// dyadic targets of ordinary size are held exactly.
//
// A statistic as integers has `sums` of them: one weight per class, or weight, sum and sum of squares of a numeric
// target measured from `offset` (and, for Poisson, the sum of y ln y). As doubles, what criteria read, it has `width`
// numbers: the class weights, or weight, sum and a third that the criterion needs: the sum of squares, of y ln y, or
// for the absolute error weight, median, sum of absolute deviations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recipe.hpp"
#include "table.hpp"

namespace tw {

__extension__ typedef __int128 Sum;

// One row at a node; spread rows are several entries whose weights are fractions of the row's.
struct Entry {
    uint32_t row;
    int64_t weight; // in units of Measure::weight_unit
};

enum class Needs { classes, squares, medians, deviance };

struct Measure {
    Needs needs = Needs::classes;
    int n_classes = 0; // 0: numeric target
    double weight_unit = 1;
    double sum_unit = 1;    // of weight x target
    double square_unit = 1; // of weight x squared target
    double log_unit = 1;    // of weight x y ln y
    double offset = 0;
    double target_unit = 1;
    const double* raw = nullptr; // the numeric target as given

    int64_t rows = 0;
    bool even = false;            // rows weigh one unit, or nothing
    std::vector<int64_t> weight;  // per row; empty: all weigh one unit
    std::vector<int32_t> classes; // per row
    std::vector<int64_t> target;  // per row, in target_unit from offset
    std::vector<int64_t> square;  // per row
    std::vector<int64_t> log;     // per row, y ln y (Poisson only)
    std::vector<uint32_t> rank;   // per row, place of the target among its distinct
                                  // values (medians only)
    std::vector<double> rank_value;
    std::vector<int64_t> rank_target;

    int64_t weight_of(int64_t row) const { return weight.empty() ? 1 : weight[row]; }
    int width() const { return n_classes > 0 ? n_classes : 3; }
    int sums() const { return n_classes > 0 ? n_classes : needs == Needs::deviance ? 4 : 3; }

    void add(Sum* stat, const Entry& entry) const {
        if (n_classes > 0) {
            stat[classes[entry.row]] += entry.weight;
        } else {
            stat[0] += entry.weight;
            stat[1] += static_cast<Sum>(target[entry.row]) * entry.weight;
            stat[2] += static_cast<Sum>(square[entry.row]) * entry.weight;
            if (needs == Needs::deviance) stat[3] += static_cast<Sum>(log[entry.row]) * entry.weight;
        }
    }

    // Sums as the numbers a criterion reads (not for medians, which are no sums: see Pile).
    void read(const Sum* stat, double* out) const;
    // Sums as class weights, or weight, sum and sum of squares from the offset, whatever the criterion needs.
    void read_moments(const Sum* stat, double* out) const;
    // Sums as the tree tells them: class weights, or weight, mean, sum of squared deviations.
    void tell(const Sum* stat, double* out) const;
};

Needs needs_of(Rule rule);
// `fractions`: weights will be divided, so they get as many binary places as fit.
Measure measure(const Answers& answers, int64_t rows, bool fractions, Needs needs);

} // namespace tw

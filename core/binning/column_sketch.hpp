// Bins of a table in partitions: the merged sketches of a column of numbers give its bins.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "binning/binned_table.hpp"

namespace tw {

struct ColumnSketch {
    bool has_missing = false;
    bool many = false;            // more distinct values than bins
    std::vector<double> distinct; // rising; only a beginning where there are many
    std::vector<double> sample;

    void merge(const ColumnSketch& other);
    auto fields() { return std::tie(has_missing, many, distinct, sample); }
};

// One sketch per column of numbers; every `step`-th row is sampled.
std::vector<ColumnSketch> sketch(const Table& table, int64_t step);

// The bins, laid out one column after the other.
std::vector<ColumnBins> bins_of(const Table& table, const std::vector<ColumnSketch>& sketches);

} // namespace tw

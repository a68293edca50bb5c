// Sums over the rows of each node, for least squares: ranges, then means, then products of deviations from the means.
//
// Values are rounded once to integers of at most 2^50 units, each node with units of its own; sums of integers do not
// depend on the order of rows, threads or partitions, and those of partitions are added. For products, every value of a
// row is multiplied with the root of its weight before it is rounded: the sums are then exactly those of a table that
// differs from the given one in the last bits only, so that nearly collinear columns lose nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.hpp"
#include "linear/regressors.hpp"
#include "target/measure.hpp"

namespace tw {

// The row of the table, the node where it ends, and how much of it does.
struct RowEnds {
    const int64_t* row = nullptr;
    const int64_t* node = nullptr;
    const double* weight = nullptr; // null: one each
    int64_t count = 0;
};

// Per node, the regressors whose sums are wanted; the target comes last and is number -1.
struct NodeSlots {
    std::span<const int32_t> start; // nodes + 1
    std::span<const int32_t> regressor;

    int64_t nodes() const { return static_cast<int64_t>(start.size()) - 1; }
    int size(int64_t node) const { return start[node + 1] - start[node]; }
};

struct LinearRows {
    const std::vector<Column>& columns;
    const double* target;
    const std::vector<Regressor>& regressors;
    const NodeSlots& slots;
    const RowEnds& ends;
};

struct SlotRanges {
    std::vector<double> low, high;  // per slot, of the known values; low > high: none
    std::vector<double> max_weight; // per node
};

struct SlotMeans {
    std::vector<Sum> sum;          // per slot, weight x distance from the middle of the range
    std::vector<Sum> known_weight; // per slot
};

struct SlotProducts {
    std::vector<Sum> product;  // per node where rows end and pair of slots, the first not after the second
    std::vector<Sum> sum;      // per slot
    std::vector<Sum> weight;   // per node
    std::vector<int64_t> rows; // per node
};

// How numbers become integers: times a power of two, such that none is beyond 2^unit_bits.
constexpr int unit_bits = 50;
int scale_exponent(double max_abs);

// Where the products of a node's slots begin; nodes where no row ends have none.
std::vector<int64_t> pair_starts(const NodeSlots& slots, const SlotRanges& ranges);

SlotRanges slot_ranges(const LinearRows& rows, ThreadPool& pool);
SlotMeans slot_means(const LinearRows& rows, const SlotRanges& ranges, ThreadPool& pool);
// `mean`: per slot; a missing value counts as the mean.
SlotProducts slot_products(const LinearRows& rows, const SlotRanges& ranges, std::span<const double> mean,
                           ThreadPool& pool);

} // namespace tw

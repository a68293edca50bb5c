// Means and products of deviations of every node of a tree, from the sums over the rows that end at each.
//
// Children are added to their parent in the order of the tree, so the result depends on the sums alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linear/row_sums.hpp"
#include "linear/wide.hpp"

namespace tw {

// Of one node, for its slots in order; the target is the last.
struct Moments {
    double rows = 0;
    Wide weight;
    std::vector<Wide> mean;
    std::vector<Wide> product; // of deviations, every pair of slots, the first not after the second
    double target_low = 0, target_high = 0;

    int size() const { return static_cast<int>(mean.size()); }
    const Wide& of(int a, int b) const {
        if (a > b) std::swap(a, b);
        return product[static_cast<size_t>(a) * (2 * size() - a + 1) / 2 + (b - a)];
    }
};

// `slots` of a child contain those of its parent, both rising except for the target at the end.
std::vector<Moments> node_moments(std::span<const int32_t> parent, const NodeSlots& slots, const SlotRanges& ranges,
                                  std::span<const double> mean, const SlotProducts& sums, ThreadPool& pool);

} // namespace tw

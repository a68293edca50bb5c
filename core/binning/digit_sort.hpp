// Sorting rows by a number, in time that grows with the rows alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/interrupt.hpp"
#include "binning/number_key.hpp"

namespace tw {

struct KeyAndRow {
    uint64_t key; // of its number (binning/number_key.hpp)
    int32_t row;
};

// A radix sort, so equal keys keep their order; digits that all keys share are skipped, such as those beyond single
// precision.
inline void sort_by_digits(std::vector<KeyAndRow>& order) {
    constexpr int digit_bits = 11;
    constexpr uint64_t mask = (uint64_t{1} << digit_bits) - 1;
    std::vector<KeyAndRow> next(order.size());
    for (int shift = 0; shift < 64; shift += digit_bits) {
        check_interrupt();
        std::vector<size_t> place(mask + 2, 0);
        for (const KeyAndRow& each : order) ++place[((each.key >> shift) & mask) + 1];
        if (std::find(place.begin() + 1, place.end(), order.size()) != place.end()) continue;
        std::partial_sum(place.begin(), place.end(), place.begin());
        for (const KeyAndRow& each : order) next[place[(each.key >> shift) & mask]++] = each;
        order.swap(next);
    }
}

} // namespace tw

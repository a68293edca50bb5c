// Sorting by whole-number keys, digit by digit from the lowest: several times as fast as comparing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/interrupt.hpp"

namespace tw {

// Stable. Digits that all keys share are not looked at, such as those of doubles beyond single precision.
template <class Item, class Key>
void sort_by_digits(std::vector<Item>& items, const Key& key) {
    constexpr int digit_bits = 11;
    constexpr uint64_t mask = (uint64_t{1} << digit_bits) - 1;
    if (items.size() <= mask / 2) { // fewer than digits can have values
        return std::stable_sort(items.begin(), items.end(),
                                [&](const Item& a, const Item& b) { return key(a) < key(b); });
    }
    uint64_t differing = 0;
    for (const Item& item : items) differing |= key(item) ^ key(items.front());
    std::vector<Item> next(items.size());
    for (int shift = 0; shift < 64 && differing >> shift != 0; shift += digit_bits) {
        shift += std::countr_zero(differing >> shift);
        check_interrupt();
        std::array<size_t, mask + 2> place{};
        for (const Item& item : items) ++place[((key(item) >> shift) & mask) + 1];
        std::partial_sum(place.begin(), place.end(), place.begin());
        for (const Item& item : items) next[place[(key(item) >> shift) & mask]++] = item;
        items.swap(next);
    }
}

struct KeyAndRow {
    uint64_t key; // of a number (binning/number_key.hpp)
    int32_t row;
};

inline void sort_by_digits(std::vector<KeyAndRow>& order) {
    sort_by_digits(order, [](const KeyAndRow& each) { return each.key; });
}

} // namespace tw

// Sorting by whole-number keys, digit by digit from the lowest: several times as fast as comparing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"

namespace tw {

// Stable. Bits that all keys share above and below the others are not looked at, such as those of doubles beyond single
// precision. `spare` becomes room for as many items.
template <class Item, class Key>
void sort_by_digits(std::span<Item> items, std::vector<Item>& spare, const Key& key) {
    constexpr size_t few = 16;
    if (items.size() <= few) {
        for (size_t i = 1; i < items.size(); ++i) {
            const Item moved = items[i];
            size_t to = i;
            for (; to > 0 && key(moved) < key(items[to - 1]); --to) items[to] = items[to - 1];
            items[to] = moved;
        }
        return;
    }
    uint64_t differing = 0;
    for (const Item& item : items) differing |= key(item) ^ key(items.front());
    if (differing == 0) return;
    constexpr int widest = 11;
    const int first = std::countr_zero(differing), bits = std::bit_width(differing) - first;
    // A digit has no more values than there are items, so that counting them takes no longer than the items.
    const int comparisons = std::bit_width(items.size()), most = std::min(widest, comparisons);
    const int digits = (bits + most - 1) / most, width = (bits + digits - 1) / digits;
    if (2 * digits > comparisons) { // every digit moves all items, and so does about every second comparison
        return std::stable_sort(items.begin(), items.end(),
                                [&](const Item& a, const Item& b) { return key(a) < key(b); });
    }
    spare.resize(std::max(spare.size(), items.size()));
    Item *from = items.data(), *to = spare.data();
    const uint64_t mask = (uint64_t{1} << width) - 1;
    for (int digit = 0; digit < digits; ++digit) {
        check_interrupt();
        const int shift = first + digit * width;
        std::array<uint32_t, (size_t{1} << widest) + 1> next;
        std::fill_n(next.begin(), mask + 2, 0);
        for (size_t i = 0; i < items.size(); ++i) ++next[(key(from[i]) >> shift & mask) + 1];
        for (size_t value = 1; value <= mask; ++value) next[value] += next[value - 1];
        for (size_t i = 0; i < items.size(); ++i) to[next[key(from[i]) >> shift & mask]++] = from[i];
        std::swap(from, to);
    }
    if (from != items.data()) std::copy_n(from, items.size(), items.data());
}

struct KeyAndRow {
    uint64_t key; // of a number (binning/number_key.hpp)
    int32_t row;
};

inline void sort_by_digits(std::vector<KeyAndRow>& order) {
    std::vector<KeyAndRow> spare;
    sort_by_digits(std::span(order), spare, [](const KeyAndRow& each) { return each.key; });
}

} // namespace tw

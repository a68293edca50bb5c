// Sorting the few rows of a small node by value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tw {

struct ValueAndRow {
    double value;
    uint16_t row;
};

inline void order_by_value(ValueAndRow* begin, ValueAndRow* end) {
    constexpr std::ptrdiff_t insertion = 16;
    if (end - begin > insertion) {
        std::sort(begin, end, [](const ValueAndRow& a, const ValueAndRow& b) { return a.value < b.value; });
        return;
    }
    for (ValueAndRow* at = begin + 1; at < end; ++at) {
        const ValueAndRow moved = *at;
        ValueAndRow* to = at;
        for (; to > begin && moved.value < to[-1].value; --to) *to = to[-1];
        *to = moved;
    }
}

} // namespace tw

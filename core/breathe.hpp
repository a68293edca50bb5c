// Breathing: a chance for Ctrl-C in the middle of long work.
//
// Always holds: without a pool nothing happens. With one, the thread that called looks for signals, and the others look
// whether the work was given up; either may throw, so nothing may depend on what was only begun.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

namespace tw {

// For the thread's pool (pool.hpp); cheap, but not for every row.
void breathe();

// std::sort, with breath.
template <class Iterator, class Less = std::less<>>
void sort_long(Iterator begin, Iterator end, const Less& less = {}) {
    uint32_t compared = 0;
    std::sort(begin, end, [&](const auto& a, const auto& b) {
        if (++compared % (1 << 16) == 0) breathe();
        return less(a, b);
    });
}

} // namespace tw

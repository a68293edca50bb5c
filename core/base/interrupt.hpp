// A check for Ctrl-C inside long loops.
//
// Does nothing without a thread pool. With one, the calling thread polls for signals and the others check whether the
// work was cancelled; either may throw, so callers must be exception safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

namespace tw {

// For the thread's pool (base/thread_pool.hpp); cheap, but not for every row.
void check_interrupt();

// std::sort, interruptible.
template <class Iterator, class Less = std::less<>>
void sort_interruptible(Iterator begin, Iterator end, const Less& less = {}) {
    uint32_t compared = 0;
    std::sort(begin, end, [&](const auto& a, const auto& b) {
        if (++compared % (1 << 16) == 0) check_interrupt();
        return less(a, b);
    });
}

} // namespace tw

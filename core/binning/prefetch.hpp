// Calling data that lie far apart before they are read.
#pragma once

#include <cstddef>

namespace tw {

inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#endif
}
constexpr size_t prefetch_distance = 16; // rows that are called before they are read

} // namespace tw

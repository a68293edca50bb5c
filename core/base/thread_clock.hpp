// The processor time of the calling thread in nanoseconds: what it worked, whatever else the machine does.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace tw {

inline int64_t thread_processor_time() {
#if defined(CLOCK_THREAD_CPUTIME_ID)
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
#else
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

} // namespace tw

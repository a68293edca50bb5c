// Work shared by threads: numbered tasks, each done once, in any order.
//
// Always holds: nothing depends on which thread does what, because tasks write only to their own place; no thread
// outlives the call, so forking is safe. The first exception stops the work and is thrown to the caller.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tw {

// 0 threads means one per processor this process may use.
inline int thread_count(int threads) {
    return threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

template <class Task>
void parallel_for(int64_t tasks, int wanted, Task task) {
    const int threads = thread_count(wanted);
    if (threads <= 1 || tasks <= 1) {
        for (int64_t i = 0; i < tasks; ++i) task(i);
        return;
    }
    std::atomic<int64_t> next{0};
    std::exception_ptr error;
    std::mutex guard;
    const auto work = [&] {
        for (int64_t i = next++; i < tasks; i = next++) {
            try {
                task(i);
            } catch (...) {
                const std::lock_guard<std::mutex> lock(guard);
                if (!error) error = std::current_exception();
                next = tasks;
            }
        }
    };
    std::vector<std::thread> helpers;
    for (int64_t i = 1; i < threads && i < tasks; ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    if (error) std::rethrow_exception(error);
}

} // namespace tw

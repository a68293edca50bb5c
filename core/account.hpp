// Where a fit spends its time, for the benchmark: kept only for who asks, and no part of any decision.
//
// Always holds: times are nanoseconds of all threads together.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tw {

struct Account {
    std::atomic<int64_t> coding{0};       // columns into bins
    std::atomic<int64_t> counting{0};     // rows into histograms
    std::atomic<int64_t> choosing{0};     // cuts between bins
    std::atomic<int64_t> zooming{0};      // cuts inside bins
    std::atomic<int64_t> dividing{0};     // rows to children
    std::atomic<int64_t> ordering{0};     // columns of small nodes, once
    std::atomic<int64_t> scanning{0};     // cuts of small nodes
    std::atomic<int64_t> counted_rows{0}; // row and column pairs of the nodes that were counted or subtracted
    std::atomic<int64_t> zoomed_rows{0};  // of these, looked at one by one
};

// Adds the time of a scope to a part of an account, if there is one.
class Stopwatch {
public:
    Stopwatch(Account* account, std::atomic<int64_t> Account::* part) : part_(account ? &(account->*part) : nullptr) {
        if (part_) start_ = std::chrono::steady_clock::now();
    }
    ~Stopwatch() {
        if (part_) *part_ += std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count();
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

private:
    std::atomic<int64_t>* part_;
    std::chrono::steady_clock::time_point start_;
};

} // namespace tw

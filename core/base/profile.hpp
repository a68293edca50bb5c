// Where a fit spends its time, for benchmarks. Kept on request only; no decision depends on it.
//
// Times are nanoseconds summed over all threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tw {

struct Profile {
    std::atomic<int64_t> binning{0};      // columns into bins
    std::atomic<int64_t> histograms{0};   // rows into histograms
    std::atomic<int64_t> edge_scan{0};    // cuts between bins
    std::atomic<int64_t> refining{0};     // cuts inside bins
    std::atomic<int64_t> partitioning{0}; // rows to children
    std::atomic<int64_t> sorting{0};      // columns of small nodes, once
    std::atomic<int64_t> sorted_scan{0};  // cuts of small nodes
    std::atomic<int64_t> unshared{0};     // by one thread while the others could not help: what limits many cores
    std::atomic<int64_t> counted_rows{0}; // row and column pairs of the nodes that were counted or subtracted
    std::atomic<int64_t> refined_rows{0}; // of these, looked at one by one
};

// Adds the time of a scope to a part of an account, if there is one.
class ProfileTimer {
public:
    ProfileTimer(Profile* profile, std::atomic<int64_t> Profile::* phase)
        : phase_(profile ? &(profile->*phase) : nullptr) {
        if (phase_) start_ = std::chrono::steady_clock::now();
    }
    ~ProfileTimer() {
        if (phase_) *phase_ += std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count();
    }
    ProfileTimer(const ProfileTimer&) = delete;
    ProfileTimer& operator=(const ProfileTimer&) = delete;

private:
    std::atomic<int64_t>* phase_;
    std::chrono::steady_clock::time_point start_;
};

} // namespace tw

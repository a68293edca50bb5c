// The largest gains of a node's columns, as many as are to be exact: the node's split and its rivals. What one column
// finds raises the last of them, and closes bins of the others.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "threshold/cut.hpp"

namespace tw {

class BestGains {
public:
    // `known`: of each column, no more than what it has. With fewer columns than that, or with 0, all are to be exact.
    void start(size_t to_be_exact, std::vector<double> known) {
        if (to_be_exact == 0 || known.size() < to_be_exact) return;
        std::partial_sort(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(to_be_exact), known.end(),
                          std::greater<>());
        known.resize(to_be_exact);
        gains_ = std::move(known);
        last_ = gains_.back();
    }

    // No column of less gain is among the best. It rises: who finds a cut when changes the work and not the winners.
    double last() const { return last_.load(std::memory_order_relaxed); }

    bool is_one() const { return gains_.size() == 1; }

    // What is known of one column has risen.
    void raise(double from, double to) {
        if (gains_.empty() || !(to > from) || !(to > last())) return;
        const std::lock_guard<std::mutex> lock(guard_);
        if (!(to > gains_.back())) return;
        *(from > gains_.back() ? std::find(gains_.begin(), gains_.end(), from) : gains_.end() - 1) = to;
        std::sort(gains_.begin(), gains_.end(), std::greater<>());
        last_ = gains_.back();
    }

private:
    std::mutex guard_;
    std::vector<double> gains_; // the best first; empty: none is to be beaten
    std::atomic<double> last_{no_gain};
};

} // namespace tw

// The search for the best small tree: what it is given, and what it returns.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/interrupt.hpp"

namespace tw {

// A column as codes in rising order: a cut separates the codes up to it from those above. A column with missing values
// is given twice, once with the missing rows below all others and once above; a level as a column of two codes.
struct OrderedColumn {
    std::vector<int32_t> code; // one per row
    int codes = 0;
    int missing = -1; // the code of rows without a value: the first or the last; -1: none
};

enum class Objective { misclassification, squared_error };

constexpr int64_t no_leaf_limit = int64_t{1} << 40;

struct Problem {
    Objective objective = Objective::misclassification;
    std::vector<OrderedColumn> columns;
    std::vector<int32_t> label; // of classes
    std::vector<double> target; // numbers, near zero for accurate sums
    std::vector<double> weight; // empty: every row counts one
    int n_classes = 0;
    std::vector<double> cost; // [actual][predicted]; empty: every error costs one
    int max_depth = 3;
    int64_t max_leaves = no_leaf_limit;
    int64_t min_samples_leaf = 1;
    bool missing_to_majority = false; // a missing value goes to the child of more known weight; else to either
    double leaf_penalty = 0;          // of every leaf, in units of the loss
    std::vector<bool> is_root;        // [column]: the root may split on it; empty: any
};

// What the trees of a subproblem may be.
struct TreeLimits {
    int depth;
    int64_t leaves;
    int64_t min_rows;
    bool majority;

    // Fewer rows never lose more where leaves may have any size and missing values either side.
    TreeLimits relaxed() const { return {depth, leaves, 1, false}; }
    bool is_relaxed() const { return min_rows <= 1 && !majority; }
};

// How many leaves the two children of a cut may have.
struct LeafShare {
    int64_t low, high;
};

inline std::vector<LeafShare> leaf_shares(const TreeLimits& limits) {
    const int64_t most = int64_t{1} << (limits.depth - 1);
    if (limits.leaves >= 2 * most) return {{most, most}};
    std::vector<LeafShare> shares;
    for (int64_t low = std::max<int64_t>(1, limits.leaves - most); low <= std::min(most, limits.leaves - 1); ++low) {
        shares.push_back({low, limits.leaves - low});
    }
    return shares;
}

// A tree as cuts: rows with a code up to `cut` go to `low`. A leaf has no column.
struct CutTree {
    int column = -1;
    int cut = 0;
    std::unique_ptr<CutTree> low, high;
};

enum class Ended { proven, time_limit, memory_limit, interrupted };

// When a search ends early, and a report of how far it is.
struct SearchControl {
    std::optional<std::chrono::steady_clock::time_point> deadline;
    int64_t max_bytes = 0;                                         // 0: no limit
    std::atomic<int64_t> bytes{0};                                 // in use by subsets, histograms and intervals
    std::atomic<bool> stop{false};                                 // any thread may set it, by `end`
    std::atomic<Ended> ended{Ended::proven};                       // the first reason
    std::function<void(double lower, double upper)> on_progress{}; // bounds of the loss, between batches of work

    void end(Ended reason) {
        Ended none = Ended::proven;
        ended.compare_exchange_strong(none, reason);
        stop = true;
    }
    bool is_over() {
        check_interrupt();
        if (deadline && std::chrono::steady_clock::now() >= *deadline) end(Ended::time_limit);
        return stop;
    }
};

// Counts memory as in use while it exists.
class MemoryUse {
public:
    MemoryUse(SearchControl& control, int64_t bytes) : control_(control) { set(bytes); }
    ~MemoryUse() { control_.bytes -= bytes_; }
    MemoryUse(const MemoryUse&) = delete;
    MemoryUse& operator=(const MemoryUse&) = delete;

    void set(int64_t bytes) {
        const int64_t now = control_.bytes += bytes - bytes_;
        bytes_ = bytes;
        if (control_.max_bytes > 0 && now > control_.max_bytes) control_.end(Ended::memory_limit);
    }

private:
    SearchControl& control_;
    int64_t bytes_ = 0;
};

struct OptimalTree {
    std::unique_ptr<CutTree> tree;
    double loss = 0;    // with the penalty of its leaves
    double lower = 0;   // no tree has less
    int64_t solved = 0; // subproblems
};

class ThreadPool;

// The tree of least loss within the limits, or the best found in time. The result of a search that ends by itself is
// the same for any number of threads.
OptimalTree find_optimal_tree(const Problem& problem, SearchControl& control, ThreadPool& pool);

} // namespace tw

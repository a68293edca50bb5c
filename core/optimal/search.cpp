// Best-first branch and bound over the cuts of the root; the children are smaller problems of the same kind.
//
// An interval of cuts of one column loses at least what the rows below its first cut lose plus what the rows above its
// last cut lose. Solving both children of the middle cut gives bounds for both halves. Intervals are taken in batches
// of a fixed size, least bound first, so that the search is the same for any number of threads. With a limit on leaves,
// every way to share them between the children has intervals of its own.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "base/thread_pool.hpp"
#include "optimal/depth_two.hpp"
#include "optimal/greedy.hpp"
#include "optimal/problem.hpp"

namespace tw {
namespace {

constexpr size_t batch_size = 16; // enough for many threads; larger ones look at intervals that a better tree closes
constexpr int max_discrepancies = 2;
constexpr double most_counted = std::numeric_limits<int16_t>::max();

template <class Real>
struct Solved {
    Real loss = std::numeric_limits<Real>::infinity(); // infinity: no tree below the limit
    Real lower = 0;
    std::unique_ptr<CutTree> tree;
};

// Cuts strictly between `low` and `high`, with what the rows below the one and above the other lose at least.
template <class Real>
struct Interval {
    int column, low, high;
    LeafShare leaves;
    Real below, above;

    Real lower() const { return below + above; }
    // A heap puts the largest first.
    bool operator<(const Interval& other) const {
        if (lower() != other.lower()) return lower() > other.lower();
        if (column != other.column) return column > other.column;
        if (low != other.low) return low > other.low;
        return leaves.low > other.leaves.low;
    }
};

// The tree without cuts that leave one side empty: rounding can make them look better than a leaf.
std::unique_ptr<CutTree> without_idle_cuts(const Problem& problem, std::vector<int32_t> rows,
                                           std::unique_ptr<CutTree> tree) {
    if (tree->column < 0) return tree;
    const std::vector<int32_t>& code = problem.columns[tree->column].code;
    const auto middle = std::partition(rows.begin(), rows.end(), [&](int32_t row) { return code[row] <= tree->cut; });
    std::vector<int32_t> high(middle, rows.end());
    rows.erase(middle, rows.end());
    if (high.empty()) return without_idle_cuts(problem, std::move(rows), std::move(tree->low));
    if (rows.empty()) return without_idle_cuts(problem, std::move(high), std::move(tree->high));
    tree->low = without_idle_cuts(problem, std::move(rows), std::move(tree->low));
    tree->high = without_idle_cuts(problem, std::move(high), std::move(tree->high));
    return tree;
}

template <class Loss, class Real>
class Search {
public:
    static constexpr Real infinity = std::numeric_limits<Real>::infinity();

    Search(const Problem& problem, SearchControl& control, ThreadPool& pool)
        : problem_(problem), control_(control), pool_(pool), loss_(problem), counts_(problem) {}

    OptimalTree run() {
        const Subset all = all_rows(problem_, control_, pool_);
        const MemoryUse used(control_, all.bytes());
        const TreeLimits limits{problem_.max_depth, problem_.max_leaves, problem_.min_samples_leaf,
                                problem_.missing_to_majority};
        Solved<Real> solved = all.columns() > 0 ? solve(all, limits, infinity, true) : one_leaf(all, limits);
        if (!solved.tree) throw std::runtime_error("the loss of one leaf is beyond the range of numbers");
        OptimalTree result;
        result.loss = solved.loss;
        result.lower = solved.lower;
        result.tree = without_idle_cuts(problem_, all.row, std::move(solved.tree));
        result.solved = solved_;
        return result;
    }

private:
    Solved<Real> one_leaf(const Subset& subset, const TreeLimits& limits) {
        const Real loss = DepthTwo<Loss, Real>(loss_, problem_, limits, control_).leaf_loss(subset);
        return {loss, static_cast<Real>(problem_.leaf_penalty), std::make_unique<CutTree>()};
    }

    Solved<Real> solve(const Subset& subset, TreeLimits limits, Real limit, bool is_top) {
        if (subset.rows() == 0) return {infinity, 0, nullptr}; // the search is over
        ++solved_;
        limits.depth = static_cast<int>(std::min<int64_t>(limits.depth, limits.leaves - 1));
        if (limits.depth <= 2) return solve_small(subset, limits, limit, is_top);
        return solve_deep(subset, limits, limit, is_top);
    }

    Solved<Real> solve_small(const Subset& subset, const TreeLimits& limits, Real limit, bool is_top) {
        if constexpr (std::is_same_v<Loss, ClassLoss<float>>) {
            if (subset.total_weight() < most_counted) return solve_with(counts_, subset, limits, limit, is_top);
        }
        return solve_with(loss_, subset, limits, limit, is_top);
    }

    template <class AnyLoss>
    Solved<Real> solve_with(const AnyLoss& loss, const Subset& subset, const TreeLimits& limits, Real limit,
                            bool is_top) {
        DepthTwo<AnyLoss, Real> search(loss, problem_, limits, control_);
        const auto for_each_column = [&](size_t n, const auto& task) {
            for_each(is_top, n, [&](size_t i) {
                if (!control_.is_over()) task(i);
            });
        };
        static const std::vector<bool> any;
        const auto on_round = [&](Real lower, Real upper) {
            if (is_top) report(lower, upper);
        };
        const DepthTwoTree<Real> found = search.solve(subset, limit, is_top ? problem_.is_root : any,
                                                      is_top ? batch_size : 1, for_each_column, on_round);
        if (is_top) report(found.lower, found.loss);
        return {found.loss, found.lower, found.loss < infinity ? to_tree(subset, found) : nullptr};
    }

    // Only the root's tasks are worth threads of their own.
    template <class Act>
    void for_each(bool is_top, size_t n, const Act& act) {
        if (is_top) {
            pool_.run(static_cast<int64_t>(n), [&](int64_t i) { act(static_cast<size_t>(i)); });
        } else {
            for (size_t i = 0; i < n; ++i) act(i);
        }
    }

    std::unique_ptr<CutTree> to_tree(const Subset& subset, const DepthTwoTree<Real>& found) const {
        const auto node = [&](const ChildCut& child) {
            auto leaf = std::make_unique<CutTree>();
            if (child.column < 0) return leaf;
            return joined(subset, child.column, child.cut, std::move(leaf), std::make_unique<CutTree>());
        };
        if (found.column < 0) return std::make_unique<CutTree>();
        return joined(subset, found.column, found.cut, node(found.child[0]), node(found.child[1]));
    }

    std::unique_ptr<CutTree> joined(const Subset& subset, int column, int cut, std::unique_ptr<CutTree> low,
                                    std::unique_ptr<CutTree> high) const {
        auto tree = std::make_unique<CutTree>();
        tree->column = column;
        tree->cut = code_of_rank(problem_, subset, column, cut);
        tree->low = std::move(low);
        tree->high = std::move(high);
        return tree;
    }

    // The best of the root's cuts so far, and the intervals that may hold better ones.
    struct Frontier {
        Solved<Real> best;
        Real limit;
        Real closed = infinity;
        std::vector<Interval<Real>> open;        // a heap
        std::vector<std::vector<double>> weight; // [column]: of the rows up to each rank
        std::vector<std::vector<Real>> change;   // [column][rank]: how much all rows up to it can change a loss

        void add(const Interval<Real>& interval) {
            if (interval.high - interval.low <= 1) return;
            if (interval.lower() >= limit) {
                closed = std::min(closed, interval.lower());
                return;
            }
            open.push_back(interval);
            std::push_heap(open.begin(), open.end());
        }
    };
    struct Tried {
        Interval<Real> interval;
        int cut;
        Solved<Real> low{}, high{};
        Real lower = 0; // of this cut; those of the sides hold for other cuts too
    };

    Solved<Real> solve_deep(const Subset& subset, const TreeLimits& limits, Real limit, bool is_top) {
        Frontier frontier = first_frontier(subset, limits, limit, is_top);
        MemoryUse used(control_, 0);
        while (!frontier.open.empty() && !control_.is_over()) {
            std::vector<Tried> batch;
            const size_t most = is_top ? batch_size : 1;
            while (!frontier.open.empty() && batch.size() < most) {
                std::pop_heap(frontier.open.begin(), frontier.open.end());
                const Interval<Real> next = frontier.open.back();
                frontier.open.pop_back();
                if (next.lower() >= frontier.limit) {
                    frontier.closed = std::min(frontier.closed, next.lower());
                } else {
                    batch.push_back({next, middle_cut(frontier.weight[next.column], next.low, next.high)});
                }
            }
            for_each(is_top, batch.size(), [&](size_t i) { try_cut(subset, limits, frontier.limit, batch[i]); });
            for (Tried& tried : batch) take_best(subset, tried, frontier);
            for (const Tried& tried : batch) divide(tried, frontier);
            used.set(static_cast<int64_t>(frontier.open.capacity() * sizeof(Interval<Real>)));
            if (is_top) report(lower_of(frontier), frontier.best.loss);
        }
        frontier.best.lower = lower_of(frontier);
        return std::move(frontier.best);
    }

    Frontier first_frontier(const Subset& subset, const TreeLimits& limits, Real limit, bool is_top) {
        Frontier frontier;
        frontier.limit = limit;
        Solved<Real> leaf = one_leaf(subset, limits);
        frontier.closed = leaf.loss;
        if (leaf.loss < limit) {
            frontier.limit = leaf.loss;
            frontier.best = std::move(leaf);
        }
        if (is_top) take_descent(subset, limits, frontier);
        for (int f = 0; f < subset.columns(); ++f) {
            if (control_.is_over()) { // without all columns only this is known
                frontier.closed = static_cast<Real>(problem_.leaf_penalty);
                frontier.open.clear();
                break;
            }
            frontier.weight.push_back(cumulated_weight(subset, f));
            std::vector<Real> change(static_cast<size_t>(subset.ranks[f]), 0);
            for (size_t i = 0; i < subset.row.size(); ++i) {
                change[subset.rank[f][i]] += static_cast<Real>(loss_.max_change(subset, i));
            }
            for (size_t r = 1; r < change.size(); ++r) change[r] += change[r - 1];
            frontier.change.push_back(std::move(change));
            if (is_top && !problem_.is_root.empty() && !problem_.is_root[f]) continue;
            const CutRange range = allowed_cuts(problem_, subset, f, limits);
            const Real leaf_penalty = static_cast<Real>(problem_.leaf_penalty);
            for (const LeafShare& leaves : leaf_shares(limits)) {
                frontier.add({f, range.first - 1, range.end, leaves, leaf_penalty, leaf_penalty});
            }
        }
        return frontier;
    }

    // Good trees at once, so that a search that is stopped has one and bounds close more: the cuts of greedy growth,
    // with up to `most` choices other than the first (limited discrepancy), above the best trees of depth two.
    void take_descent(const Subset& subset, const TreeLimits& limits, Frontier& frontier) {
        for (int most = 0; most <= max_discrepancies && !control_.is_over(); ++most) {
            Solved<Real> found = descend(subset, limits, most, true);
            if (found.loss >= frontier.limit) continue;
            frontier.limit = found.loss;
            frontier.best.loss = found.loss;
            frontier.best.tree = std::move(found.tree);
            report(static_cast<Real>(problem_.leaf_penalty), found.loss);
        }
    }

    Solved<Real> descend(const Subset& subset, TreeLimits limits, int discrepancies, bool is_top) {
        limits.depth = static_cast<int>(std::min<int64_t>(limits.depth, limits.leaves - 1));
        if (limits.depth <= 2) return solve_small(subset, limits, infinity, false);
        std::vector<GreedyCut<Real>> cuts = greedy_cuts<Loss, Real>(problem_, loss_, subset, limits, is_top, control_);
        cuts.resize(std::min(cuts.size(), static_cast<size_t>(discrepancies) + 1));
        std::vector<Solved<Real>> found(cuts.size());
        for_each(is_top, cuts.size(), [&](size_t i) {
            found[i] = descend_at(subset, limits, cuts[i], discrepancies - static_cast<int>(i));
        });
        Solved<Real> best = one_leaf(subset, limits);
        for (Solved<Real>& each : found) {
            if (each.loss < best.loss) best = std::move(each);
        }
        return best;
    }

    Solved<Real> descend_at(const Subset& subset, const TreeLimits& limits, const GreedyCut<Real>& cut,
                            int discrepancies) {
        Solved<Real> best;
        const Subset low = one_side(subset, cut.column, cut.cut, true, control_);
        const Subset high = one_side(subset, cut.column, cut.cut, false, control_);
        if (low.rows() == 0 || high.rows() == 0) return best;
        const MemoryUse used(control_, low.bytes() + high.bytes());
        for (const LeafShare& leaves : leaf_shares(limits)) {
            const TreeLimits of_low{limits.depth - 1, leaves.low, limits.min_rows, limits.majority};
            const TreeLimits of_high{limits.depth - 1, leaves.high, limits.min_rows, limits.majority};
            Solved<Real> below = descend(low, of_low, discrepancies, false);
            Solved<Real> above = descend(high, of_high, discrepancies, false);
            if (below.loss + above.loss >= best.loss) continue;
            best.loss = below.loss + above.loss;
            best.tree = joined(subset, cut.column, cut.cut, std::move(below.tree), std::move(above.tree));
        }
        return best;
    }

    // Solves both children of the cut. Bounds for other cuts come from children without limits on rows (`relaxed`).
    void try_cut(const Subset& subset, const TreeLimits& limits, Real limit, Tried& tried) {
        const Interval<Real>& interval = tried.interval;
        const Subset low = one_side(subset, interval.column, tried.cut, true, control_);
        const Subset high = one_side(subset, interval.column, tried.cut, false, control_);
        const MemoryUse used(control_, low.bytes() + high.bytes());
        const TreeLimits of_low{limits.depth - 1, interval.leaves.low, limits.min_rows, limits.majority};
        const TreeLimits of_high{limits.depth - 1, interval.leaves.high, limits.min_rows, limits.majority};
        tried.low = solve(low, of_low.relaxed(), limit - interval.above, false);
        tried.high = solve(high, of_high.relaxed(), limit - interval.below, false);
        tried.lower = tried.low.lower + tried.high.lower;
        if (limits.is_relaxed()) return;
        const Real low_bound = tried.low.lower, high_bound = tried.high.lower;
        tried.low.loss = tried.high.loss = infinity;
        if (low_bound + high_bound < limit) {
            tried.low = solve(low, of_low, limit - high_bound, false);
            tried.high = solve(high, of_high, limit - low_bound, false);
            tried.lower = std::max(tried.lower, tried.low.lower + tried.high.lower);
        }
        tried.low.lower = low_bound;
        tried.high.lower = high_bound;
    }

    void take_best(const Subset& subset, Tried& tried, Frontier& frontier) const {
        const Real loss = tried.low.loss + tried.high.loss;
        if (loss >= frontier.limit) return;
        frontier.limit = frontier.best.loss = loss;
        frontier.best.tree =
            joined(subset, tried.interval.column, tried.cut, std::move(tried.low.tree), std::move(tried.high.tree));
    }

    // Both halves of the interval, without the cuts that lie too close to the one tried.
    void divide(const Tried& tried, Frontier& frontier) const {
        const Interval<Real>& interval = tried.interval;
        const Real below = std::max(interval.below, tried.low.lower),
                   above = std::max(interval.above, tried.high.lower);
        const std::vector<Real>& change = frontier.change[interval.column];
        const Real spare = below + above - frontier.limit;
        frontier.closed = std::min(frontier.closed, std::max(below + above, tried.lower));
        int low = tried.cut, high = tried.cut;
        if (change.back() > 0 && spare > 0) {
            while (low - 1 > interval.low && change[tried.cut] - change[low - 1] <= spare) --low;
            while (high + 1 < interval.high && change[high + 1] - change[tried.cut] <= spare) ++high;
            if (low < tried.cut || high > tried.cut) frontier.closed = std::min(frontier.closed, frontier.limit);
        }
        frontier.add({interval.column, interval.low, low, interval.leaves, interval.below, above});
        frontier.add({interval.column, high, interval.high, interval.leaves, below, interval.above});
    }

    static Real lower_of(const Frontier& frontier) {
        Real lower = frontier.closed;
        for (const Interval<Real>& interval : frontier.open) lower = std::min(lower, interval.lower());
        return std::min(lower, frontier.best.loss);
    }

    void report(Real lower, Real upper) {
        if (control_.on_progress) control_.on_progress(lower, upper);
    }

    const Problem& problem_;
    SearchControl& control_;
    ThreadPool& pool_;
    const Loss loss_;
    const ClassLoss<int16_t> counts_; // of few rows: more at a time
    std::atomic<int64_t> solved_{0};
};

// Counts of rows are exact in single precision, which scans twice as many cells at a time.
bool is_counted(const Problem& problem) {
    constexpr double exact_in_float = 1 << 24;
    if (problem.weight.empty()) return static_cast<double>(problem.label.size()) < exact_in_float;
    const auto is_whole = [](double weight) { return weight == std::floor(weight); };
    return std::all_of(problem.weight.begin(), problem.weight.end(), is_whole) &&
           std::accumulate(problem.weight.begin(), problem.weight.end(), 0.0) < exact_in_float;
}

} // namespace

OptimalTree find_optimal_tree(const Problem& problem, SearchControl& control, ThreadPool& pool) {
    switch (problem.objective) {
        case Objective::misclassification:
            if (is_counted(problem) && problem.cost.empty() && problem.leaf_penalty == 0) {
                return Search<ClassLoss<float>, float>(problem, control, pool).run();
            }
            return Search<ClassLoss<double>, double>(problem, control, pool).run();
        case Objective::squared_error:
            return Search<SquaredLoss, double>(problem, control, pool).run();
    }
    throw std::logic_error("unknown objective");
}

} // namespace tw

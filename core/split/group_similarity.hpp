// How alike groups of levels are: the pair with the largest p of a test between its two groups.
//
// Pairs compete as in a scan over all of them in order: a pair wins if its ln p is larger by more than rounding, so the
// first of equals does. An upper bound per group spares nearly all of that scan; after a change only pairs of the
// changed group are tested again.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "criterion/group_test.hpp"

namespace tw {

// The largest ln p of the pairs offered so far. p falls as the statistic or the degrees of freedom within groups rise,
// so ln p is computed only for a statistic below all that are known to have no larger p.
class LargestP {
public:
    LargestP() = default;
    explicit LargestP(double log_p) : log_p_(log_p) {} // pairs must be larger than this

    // Whether the pair's ln p is larger than all before.
    bool offer(Criterion criterion, const Test& pair);
    double log_p() const { return log_p_; }

private:
    double log_p_ = -std::numeric_limits<double>::infinity();
    // Per range of degrees of freedom: statistics from here on have no larger ln p. For F it falls from range to range.
    std::vector<double> low_;
};

// Groups are named by slots, in whose order they stand; ordered: only neighbours are pairs.
class GroupSimilarity {
public:
    struct Pair {
        size_t a = 0, b = 0;
        double log_p = -std::numeric_limits<double>::infinity();
    };

    // `stats`: of one group after the other, for slots 0, 1, ...
    GroupSimilarity(Criterion criterion, bool ordered, int width, std::span<const double> stats);

    void set(size_t slot, Stat stat); // a changed or new group
    void erase(size_t slot);
    Pair most_alike();

private:
    struct Row { // the pairs of a group with those after it
        LargestP largest;
        size_t partner = 0; // of the largest
        bool exact = true;  // the largest is still among the pairs; otherwise it is an upper bound
    };

    Test test(size_t a, size_t b);
    // Calls act(slot) for the partners of a group after it, until it returns true.
    template <class Act>
    void each_partner(size_t slot, const Act& act) const;
    void write(size_t slot, Stat stat);
    void scan(size_t slot);
    void offer(size_t slot, size_t partner);
    void forget(size_t slot); // pairs of earlier groups with this one
    Pair first_in_row(size_t slot, double most);
    Pair scan_all();

    Criterion criterion_;
    bool ordered_;
    size_t width_;
    std::vector<double> stats_;
    std::vector<TestGroup> groups_;
    std::vector<Row> rows_;
    std::vector<size_t> slots_; // in use, rising
    std::vector<double> column_;
};

} // namespace tw

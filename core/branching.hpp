// Branching: from one column's buckets to its best candidate split.
//
// Comes in: the buckets of a column at a node. Goes out: the best allowed division of its bins into children, rated.
// Always holds: pure functions of small tables; no row is ever seen here.
#pragma once

#include <memory>
#include <optional>

#include "buckets.hpp"
#include "judge.hpp"
#include "split.hpp"

namespace tw {

// What is known of a column from the whole table.
struct ColumnFacts {
    Kind kind = Kind::number; // binned numbers are ordinal here
    int levels = 0;           // levels, or bins
    bool binned = false;
    std::vector<double> bounds;   // upper bound of each bin (binned only)
    std::vector<double> distinct; // distinct values, rising (numbers whose
                                  // thresholds are observed values)
};

// Which child each bucket goes to, and the missing entries (-1: scored nowhere).
struct Division {
    int children = 0;
    std::vector<int> child; // per bucket
    int missing = -1;
};

// Why a column has nothing to offer.
enum class Obstacle { none, constant, too_small, no_gain };

// A division as it is used, with what is told about it.
struct Rated {
    Rating rating;
    Split split;
    double log_multiplier = 0; // Bonferroni (merge)
};

struct Candidate : Rated {
    int column = -1;
    Obstacle obstacle = Obstacle::constant;
    bool significant = true; // merge: adjusted p within alpha_split
    // Merge: columns compete as tested, but small children are merged before the winner is used; with fewer than two
    // children left it cannot be.
    std::shared_ptr<const Rated> enlarged;

    bool possible() const { return obstacle == Obstacle::none; }
};

struct NodeFacts {
    double weight = 0;
    std::vector<double> stat; // as criteria read it
};

// `tried`: the buckets are both sides of the best of so many cuts; 0: they are all there is to cut between.
Candidate best_candidate(const Task& task, const NodeFacts& node, const ColumnFacts& facts, Buckets buckets,
                         int64_t tried = 0);

// --- parts shared by the kinds of branching ---

// Whether missing entries are scored in a child (own category, learned direction) or left out.
bool scores_missing(Missing missing);
// The least weight of each side of a cut, if this much is known (C4.5: a tenth of it for each class, at most 25).
double least_side(const Task& task, double known_weight);
// Whether neighbouring values are far enough apart to be cut between.
inline bool may_part(double below, double above, double gap) {
    // Decimal data often differs by the gap itself, which no subtraction of doubles gives exactly.
    return above - below > gap * (1 + 1e-9);
}
Parent parent_of(const Task& task, const NodeFacts& node, const Buckets& buckets);
Children children_of(const Task& task, const Buckets& buckets, const Division& division);
// The split that sends each bucket where the division says. Levels absent at the node get `absent[level]`.
Split split_of(const Task& task, const ColumnFacts& facts, const Buckets& buckets, const Division& division,
               const Children& children, const std::vector<int>& absent);
// Writes the missing policy into a split whose shares are known; `missing_child`: where the candidate put the missing
// entries, -1: nowhere; `rows`: of each child.
void settle_missing(const Task& task, int missing_child, std::span<const int64_t> rows, Split& split);
// The child of largest mean target, classes by their number; of equals the first. Statistics one after the other.
int upper_child(const Task& task, std::span<const double> children);
int level_of(const Buckets& buckets, int bucket);
// The number between two neighbouring values that separates them under `<=` (closed) or `<`.
double midpoint(double below, double above, bool closed);
Buckets with_missing_level(Buckets buckets);
constexpr int missing_level = -1; // the code of the bucket that stands for missing as a level of its own

// C4.5's grouping: levels with next to no weight share the child `rest` (-1: there are none).
struct Grouping {
    Division division;
    int rest = -1;
};
std::optional<Grouping> group_levels(const Task& task, const Parent& parent, const Buckets& buckets, int levels);
Candidate merge_levels(const Task& task, const NodeFacts& node, const ColumnFacts& facts, const Buckets& buckets);

} // namespace tw

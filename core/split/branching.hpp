// Branching: from the histogram of one column to its best candidate split.
//
// Pure functions of small tables; no rows.
#pragma once

#include <memory>
#include <optional>

#include "base/split.hpp"
#include "binning/training_table.hpp"
#include "binning/value_ranks.hpp"
#include "split/scorer.hpp"
#include "target/histogram.hpp"

namespace tw {

// The child of each bin, and the missing entries (-1: scored nowhere).
struct BinMapping {
    int children = 0;
    std::vector<int> child; // per bin
    int missing = -1;
};

// Why a column has nothing to offer.
enum class Obstacle { none, constant, too_small, no_gain };

// A split with its scores.
struct RatedSplit {
    Rating rating;
    Split split;
    double log_multiplier = 0; // Bonferroni (merge)
};

struct Candidate : RatedSplit {
    int column = -1;
    Obstacle obstacle = Obstacle::constant;
    bool significant = true;  // merge: adjusted p within alpha_split
    bool has_missing = false; // some entries of the node lack a value of the column
    // Merge: columns compete as tested, but small children are merged before the winner is used; with fewer than two
    // children left it cannot be.
    std::shared_ptr<const RatedSplit> enlarged;

    bool possible() const { return obstacle == Obstacle::none; }
};

struct NodeFacts {
    double weight = 0;
    std::vector<double> stat; // as criteria read it
    uint64_t key = 0;         // draws depend on it
};
// A node whose split is searched.
struct OpenNode {
    int node;
    NodeFacts facts;
};

// `tried`: the bins are both sides of the best of so many cuts; 0: they are all there is to cut between.
Candidate best_candidate(const Task& task, const NodeFacts& node, const ColumnFacts& facts, Histogram histogram,
                         int64_t tried = 0);

// --- parts shared by the kinds of branching ---

// Whether the values of a column are cut in their order.
bool is_ordered(const Recipe& recipe, const ColumnFacts& facts);
// How many cuts of an ordered column the recipe allows at a node.
int allowed_cuts(const Task& task, const NodeFacts& node, const ColumnFacts& facts, const Histogram& histogram);
// C4.5: what the choice among so many cuts costs; the gain ratio follows.
void penalise_cuts(const Task& task, const NodeFacts& node, double cuts, Rating& rating);
// The chi-square or F test of a division, for criteria that are no test themselves.
Test significance_of(const Task& task, const Histogram& histogram, const BinMapping& mapping);
// CHAID's Bonferroni multiplier for so many groups of a column's bins.
double log_multiplier(const Task& task, const ColumnFacts& facts, const Histogram& histogram, int groups);

// Whether missing entries are scored in a child (own category, learned direction) or left out.
bool scores_missing(Missing missing);
// The least weight of each side of a cut, if this much is known (C4.5: a tenth of it for each class, at most 25).
double min_side_weight(const Task& task, double known_weight);
Parent parent_of(const Task& task, const NodeFacts& node, const Histogram& histogram);
Children children_of(const Task& task, const Histogram& histogram, const BinMapping& mapping);
// The split that sends each bin to its child in the mapping. Levels absent at the node get `absent[level]`.
Split split_of(const Task& task, const ColumnFacts& facts, const Histogram& histogram, const BinMapping& mapping,
               const Children& children, const std::vector<int>& absent);
// Writes the missing policy into a split whose shares are known; `missing_child`: where the candidate put the missing
// entries, -1: nowhere; `rows`: of each child.
void set_missing_policy(const Task& task, int missing_child, std::span<const int64_t> rows, Split& split);
// The child of largest mean target, classes by their number; of equals the first. Statistics one after the other.
int upper_child(const Task& task, std::span<const double> children);
int level_of(const Histogram& histogram, int bin);
// The number between two neighbouring values that separates them under `<=` (closed) or `<`.
double midpoint(double below, double above, bool closed);
Histogram with_missing_level(Histogram histogram);
constexpr int missing_level = -1; // the code of the bin that stands for missing as a level of its own

// C4.5's grouping: levels with next to no weight share the child `rest` (-1: there are none).
struct Grouping {
    BinMapping mapping;
    int rest = -1;
};
std::optional<Grouping> group_levels(const Task& task, const Parent& parent, const Histogram& histogram, int levels);
Candidate merge_levels(const Task& task, const NodeFacts& node, const ColumnFacts& facts, const Histogram& histogram);

} // namespace tw

// A split that is given instead of searched: rated as if it had been found.
#pragma once

#include "binning/value_histogram.hpp"
#include "split/branching.hpp"

namespace tw {

struct GivenSplit {
    Split split;                     // shares count the children; their values are found here
    std::optional<int> missing = {}; // where missing values go: a child, or as in Split::missing; else by the recipe
};

// The obstacle is whether the recipe would have considered it: too_small, no_gain or none. Where the recipe scores
// missing values in a child and none is given, the child of the best score takes them.
Candidate given_candidate(const Task& task, const NodeFacts& node, const TrainingTable& training,
                          std::span<const Entry> entries, const GivenSplit& given);

// Whether both splits of one column send every entry to the same child.
bool is_same_division(const TrainingTable& training, std::span<const Entry> entries, const Split& a, const Split& b);

} // namespace tw

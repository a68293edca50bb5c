// Surrogate splits: for every other column, the split that agrees most often with the chosen one.
//
// A surrogate has as many children as the chosen split and agrees more often than the majority child alone.
#pragma once

#include <optional>

#include "split/branching.hpp"

namespace tw {

struct Surrogate {
    Split split;
    double agreement = 0;
    double adjusted = 0; // agreement beyond the majority rule
};

// A node with the split that surrogates should follow.
struct ChosenSplit {
    int node;
    const Split* split;
};

// The weight a split sends to each child, from its own column counted by children.
std::vector<double> weight_sent(const Task& task, const Split& split, const Histogram& by_child);

// `child_weight`: weight the chosen split sends to each child, over all entries with a known child.
std::optional<Surrogate> best_surrogate(const Task& task, const ColumnFacts& facts, const Histogram& histogram,
                                        const Split& chosen, const std::vector<double>& child_weight);

// At most so many of a node's surrogates, by agreement, the lowest column on ties.
std::vector<Surrogate> best_surrogates(std::vector<Surrogate> found, size_t most);

} // namespace tw

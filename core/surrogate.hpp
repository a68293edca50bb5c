// Surrogate splits: of every other column, the split that most often agrees with the chosen one.
//
// Comes in: the other column's buckets with the chosen split's child as the target. Goes out: its best imitation.
// Always holds: a surrogate has as many children as the split it imitates and is better than always saying the
// largest child.
#pragma once

#include <optional>

#include "branching.hpp"

namespace tw {

struct Surrogate {
    Split split;
    double agreement = 0;
    double adjusted = 0; // agreement beyond the majority rule
};

// The weight a split sends to each child, from its own column counted by children.
std::vector<double> weight_sent(const Task& task, const Split& split, const Buckets& by_child);

// `child_weight`: weight the chosen split sends to each child, over all entries that can answer it.
std::optional<Surrogate> best_surrogate(const Task& task, const ColumnFacts& facts, const Buckets& buckets,
                                        const Split& chosen, const std::vector<double>& child_weight);

} // namespace tw

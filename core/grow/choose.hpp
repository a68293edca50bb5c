// Choose the node's split from one candidate per column.
//
// Ties go to the lowest column; every refusal has a reason.
#pragma once

#include "grow/grown_node.hpp"
#include "split/given_split.hpp"

namespace tw {

struct Decision {
    Stop stop = Stop::none;
    std::unique_ptr<Candidate> chosen; // if stop is none
    std::vector<Candidate> rivals;     // best first
};

// Why the node cannot be divided whatever its columns say, or none.
Stop stop_before_search(const Task& task, const GrownNode& node);

// The decision for a split that was given: rivals are the candidates that divide the node's entries in another way;
// `stop` is why the recipe would not have chosen the given one, or none.
Decision choose_given(const Task& task, const GrownNode& node, double root_weight, const TrainingTable& training,
                      std::span<const Entry> entries, const GivenSplit& given, std::vector<Candidate> candidates);

Decision choose(const Task& task, const GrownNode& node, double root_weight, std::vector<Candidate> candidates,
                const std::vector<const ColumnFacts*>& facts);

} // namespace tw

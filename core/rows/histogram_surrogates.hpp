// Surrogates of a large node in memory: the threshold search, with the child of each row as the target.
#pragma once

#include <span>
#include <vector>

#include "split/surrogate.hpp"
#include "threshold/cut.hpp"

namespace tw {

// `rows`: those of the node.
std::vector<Surrogate> surrogates_by_histogram(const Task& task, const SearchColumns& columns,
                                               const ChosenSplit& chosen, std::span<const uint32_t> rows,
                                               ThreadPool& pool);

} // namespace tw

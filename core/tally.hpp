// Rows passing through a tree that exists already: who goes where, and what they add up to.
//
// Comes in: flat arrays, encoded columns, entries (stat.hpp). Goes out: the entries of each child. Always holds: rows
// take the way they took while the tree was grown; the routing rule is split.hpp's.
#pragma once

#include <span>
#include <vector>

#include "fork.hpp"
#include "stat.hpp"

namespace tw {

using Entries = std::vector<Entry>;

// The entries of every row the tree was grown on: those with weight and, where the recipe drops them, with any value.
Entries all_entries(const Recipe& recipe, const Measure& measure, const std::vector<Column>& columns);

// Each child's share of the weight it was scored on (choices.md); the fork's own shares where there is none. `factor`:
// per class, real weight / weight that growing saw; empty: none was altered.
std::vector<double> shares_of(const Recipe& recipe, const Fork& fork, const std::vector<Column>& columns,
                              const Measure& measure, const std::vector<double>& factor, const Entries& entries);

// Where the entries of a node go.
struct Parts {
    std::vector<Entries> of_child;
    Entries stopped;     // at the node itself
    bool spread = false; // some entry went to several children, a part to each
};

// By these shares.
Parts divide(const Fork& fork, uint64_t key, const std::vector<double>& share, const std::vector<Column>& columns,
             const Entries& entries);

// Weight per class (Measure::add); classes only.
std::vector<double> class_weights(const Measure& measure, const Entries& entries);

// The class answered where the classes weigh so much: the heaviest or, with costs [truth x classes + answer], the
// cheapest; the first of equals.
size_t answer_of(const std::vector<double>& cost, std::span<const double> weights);

} // namespace tw

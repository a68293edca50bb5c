// What wrong answers cost, and whose weights count: growing sees altered weights, the tree tells the real ones.
//
// Comes in: nodes grown from rows whose weights were altered per class. Goes out: the same nodes, telling real weights.
// Always holds: without costs and factors nothing changes.
#pragma once

#include <vector>

#include "recipe.hpp"
#include "tree.hpp"

namespace tw {

struct Costs {
    std::vector<double> factor; // per class: real weight / altered weight; empty: none was altered
    std::vector<double> cost;   // [truth x classes + answer]; empty: every wrong answer costs one
};

// What the cheapest single answer costs where the classes have this weight.
double cheapest(const Costs& costs, const std::vector<double>& told);

void tell_real_weights(const Recipe& recipe, const Costs& costs, std::vector<GrownNode>& nodes);

} // namespace tw

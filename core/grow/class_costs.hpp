// Misclassification costs and class weights: growing sees altered weights, the tree reports the real ones.
//
// Without costs and factors nothing changes.
#pragma once

#include <vector>

#include "base/recipe.hpp"
#include "grow/grown_node.hpp"

namespace tw {

struct Costs {
    std::vector<double> factor; // per class: real weight / altered weight; empty: none was altered
    std::vector<double> cost;   // [truth x classes + prediction]; empty: every wrong one costs one
};

// The cost of the cheapest prediction where the classes have these weights.
double min_expected_cost(const Costs& costs, const std::vector<double>& reported);

void restore_class_weights(const Recipe& recipe, const Costs& costs, std::vector<GrownNode>& nodes);

} // namespace tw

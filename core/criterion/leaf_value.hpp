// What a leaf predicts: class probabilities, the value of a node without rows, the class of least expected cost.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/packed.hpp"
#include "base/recipe.hpp"
#include "criterion/criterion.hpp"

namespace tw {

// The class probabilities of a node with rows, smoothed by the recipe. `stat`, `whole`: weight per class at the
// node and in the whole table. `value`: as many probabilities.
inline void class_probabilities(const Recipe& recipe, Stat stat, Stat whole, double* value) {
    const double weight = std::accumulate(stat.begin(), stat.end(), 0.0);
    const double all = std::accumulate(whole.begin(), whole.end(), 0.0);
    for (size_t c = 0; c < stat.size(); ++c) {
        switch (recipe.smoothing) {
            case Smoothing::none:
                value[c] = weight > 0 ? stat[c] / weight : 1 / static_cast<double>(stat.size());
                break;
            case Smoothing::laplace:
                value[c] = (stat[c] + 1) / (weight + static_cast<double>(stat.size()));
                break;
            case Smoothing::m_estimate:
                value[c] = all > 0 ? (stat[c] + recipe.smoothing_m * whole[c] / all) / (weight + recipe.smoothing_m)
                                   : 1 / static_cast<double>(stat.size());
                break;
        }
    }
}

// The value of a node without rows: its parent's, or the parent's largest class, the first of equals, with certainty.
inline Packed empty_leaf_value(const Recipe& recipe, const Packed& parent_value, Stat parent_stat) {
    if (!is_for_classes(recipe.criterion) || !recipe.empty_takes_majority) return parent_value;
    std::vector<double> value(parent_stat.size(), 0);
    value[static_cast<size_t>(std::max_element(parent_stat.begin(), parent_stat.end()) - parent_stat.begin())] = 1;
    return Packed(value);
}

// The cost of predicting each class where the classes have these weights. `cost`: [truth x classes + prediction].
inline std::vector<double> expected_costs(const std::vector<double>& cost, Stat weights) {
    std::vector<double> total(weights.size(), 0);
    for (size_t truth = 0; truth < weights.size(); ++truth) {
        for (size_t predicted = 0; predicted < weights.size(); ++predicted) {
            total[predicted] += weights[truth] * cost[truth * weights.size() + predicted];
        }
    }
    return total;
}

// The class of largest weight or, with costs, of least expected cost; the first of equals.
inline size_t predicted_class(const std::vector<double>& cost, Stat weights) {
    if (cost.empty()) return std::max_element(weights.begin(), weights.end()) - weights.begin();
    const std::vector<double> total = expected_costs(cost, weights);
    return std::min_element(total.begin(), total.end()) - total.begin();
}

} // namespace tw

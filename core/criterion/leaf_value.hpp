// The class probabilities of a node with rows, smoothed as the recipe says.
#pragma once

#include <numeric>

#include "base/recipe.hpp"
#include "criterion/criterion.hpp"

namespace tw {

// `stat`, `whole`: weight per class at the node and in the whole table. `value`: as many probabilities.
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

} // namespace tw

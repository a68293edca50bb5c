#include "grow/class_costs.hpp"

#include <algorithm>
#include <numeric>

#include "criterion/leaf_value.hpp"

namespace tw {

double min_expected_cost(const Costs& costs, const std::vector<double>& reported) {
    if (costs.cost.empty()) {
        return std::accumulate(reported.begin(), reported.end(), 0.0) -
               *std::max_element(reported.begin(), reported.end());
    }
    const std::vector<double> total = expected_costs(costs.cost, reported);
    return *std::min_element(total.begin(), total.end());
}

void restore_class_weights(const Recipe& recipe, const Costs& costs, std::vector<GrownNode>& nodes) {
    if (costs.factor.empty()) return;
    std::vector<double> whole;
    for (GrownNode& node : nodes) {
        std::vector<double> reported = node.reported.all();
        for (size_t c = 0; c < reported.size(); ++c) reported[c] *= costs.factor[c];
        if (whole.empty()) whole = reported; // the root comes first
        node.weight = std::accumulate(reported.begin(), reported.end(), 0.0);
        if (node.rows > 0 || node.parent < 0) {
            std::vector<double> value(reported.size());
            class_probabilities(recipe, reported, whole, value.data());
            node.value = Packed(value);
        } else {
            const GrownNode& parent = nodes[node.parent]; // precedes its children, so it has real weights already
            node.value = empty_leaf_value(recipe, parent.value, parent.reported.all());
        }
        node.reported = Packed(reported);
    }
}

} // namespace tw

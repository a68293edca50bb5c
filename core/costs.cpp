#include "costs.hpp"

#include <algorithm>
#include <numeric>

#include "answer.hpp"

namespace tw {
namespace {

// The cost of each single answer.
std::vector<double> cost_of_answers(const Costs& costs, const std::vector<double>& told) {
    const size_t classes = told.size();
    std::vector<double> total(classes, 0);
    for (size_t truth = 0; truth < classes; ++truth) {
        for (size_t answer = 0; answer < classes; ++answer) {
            total[answer] += told[truth] * costs.cost[truth * classes + answer];
        }
    }
    return total;
}

} // namespace

double cheapest(const Costs& costs, const std::vector<double>& told) {
    if (costs.cost.empty()) {
        return std::accumulate(told.begin(), told.end(), 0.0) - *std::max_element(told.begin(), told.end());
    }
    const std::vector<double> total = cost_of_answers(costs, told);
    return *std::min_element(total.begin(), total.end());
}

void tell_real_weights(const Recipe& recipe, const Costs& costs, std::vector<GrownNode>& nodes) {
    if (costs.factor.empty()) return;
    for (GrownNode& node : nodes) {
        for (size_t c = 0; c < node.told.size(); ++c) node.told[c] *= costs.factor[c];
        node.weight = std::accumulate(node.told.begin(), node.told.end(), 0.0);
        if (node.rows > 0) {
            class_answer(recipe, node.told, nodes[0].told, node.value.data());
        } else {
            const GrownNode& parent = nodes[node.parent]; // before its children in the list, so it tells real weights
            node.value = parent.value;
            if (!recipe.empty_takes_majority) continue;
            std::fill(node.value.begin(), node.value.end(), 0.0);
            node.value[std::max_element(parent.told.begin(), parent.told.end()) - parent.told.begin()] = 1;
        }
    }
}

} // namespace tw

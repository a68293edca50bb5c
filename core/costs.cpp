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
    std::vector<double> whole;
    for (GrownNode& node : nodes) {
        std::vector<double> told = node.told.all();
        for (size_t c = 0; c < told.size(); ++c) told[c] *= costs.factor[c];
        if (whole.empty()) whole = told; // the root comes first
        node.weight = std::accumulate(told.begin(), told.end(), 0.0);
        if (node.rows > 0 || node.parent < 0) {
            std::vector<double> value(told.size());
            class_answer(recipe, told, whole, value.data());
            node.value = Packed(std::move(value));
        } else {
            const GrownNode& parent = nodes[node.parent]; // before its children in the list, so it tells real weights
            node.value = parent.value;
            if (recipe.empty_takes_majority) node.value = only_the_largest(parent.told.all());
        }
        node.told = Packed(std::move(told));
    }
}

} // namespace tw

#include "grow/simplify.hpp"

#include "prune/cost_complexity.hpp"

namespace tw {
namespace {

// Parents come before their children in the list, so walking it backwards meets every child before its parent. Splits
// that were given stay; they stand above all that was grown, so nothing below depends on them.

constexpr double margin = 1e-3; // C4.5: training errors closer than this are equal

// C4.5 decides from the leaves upwards; a collapsed node goes on with the errors its subtree made.
void collapse_bottom_up(const Recipe& recipe, const Costs& costs, std::vector<GrownNode>& nodes) {
    std::vector<double> errors(nodes.size(), 0);
    for (size_t i = nodes.size(); i-- > 0;) {
        GrownNode& node = nodes[i];
        const double own = leaf_risk(recipe, costs, node);
        errors[i] = node.children.empty() ? own : 0;
        for (int child : node.children) errors[i] += errors[child];
        if (!node.children.empty() && !node.given && errors[i] >= own - margin)
            make_leaf(recipe, node, Stop::collapsed);
    }
}

// J48 decides from the root downwards, always by the errors of the leaves as grown.
void collapse_top_down(const Recipe& recipe, const Costs& costs, std::vector<GrownNode>& nodes) {
    std::vector<double> errors(nodes.size(), 0);
    for (size_t i = nodes.size(); i-- > 0;) {
        if (nodes[i].children.empty()) errors[i] = leaf_risk(recipe, costs, nodes[i]);
        for (int child : nodes[i].children) errors[i] += errors[child];
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
        if (!nodes[i].children.empty() && !nodes[i].given && errors[i] >= leaf_risk(recipe, costs, nodes[i]) - margin) {
            make_leaf(recipe, nodes[i], Stop::collapsed);
        }
    }
}

// rpart: a subtree whose complexity is not above the limit becomes a leaf.
void limit_complexity(const Recipe& recipe, const Costs& costs, std::vector<GrownNode>& nodes) {
    const double limit = recipe.complexity * leaf_risk(recipe, costs, nodes[0]);
    std::vector<Subtree> subtree(nodes.size());
    for (size_t i = nodes.size(); i-- > 0;) {
        GrownNode& node = nodes[i];
        const double own = leaf_risk(recipe, costs, node);
        subtree[i] = {own, own, 0, limit};
        if (node.children.empty() || node.given) continue;
        std::vector<Subtree> below;
        for (int child : node.children) below.push_back(subtree[child]);
        const Subtree whole = combine_subtrees(own, std::move(below));
        if (whole.complexity > limit) {
            subtree[i] = whole;
        } else {
            make_leaf(recipe, node, Stop::complexity);
        }
    }
}

} // namespace

double leaf_risk(const Recipe& recipe, const Costs& costs, const GrownNode& node) {
    const std::vector<double> reported = node.reported.all();
    if (is_for_classes(recipe.criterion)) return min_expected_cost(costs, reported);
    const bool own = recipe.criterion == Criterion::absolute_error || recipe.criterion == Criterion::poisson;
    return own ? node.weight * node.impurity : reported[2];
}

double risk_of_sure_leaves(const Recipe& recipe, const Costs& costs, const GrownNode& root) {
    if (recipe.simplify != Simplify::complexity || !costs.factor.empty()) return -1;
    return recipe.complexity * leaf_risk(recipe, costs, root) * (1 - 1e-9); // beyond the rounding of what is saved
}

void make_leaf(const Recipe& recipe, GrownNode& node, Stop reason) {
    node.children = {};
    node.surrogates.clear();
    node.stop = reason;
    if (recipe.rivals > 0) { // otherwise the split may be forgotten already
        node.rivals.insert(node.rivals.begin(), std::move(*node.chosen));
        if (node.rivals.size() > static_cast<size_t>(recipe.rivals)) node.rivals.resize(recipe.rivals);
    }
    node.chosen.reset();
}

void simplify(const Recipe& recipe, const Costs& costs, std::vector<GrownNode>& nodes) {
    switch (recipe.simplify) {
        case Simplify::none:
            break;
        case Simplify::collapse:
            recipe.collapse_top_down ? collapse_top_down(recipe, costs, nodes)
                                     : collapse_bottom_up(recipe, costs, nodes);
            break;
        case Simplify::complexity:
            limit_complexity(recipe, costs, nodes);
            break;
    }
}

} // namespace tw

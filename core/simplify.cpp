#include "simplify.hpp"

#include <algorithm>

namespace tw {
namespace {

// Parents come before their children in the list, so walking it backwards meets every child before its parent.

constexpr double margin = 1e-3; // C4.5: training errors closer than this are equal

void make_leaf(const Recipe& recipe, GrownNode& node, Stop reason) {
    node.children.clear();
    node.surrogates.clear();
    node.stop = reason;
    node.rivals.insert(node.rivals.begin(), std::move(node.chosen));
    if (node.rivals.size() > static_cast<size_t>(recipe.rivals)) node.rivals.resize(recipe.rivals);
    node.chosen = Candidate{};
}

// What a leaf in this node's place would do wrong: what its answers cost, or squared deviations.
double leaf_risk(const Costs& costs, const GrownNode& node, bool classes) {
    return classes ? cheapest(costs, node.told) : node.told[2];
}

// C4.5 decides from the leaves upwards; a collapsed node goes on with the errors its subtree made.
void collapse_bottom_up(const Recipe& recipe, const Costs& costs, std::vector<GrownNode>& nodes) {
    std::vector<double> errors(nodes.size(), 0);
    for (size_t i = nodes.size(); i-- > 0;) {
        GrownNode& node = nodes[i];
        const double own = leaf_risk(costs, node, true);
        errors[i] = node.children.empty() ? own : 0;
        for (int child : node.children) errors[i] += errors[child];
        if (!node.children.empty() && errors[i] >= own - margin) make_leaf(recipe, node, Stop::collapsed);
    }
}

// J48 decides from the root downwards, always by the errors of the leaves as grown.
void collapse_top_down(const Recipe& recipe, const Costs& costs, std::vector<GrownNode>& nodes) {
    std::vector<double> errors(nodes.size(), 0);
    for (size_t i = nodes.size(); i-- > 0;) {
        if (nodes[i].children.empty()) errors[i] = leaf_risk(costs, nodes[i], true);
        for (int child : nodes[i].children) errors[i] += errors[child];
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
        if (!nodes[i].children.empty() && errors[i] >= leaf_risk(costs, nodes[i], true) - margin) {
            make_leaf(recipe, nodes[i], Stop::collapsed);
        }
    }
}

// A subtree as its parent sees it: its leaves' risk, its splits, and what each split saves on average when weaker
// subtrees inside it go first.
struct Subtree {
    double risk = 0;
    int splits = 0;
    double complexity = 0;
};

Subtree together(double own_risk, const std::vector<Subtree>& parts) {
    Subtree whole{0, 1, 0};
    for (const Subtree& part : parts) {
        whole.risk += part.risk;
        whole.splits += part.splits;
    }
    whole.complexity = (own_risk - whole.risk) / whole.splits;
    return whole;
}

// rpart: a subtree whose complexity is not above the limit becomes a leaf.
void limit_complexity(const Recipe& recipe, const Costs& costs, std::vector<GrownNode>& nodes) {
    const bool classes = is_for_classes(recipe.rule);
    const double limit = recipe.complexity * leaf_risk(costs, nodes[0], classes);
    std::vector<Subtree> subtree(nodes.size());
    for (size_t i = nodes.size(); i-- > 0;) {
        GrownNode& node = nodes[i];
        const double own = leaf_risk(costs, node, classes);
        subtree[i] = {own, 0, limit};
        if (node.children.empty()) continue;
        std::vector<int> weakest_first = node.children;
        std::stable_sort(weakest_first.begin(), weakest_first.end(),
                         [&](int a, int b) { return subtree[a].complexity < subtree[b].complexity; });
        std::vector<Subtree> parts;
        for (int child : weakest_first) parts.push_back(subtree[child]);
        Subtree whole = together(own, parts);
        for (size_t c = 0; c < parts.size() && whole.complexity > parts[c].complexity; ++c) {
            parts[c] = {leaf_risk(costs, nodes[weakest_first[c]], classes), 0, parts[c].complexity};
            whole = together(own, parts);
        }
        if (whole.complexity > limit) {
            subtree[i] = whole;
        } else {
            make_leaf(recipe, node, Stop::complexity);
        }
    }
}

} // namespace

void simplify(const Recipe& recipe, const Costs& costs, std::vector<GrownNode>& nodes) {
    switch (recipe.simplify) {
        case Simplify::nothing:
            break;
        case Simplify::collapse:
            recipe.collapse_top_down ? collapse_top_down(recipe, costs, nodes) : collapse_bottom_up(recipe, costs, nodes);
            break;
        case Simplify::complexity:
            limit_complexity(recipe, costs, nodes);
            break;
    }
}

} // namespace tw

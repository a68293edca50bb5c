#include "prune/cost_complexity.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <span>
#include <utility>

namespace tw {
namespace {

class WeakestLinks {
public:
    WeakestLinks(const int32_t* parent, const double* risk, int64_t n)
        : nodes_(static_cast<size_t>(n) + 1), children_(n > 0 ? static_cast<size_t>(n) - 1 : 0) {
        for (int64_t i = 1; i < n; ++i) ++nodes_[parent[i] + 1].first;
        for (int64_t i = 0; i < n; ++i) nodes_[i + 1].first += nodes_[i].first;
        std::vector<int32_t> next;
        next.reserve(static_cast<size_t>(n));
        for (int64_t i = 0; i < n; ++i) next.push_back(nodes_[i].first);
        for (int64_t i = 1; i < n; ++i) children_[next[parent[i]]++] = static_cast<int32_t>(i);
        for (int64_t i = n; i-- > 0;) {
            Node& node = nodes_[i];
            node.parent = parent[i];
            node.risk = node.below = risk[i];
            node.inner = node.first < nodes_[i + 1].first;
            if (node.inner) add_up(i);
        }
    }

    std::vector<double> run() {
        const int64_t n = static_cast<int64_t>(nodes_.size()) - 1;
        for (int64_t i = 0; i < n; ++i) {
            if (nodes_[i].inner) links_.emplace_back(complexity_of(i), i);
        }
        std::sort(links_.begin(), links_.end());
        double alpha = 0;
        while (next_ < links_.size() || !risen_.empty()) {
            const auto [complexity, node] = pop();
            if (!nodes_[node].inner) continue;
            add_up_below(node);
            const double now = complexity_of(node);
            if (now > complexity) { // cutting the weakest link below only ever raises a price, so none comes too late
                risen_.emplace(now, node);
                continue;
            }
            alpha = std::max(alpha, now);
            prune_at(node, alpha);
            // A node that is marked already has marked nodes above it.
            for (int64_t above = nodes_[node].parent; above >= 0 && !nodes_[above].old; above = nodes_[above].parent)
                nodes_[above].old = true;
        }
        std::vector<double> found;
        found.reserve(static_cast<size_t>(n));
        for (int64_t i = 0; i < n; ++i) found.push_back(nodes_[i].alpha);
        return found;
    }

private:
    using Link = std::pair<double, int64_t>;

    // What is read together lies together: the nodes of a large tree do not fit the nearest cache.
    struct Node {
        double risk = 0, below = 0; // as a leaf, and of the leaves below it
        double alpha = 0;
        int32_t parent = -1, first = 0; // its children, up to the first of the next node
        int32_t leaves = 1;
        bool inner = false;
        bool old = false; // sums do not know of some cut below
    };

    std::span<const int32_t> children_of(int64_t node) const {
        return std::span(children_).subspan(static_cast<size_t>(nodes_[node].first),
                                            static_cast<size_t>(nodes_[node + 1].first - nodes_[node].first));
    }

    // The least of all: most nodes keep their place, and sorting them once is faster than a heap of all.
    Link pop() {
        if (risen_.empty() || (next_ < links_.size() && links_[next_] < risen_.top())) return links_[next_++];
        const Link least = risen_.top();
        risen_.pop();
        return least;
    }

    // Sums of nodes above a cut are computed when they are needed: most are needed once, after many cuts.
    void add_up_below(int64_t node) {
        if (!nodes_[node].old) return;
        open_.assign(1, node);
        for (size_t i = 0; i < open_.size(); ++i) {
            nodes_[open_[i]].old = false;
            for (const int32_t child : children_of(open_[i])) {
                if (nodes_[child].inner && nodes_[child].old) open_.push_back(child);
            }
        }
        for (size_t i = open_.size(); i-- > 0;) add_up(open_[i]); // children come after their parent
    }

    void add_up(int64_t node) {
        double below = 0;
        int32_t leaves = 0;
        for (const int32_t child : children_of(node)) {
            below += nodes_[child].below;
            leaves += nodes_[child].leaves;
        }
        nodes_[node].below = below;
        nodes_[node].leaves = leaves;
    }

    // What each leaf beyond the first saves.
    double complexity_of(int64_t i) const {
        const Node& node = nodes_[i];
        return (node.risk - node.below) / static_cast<double>(node.leaves - 1);
    }

    void prune_at(int64_t node, double alpha) {
        open_.assign(1, node);
        while (!open_.empty()) {
            const int64_t i = open_.back();
            open_.pop_back();
            if (!nodes_[i].inner) continue;
            nodes_[i].inner = false;
            nodes_[i].alpha = alpha;
            const std::span<const int32_t> children = children_of(i);
            open_.insert(open_.end(), children.begin(), children.end());
        }
        nodes_[node].below = nodes_[node].risk;
        nodes_[node].leaves = 1;
    }

    std::vector<Node> nodes_; // and one more
    std::vector<int32_t> children_;
    std::vector<int64_t> open_;                                          // nodes that wait to be seen
    std::vector<Link> links_;                                            // by price as the tree was grown
    size_t next_ = 0;                                                    // of these
    std::priority_queue<Link, std::vector<Link>, std::greater<>> risen_; // prices that rose since
};

Subtree sum_subtrees(double as_leaf, const std::vector<Subtree>& below) {
    Subtree whole{as_leaf, 0, 1, 0};
    for (const Subtree& part : below) {
        whole.risk += part.risk;
        whole.splits += part.splits;
    }
    whole.complexity = (as_leaf - whole.risk) / static_cast<double>(whole.splits);
    return whole;
}

} // namespace

Subtree combine_subtrees(double as_leaf, std::vector<Subtree> below) {
    std::reverse(below.begin(), below.end()); // of equals, the last child goes first
    std::stable_sort(below.begin(), below.end(),
                     [](const Subtree& a, const Subtree& b) { return a.complexity < b.complexity; });
    Subtree whole = sum_subtrees(as_leaf, below);
    for (size_t c = 0; c < below.size() && whole.complexity > below[c].complexity; ++c) {
        below[c].risk = below[c].as_leaf;
        below[c].splits = 0;
        whole = sum_subtrees(as_leaf, below);
    }
    return whole;
}

std::vector<double> rpart_links(const int32_t* parent, const double* risk, int64_t n) {
    std::vector<std::vector<Subtree>> below(n);
    std::vector<double> complexity(n, 0);
    for (int64_t i = n; i-- > 0;) {
        std::reverse(below[i].begin(), below[i].end()); // met from the last child to the first
        const Subtree whole =
            below[i].empty() ? Subtree{risk[i], risk[i], 0, 0} : combine_subtrees(risk[i], std::move(below[i]));
        below[i].clear();
        complexity[i] = whole.complexity;
        if (i > 0) below[parent[i]].push_back(whole);
    }
    for (int64_t i = 0; i < n; ++i) {
        complexity[i] = std::max(complexity[i], 0.0);
        if (i > 0) complexity[i] = std::min(complexity[i], complexity[parent[i]]); // nothing outlives what it hangs on
    }
    return complexity;
}

std::vector<double> weakest_links(const int32_t* parent, const double* risk, int64_t n) {
    return WeakestLinks(parent, risk, n).run();
}

} // namespace tw

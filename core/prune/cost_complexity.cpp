#include "prune/cost_complexity.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace tw {
namespace {

class WeakestLinks {
public:
    WeakestLinks(const int32_t* parent, const double* risk, int64_t n)
        : parent_(parent),
          risk_(risk),
          first_(n + 1, 0),
          children_(n > 0 ? n - 1 : 0),
          below_(risk, risk + n),
          leaves_(n, 1),
          alpha_(n, 0),
          inner_(n, 0),
          is_old_(n, 0) {
        for (int64_t i = 1; i < n; ++i) ++first_[parent[i] + 1];
        for (int64_t i = 0; i < n; ++i) first_[i + 1] += first_[i];
        std::vector<int64_t> next(first_.begin(), first_.end() - 1);
        for (int64_t i = 1; i < n; ++i) children_[next[parent[i]]++] = i;
        for (int64_t i = n; i-- > 0;) {
            inner_[i] = first_[i] < first_[i + 1];
            if (inner_[i]) add_up(i);
        }
    }

    std::vector<double> run() {
        for (int64_t i = 0; i < static_cast<int64_t>(inner_.size()); ++i) {
            if (inner_[i]) queue_.emplace(complexity_of(i), i);
        }
        double alpha = 0;
        while (!queue_.empty()) {
            const auto [complexity, node] = queue_.top();
            queue_.pop();
            if (!inner_[node]) continue;
            add_up_below(node);
            const double now = complexity_of(node);
            if (now > complexity) { // cutting the weakest link below only ever raises a price, so none comes too late
                queue_.emplace(now, node);
                continue;
            }
            alpha = std::max(alpha, now);
            prune_at(node, alpha);
            // A node that is marked already has marked nodes above it.
            for (int64_t above = parent_[node]; above >= 0 && !is_old_[above]; above = parent_[above])
                is_old_[above] = 1;
        }
        return std::move(alpha_);
    }

private:
    using Link = std::pair<double, int64_t>;

    // Sums of nodes above a cut are computed when they are needed: most are needed once, after many cuts.
    void add_up_below(int64_t node) {
        if (!is_old_[node]) return;
        std::vector<int64_t> old{node};
        for (size_t i = 0; i < old.size(); ++i) {
            is_old_[old[i]] = 0;
            for (int64_t c = first_[old[i]]; c < first_[old[i] + 1]; ++c) {
                if (inner_[children_[c]] && is_old_[children_[c]]) old.push_back(children_[c]);
            }
        }
        for (size_t i = old.size(); i-- > 0;) add_up(old[i]); // children come after their parent
    }

    void add_up(int64_t node) {
        below_[node] = 0;
        leaves_[node] = 0;
        for (int64_t c = first_[node]; c < first_[node + 1]; ++c) {
            below_[node] += below_[children_[c]];
            leaves_[node] += leaves_[children_[c]];
        }
    }

    // What each leaf beyond the first saves.
    double complexity_of(int64_t node) const {
        return (risk_[node] - below_[node]) / static_cast<double>(leaves_[node] - 1);
    }

    void prune_at(int64_t node, double alpha) {
        std::vector<int64_t> open{node};
        while (!open.empty()) {
            const int64_t i = open.back();
            open.pop_back();
            if (!inner_[i]) continue;
            inner_[i] = 0;
            alpha_[i] = alpha;
            open.insert(open.end(), children_.begin() + first_[i], children_.begin() + first_[i + 1]);
        }
        below_[node] = risk_[node];
        leaves_[node] = 1;
    }

    const int32_t* parent_;
    const double* risk_;
    std::vector<int64_t> first_, children_;
    std::vector<double> below_;
    std::vector<int64_t> leaves_;
    std::vector<double> alpha_;
    std::vector<char> inner_;
    std::vector<char> is_old_; // sums do not know of some cut below
    std::priority_queue<Link, std::vector<Link>, std::greater<>> queue_;
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

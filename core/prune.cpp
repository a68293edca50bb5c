#include "prune.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace tw {
namespace {

class Links {
public:
    Links(const int32_t* parent, const double* risk, int64_t n)
        : parent_(parent), risk_(risk), first_(n + 1, 0), children_(n > 0 ? n - 1 : 0), below_(risk, risk + n),
          leaves_(n, 1), alpha_(n, 0), inner_(n, 0) {
        for (int64_t i = 1; i < n; ++i) ++first_[parent[i] + 1];
        for (int64_t i = 0; i < n; ++i) first_[i + 1] += first_[i];
        std::vector<int64_t> next(first_.begin(), first_.end() - 1);
        for (int64_t i = 1; i < n; ++i) children_[next[parent[i]]++] = i;
        for (int64_t i = n; i-- > 0;) {
            inner_[i] = first_[i] < first_[i + 1];
            if (inner_[i]) add_up(i);
        }
        // Sums of the same risks in another order differ by about this much.
        noise_ = n > 0 ? 1e-13 * risk[0] : 0;
    }

    std::vector<double> run() {
        for (size_t i = 0; i < inner_.size(); ++i) push(static_cast<int64_t>(i));
        double alpha = 0;
        while (!queue_.empty()) {
            const auto [price, node] = queue_.top();
            queue_.pop();
            if (!inner_[node] || price != price_of(node)) continue; // gone, or told anew since
            if (price > alpha * (1 + 1e-12) + noise_) alpha = price;
            close(node, alpha);
            for (int64_t above = parent_[node]; above >= 0; above = parent_[above]) {
                add_up(above);
                push(above);
            }
        }
        return std::move(alpha_);
    }

private:
    using Price = std::pair<double, int64_t>;

    void add_up(int64_t node) {
        below_[node] = 0;
        leaves_[node] = 0;
        for (int64_t c = first_[node]; c < first_[node + 1]; ++c) {
            below_[node] += below_[children_[c]];
            leaves_[node] += leaves_[children_[c]];
        }
    }

    // What each leaf beyond the first saves.
    double price_of(int64_t node) const {
        return (risk_[node] - below_[node]) / static_cast<double>(leaves_[node] - 1);
    }

    void push(int64_t node) {
        if (inner_[node]) queue_.emplace(price_of(node), node);
    }

    void close(int64_t node, double alpha) {
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
    double noise_ = 0;
    std::priority_queue<Price, std::vector<Price>, std::greater<>> queue_;
};

} // namespace

std::vector<double> weakest_links(const int32_t* parent, const double* risk, int64_t n) {
    return Links(parent, risk, n).run();
}

} // namespace tw

// The cuts that greedy growth would choose from: the best of every column by impurity, on a coarse grid.
#pragma once

#include <algorithm>
#include <vector>

#include "optimal/grid.hpp"
#include "optimal/loss.hpp"

namespace tw {

template <class Real>
struct GreedyCut {
    Real impurity; // of both sides
    int column, cut;
};

// Best first; ties by column. `is_top`: only columns that the root may split on. Without some if the search is over.
template <class Loss, class Real>
std::vector<GreedyCut<Real>> greedy_cuts(const Problem& problem, const Loss& loss, const Subset& subset,
                                         const TreeLimits& limits, bool is_top, SearchControl& control) {
    constexpr int grid_bins = 64;
    std::vector<GreedyCut<Real>> found;
    std::vector<int32_t> bin_of_rank;
    for (int f = 0; f < subset.columns(); ++f) {
        if (is_top && !problem.is_root.empty() && !problem.is_root[f]) continue;
        if (control.is_over()) break;
        const std::vector<double> weight = cumulated_weight(subset, f);
        const Grid grid = first_grid(weight, grid_bins, allowed_cuts(problem, subset, f, limits));
        if (grid.cuts.empty()) continue;
        const int bins = grid.bins(), words = loss.words();
        bin_ranks(grid, subset.ranks[f], bin_of_rank);
        std::vector<Real> sums(static_cast<size_t>(words) * bins, 0), low(static_cast<size_t>(bins)), high(low),
            work(low);
        loss.count(subset, bins, sums.data(), [&](int64_t i) { return bin_of_rank[subset.rank[f][i]]; });
        for (int w = 0; w < words; ++w) {
            for (int b = 1; b < bins; ++b) sums[w * bins + b] += sums[w * bins + b - 1];
        }
        const auto below = [&](int w, int b) { return sums[w * bins + b]; };
        const auto above = [&](int w, int b) { return sums[w * bins + bins - 1] - sums[w * bins + b]; };
        loss.impurities(bins - 1, below, low.data(), work.data());
        loss.impurities(bins - 1, above, high.data(), work.data());
        int best = 0;
        for (int b = 1; b + 1 < bins; ++b) {
            if (low[b] + high[b] < low[best] + high[best]) best = b;
        }
        found.push_back({low[best] + high[best], f, grid.cuts[best]});
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.impurity < b.impurity; });
    return found;
}

} // namespace tw

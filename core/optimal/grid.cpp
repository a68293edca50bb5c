#include "optimal/grid.hpp"

#include <algorithm>

namespace tw {
int middle_cut(std::span<const double> weight, int low, int high) {
    const double below = low < 0 ? 0 : weight[low];
    const double half = below + (weight[high] - below) / 2;
    const auto found = std::lower_bound(weight.begin() + low + 1, weight.begin() + high, half);
    return std::min(static_cast<int>(found - weight.begin()), high - 1);
}

Grid first_grid(std::span<const double> weight, int bins, CutRange range) {
    Grid grid;
    const double step = weight.empty() ? 0 : weight.back() / bins;
    double next = 0;
    for (int cut = range.first; cut < range.end; ++cut) {
        if (weight[cut] < next && cut + 1 != range.end) continue;
        grid.open.push_back(!grid.cuts.empty() && cut - grid.cuts.back() > 1);
        grid.cuts.push_back(cut);
        next = weight[cut] + step;
    }
    grid.open.push_back(false);
    return grid;
}

Grid refined(const Grid& grid, const std::vector<bool>& keep, const std::vector<Gap>& gaps,
             std::span<const double> weight) {
    Grid next;
    bool open = false; // the gap before the next cut
    const auto add = [&](int cut) {
        if (!next.cuts.empty() && next.cuts.back() == cut) return;
        next.cuts.push_back(cut);
        next.open.push_back(open);
        open = false;
    };
    const int ranks = static_cast<int>(weight.size());
    for (int gap = 0; gap < grid.bins(); ++gap) {
        const int low = grid.below(gap), high = grid.above(gap, ranks);
        if (gaps[gap] != Gap::closed && high - low > 1) {
            if (low >= 0) add(low);
            int before = low;
            if (gaps[gap] == Gap::divide) {
                const int cut = middle_cut(weight, low, high);
                open = cut - before > 1;
                add(cut);
                before = cut;
            }
            open = high - before > 1;
            if (gap + 1 < grid.bins()) add(high);
        }
        if (gap + 1 < grid.bins() && keep[gap]) add(high);
    }
    next.open.push_back(open);
    return next;
}

void bin_ranks(const Grid& grid, int ranks, std::vector<int32_t>& bins) {
    bins.resize(static_cast<size_t>(ranks));
    auto from = bins.begin();
    for (int bin = 0; bin < grid.bins(); ++bin) {
        const auto end = bins.begin() + grid.above(bin, ranks) + 1;
        std::fill(from, end, bin);
        from = end;
    }
}

} // namespace tw

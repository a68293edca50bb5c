// The cuts of one column that are evaluated, and the gaps between them that may still hold a better one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tw {

enum class Gap : uint8_t { closed, open, divide };

struct Grid {
    std::vector<int> cuts;  // ranks, rising: a cut separates the ranks up to it from those above
    std::vector<bool> open; // gap i lies before cut i, the last one after the last cut

    int bins() const { return static_cast<int>(cuts.size()) + 1; }
    int below(int gap) const { return gap == 0 ? -1 : cuts[gap - 1]; }
    int above(int gap, int ranks) const { return gap + 1 == bins() ? ranks - 1 : cuts[gap]; }
};

// Cuts from `first` to before `end`.
struct CutRange {
    int first, end;
};

// Cuts of the range that share the weight evenly between about `bins` bins. `weight[r]`: the weight of ranks up to r.
Grid first_grid(std::span<const double> weight, int bins, CutRange range);

// The cuts that are kept, with new ones that halve the gaps to divide.
Grid refined(const Grid& grid, const std::vector<bool>& keep, const std::vector<Gap>& gaps,
             std::span<const double> weight);

// The cut strictly between two others that comes closest to halving the weight between them.
int middle_cut(std::span<const double> weight, int low, int high);

// The bin of every rank.
void bin_ranks(const Grid& grid, int ranks, std::vector<int32_t>& bins);

} // namespace tw

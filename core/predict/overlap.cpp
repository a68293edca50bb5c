#include "predict/overlap.hpp"

#include <algorithm>
#include <cstddef>

namespace tw {
namespace {

using Counts = std::vector<int64_t>;

// The subtree of node i is nodes i up to, not including, this.
std::vector<size_t> subtree_ends(std::span<const int32_t> parent) {
    std::vector<size_t> end(parent.size());
    for (size_t i = parent.size(); i-- > 0;) {
        end[i] = std::max(end[i], i + 1);
        if (i > 0) {
            size_t& above = end[static_cast<size_t>(parent[i])];
            above = std::max(above, end[i]);
        }
    }
    return end;
}

Counts rows_per_leaf(const EndsInTree& tree) {
    Counts count(tree.parent.size(), 0);
    for (const int32_t leaf : tree.leaf) ++count[static_cast<size_t>(leaf)];
    return count;
}

// Sums over subtrees of a number per node, in place.
void add_subtrees(std::span<const int32_t> parent, std::span<int64_t> count) {
    for (size_t i = parent.size(); i-- > 1;) count[static_cast<size_t>(parent[i])] += count[i];
}

int64_t pairs(int64_t rows) { return rows * (rows - 1) / 2; }

int64_t pairs_in(std::span<const int64_t> counts) {
    int64_t sum = 0;
    for (const int64_t count : counts) sum += pairs(count);
    return sum;
}

// `together`: pairs of rows that share a leaf in both trees.
double adjusted_rand_index(int64_t together, const Counts& first, const Counts& second, int64_t rows) {
    const double own = static_cast<double>(pairs_in(first)), other = static_cast<double>(pairs_in(second));
    const double chance = own * other / std::max(static_cast<double>(pairs(rows)), 1.0);
    const double most = (own + other) / 2;
    return most == chance ? 1.0 : (static_cast<double>(together) - chance) / (most - chance);
}

// Rates the nodes of the second tree by the rows that they share with a node of the first.
class Closest {
public:
    Closest(const EndsInTree& second, const Counts& leaf_sizes) : parent_(second.parent), size_(leaf_sizes) {
        add_subtrees(parent_, size_);
    }

    // `shared`: rows of the node per leaf of the second tree; overwritten.
    void offer(std::span<int64_t> shared, Overlap& found) const {
        add_subtrees(parent_, shared);
        const int64_t rows = shared[0]; // the root holds all of them
        int32_t closest = 0;
        double most = -1;
        for (size_t i = 0; i < shared.size(); ++i) {
            if (shared[i] == 0 && i > 0) continue;
            const int64_t either = std::max<int64_t>(rows + size_[i] - shared[i], 1);
            const double jaccard = static_cast<double>(shared[i]) / static_cast<double>(either);
            if (jaccard <= most) continue;
            most = jaccard;
            closest = static_cast<int32_t>(i);
        }
        found.closest.push_back(closest);
        found.jaccard.push_back(most);
    }

private:
    std::span<const int32_t> parent_;
    Counts size_;
};

} // namespace

// The rows below a node are those whose leaf lies in one run of numbers, so their counts are differences of running
// sums.
Overlap overlap_in_table(const EndsInTree& first, const EndsInTree& second, std::span<const int32_t> nodes) {
    const size_t n = first.parent.size(), m = second.parent.size(), rows = first.leaf.size();
    std::vector<uint32_t> below((n + 1) * m, 0); // the line after a leaf counts its rows, by their other leaf
    for (size_t row = 0; row < rows; ++row) {
        ++below[(static_cast<size_t>(first.leaf[row]) + 1) * m + static_cast<size_t>(second.leaf[row])];
    }
    int64_t together = 0;
    for (const uint32_t count : below) together += pairs(count);
    for (size_t i = m; i < below.size(); ++i) below[i] += below[i - m];
    const std::vector<size_t> end = subtree_ends(first.parent);
    const Counts leaf_sizes = rows_per_leaf(second);
    const Closest closest(second, leaf_sizes);
    Overlap found;
    Counts shared(m);
    for (const int32_t node : nodes) {
        const uint32_t* before = &below[static_cast<size_t>(node) * m];
        const uint32_t* after = &below[end[static_cast<size_t>(node)] * m];
        for (size_t i = 0; i < m; ++i) shared[i] = static_cast<int64_t>(after[i]) - before[i];
        closest.offer(shared, found);
    }
    found.rand = adjusted_rand_index(together, rows_per_leaf(first), leaf_sizes, static_cast<int64_t>(rows));
    return found;
}

Overlap overlap_in_lists(const EndsInTree& first, const EndsInTree& second, std::span<const int32_t> nodes) {
    const size_t n = first.parent.size(), rows = first.leaf.size();
    const Counts own_sizes = rows_per_leaf(first), leaf_sizes = rows_per_leaf(second);
    // The other leaf of each row, own leaf by own leaf.
    std::vector<size_t> start(n + 1, 0);
    for (size_t i = 0; i < n; ++i) start[i + 1] = start[i] + static_cast<size_t>(own_sizes[i]);
    std::vector<int32_t> other(rows);
    std::vector<size_t> next = start;
    for (size_t row = 0; row < rows; ++row) other[next[static_cast<size_t>(first.leaf[row])]++] = second.leaf[row];
    const std::vector<size_t> end = subtree_ends(first.parent);
    const Closest closest(second, leaf_sizes);
    Overlap found;
    Counts shared(second.parent.size());
    for (const int32_t node : nodes) {
        std::fill(shared.begin(), shared.end(), 0);
        for (size_t at = start[static_cast<size_t>(node)]; at < start[end[static_cast<size_t>(node)]]; ++at) {
            ++shared[static_cast<size_t>(other[at])];
        }
        closest.offer(shared, found);
    }
    int64_t together = 0;
    std::fill(shared.begin(), shared.end(), 0);
    for (size_t i = 0; i < n; ++i) {
        for (size_t at = start[i]; at < start[i + 1]; ++at) together += shared[static_cast<size_t>(other[at])]++;
        for (size_t at = start[i]; at < start[i + 1]; ++at) shared[static_cast<size_t>(other[at])] = 0;
    }
    found.rand = adjusted_rand_index(together, own_sizes, leaf_sizes, static_cast<int64_t>(rows));
    return found;
}

Overlap overlap_of(const EndsInTree& first, const EndsInTree& second, std::span<const int32_t> nodes) {
    const bool few = first.parent.size() * second.parent.size() <= 4 * first.leaf.size();
    return few ? overlap_in_table(first, second, nodes) : overlap_in_lists(first, second, nodes);
}

} // namespace tw

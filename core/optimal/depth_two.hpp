// The best tree of depth at most two: every root cut of every column with the best cut of every column below it.
//
// Histograms of two columns at once give, for each pair of a root cut and a child cut on a coarse grid, the loss of all
// four leaves. A cut inside a gap of the grid loses at least what the rows outside the gap lose (optimal/loss.hpp), so
// gaps whose bound reaches the best loss so far are closed and the others are halved, until none is open.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "optimal/depth_two_state.hpp"
#include "optimal/grid.hpp"
#include "optimal/loss.hpp"
#include "optimal/sums.hpp"

namespace tw {

template <class Loss, class Real>
class DepthTwo {
public:
    using Sum = typename Loss::Sum;
    static constexpr Real infinity = std::numeric_limits<Real>::infinity();
    static constexpr int first_bins = 16;
    static constexpr int64_t many_rows = 1 << 14; // of which one histogram takes long enough to look at the clock

    DepthTwo(const Loss& loss, const Problem& problem, const TreeLimits& limits, SearchControl& control)
        : loss_(loss),
          problem_(problem),
          limits_(limits),
          leaf_(static_cast<Real>(problem.leaf_penalty)),
          control_(control) {}

    // The best tree within the limits (a depth of 0, 1 or 2) with a loss below `limit`. `is_root`: columns that the
    // root may split on, empty for any. `for_each(n, task)` runs tasks 0 to n - 1, in any order or at once, for up to
    // `batch` columns at a time. `report(lower, upper)` is called after each round.
    template <class ForEach, class Report>
    DepthTwoTree<Real> solve(const Subset& subset, Real limit, const std::vector<bool>& is_root, size_t batch,
                             const ForEach& for_each, const Report& report) {
        DepthTwoTree<Real> best;
        const Real leaf = leaf_loss(subset);
        if (leaf < limit) best.loss = limit = leaf;
        best.lower = leaf_;
        if (!prepare(subset, is_root)) return best;
        std::vector<Root*> open;
        for (Root& root : roots_) open.push_back(&root);
        while (!open.empty() && limit > leaf_ && !control_.stop) {
            for (size_t done = 0; done < open.size(); done += batch) {
                const size_t end = std::min(done + batch, open.size());
                for_each(end - done, [&](size_t i) { refine_root(subset, *open[done + i], limit); });
                for (size_t i = done; i < end; ++i) {
                    if (open[i]->best.loss >= limit) continue;
                    best = open[i]->best;
                    limit = best.loss;
                }
            }
            std::erase_if(open, [](const Root* root) { return !root->open; });
            report(lower_bound(leaf, best.loss), best.loss);
        }
        best.lower = lower_bound(leaf, best.loss);
        return best;
    }

    Real lower_bound(Real leaf, Real loss) const {
        Real lower = std::min(leaf, loss);
        for (const Root& root : roots_) lower = std::min({lower, root.closed, root.open_lower});
        return std::max(lower, leaf_);
    }

    Real leaf_loss(const Subset& subset) const {
        std::vector<Sum> sums(static_cast<size_t>(loss_.words()), 0);
        loss_.count(subset, 1, sums.data(), [](int64_t) { return 0; });
        Sum loss = 0, scratch = 0;
        loss_.losses(1, [&](int w, int) { return sums[w]; }, &loss, &scratch);
        return static_cast<Real>(loss) + leaf_;
    }

private:
    using Edge = RootEdge<Real>;
    using Root = RootColumn<Real>;
    using Scratch = DepthTwoScratch<Real, Sum>;

    // False if the search is over before all columns are ready.
    bool prepare(const Subset& subset, const std::vector<bool>& is_root) {
        const int64_t depth = std::min<int64_t>(limits_.depth, limits_.leaves - 1);
        roots_.clear();
        weight_.clear();
        std::vector<Grid> grids;
        for (int f = 0; f < subset.columns(); ++f) {
            if (subset.rows() >= many_rows && control_.is_over()) return false;
            weight_.push_back(cumulated_weight(subset, f));
            const TreeLimits any_side{limits_.depth, limits_.leaves, limits_.min_rows, false};
            const CutRange range = allowed_cuts(problem_, subset, f, any_side);
            grids.push_back(first_grid(weight_[f], first_bins, range));
        }
        for (int f = 0; f < subset.columns() && depth > 0; ++f) {
            if (!is_root.empty() && !is_root[f]) continue;
            Root root;
            root.column = f;
            root.grid = grids[f];
            if (limits_.majority) {
                const CutRange range = allowed_cuts(problem_, subset, f, limits_);
                root.grid = first_grid(weight_[f], first_bins, range);
            }
            if (root.grid.cuts.empty()) continue;
            root.child = depth > 1 ? grids : std::vector<Grid>(grids.size(), Grid{{}, {false}});
            if (depth < 2 || limits_.leaves > 3) {
                roots_.push_back(std::move(root));
                continue;
            }
            for (int s = 0; s < 2; ++s) {
                roots_.push_back(root);
                roots_.back().may_split[1 - s] = false;
            }
        }
        return true;
    }

    // One round for one root column: all cuts of its grid with all cuts of the children's grids; then finer grids.
    void refine_root(const Subset& subset, Root& root, Real limit) {
        if (root.open_lower >= limit) return close(root);
        thread_local Scratch scratch;
        const int f = root.column;
        const int edges = static_cast<int>(root.grid.cuts.size());
        const MemoryUse used(control_, bytes_of(root));
        bin_ranks(root.grid, subset.ranks[f], scratch.bin_of_rank);
        scratch.root_bin.resize(static_cast<size_t>(subset.rows()));
        for (int64_t i = 0; i < subset.rows(); ++i) {
            scratch.root_bin[i] = scratch.bin_of_rank[subset.rank[f][i]];
        }
        scratch.edges.resize(static_cast<size_t>(edges));
        for (int s = 0; s < 2; ++s) {
            scratch.inside[s].resize(static_cast<size_t>(subset.columns()));
            scratch.at[s].resize(static_cast<size_t>(subset.columns()));
        }
        start_with_leaves(subset, scratch, edges);
        for (int g = 0; g < subset.columns(); ++g) {
            if (root.child[g].cuts.empty()) continue;
            if (subset.rows() >= many_rows ? control_.is_over() : control_.stop.load()) return;
            try_child(subset, g, root, scratch);
        }
        for (int e = 0; e < edges; ++e) {
            const Edge& edge = scratch.edges[e];
            const Real loss = edge.loss[0] + edge.loss[1];
            if (loss >= limit) continue;
            limit = loss;
            root.best = {loss, 0, f, root.grid.cuts[e], {edge.child[0], edge.child[1]}};
        }
        close_or_divide(subset, root, scratch, limit);
    }

    static void close(Root& root) {
        root.closed = std::min(root.closed, root.open_lower);
        root.open_lower = infinity;
        root.open = false;
    }

    int64_t bytes_of(const Root& root) const {
        size_t bins = 0, most = 0;
        for (const Grid& grid : root.child) {
            bins += grid.cuts.size() + 1;
            most = std::max(most, grid.cuts.size() + 1);
        }
        const size_t numbers = 4 * bins + most * static_cast<size_t>(loss_.words() + 2);
        return static_cast<int64_t>(numbers * (root.grid.cuts.size() + 1) * sizeof(Sum));
    }

    // Both children as leaves.
    void start_with_leaves(const Subset& subset, Scratch& scratch, int edges) {
        const int words = loss_.words(), bins = edges + 1;
        scratch.sums.assign(static_cast<size_t>(words) * bins, 0);
        loss_.count(subset, bins, scratch.sums.data(), [&](int64_t i) { return scratch.root_bin[i]; });
        Sum* sums = scratch.sums.data();
        for (int w = 0; w < words; ++w) add_up(sums + w * bins, bins);
        std::vector<Sum> low(static_cast<size_t>(bins)), high(low), work(low);
        loss_.losses(edges, [&](int w, int b) { return sums[w * bins + b]; }, low.data(), work.data());
        loss_.losses(
            edges, [&](int w, int b) { return sums[w * bins + edges] - sums[w * bins + b]; }, high.data(), work.data());
        for (int e = 0; e < edges; ++e) {
            const Real loss[2] = {static_cast<Real>(low[e]) + leaf_, static_cast<Real>(high[e]) + leaf_};
            scratch.edges[e] = {{loss[0], loss[1]}, {loss[0], loss[1]}, {loss[0], loss[1]}, {}};
        }
    }

    // Every cut of the child's grid, below and above every cut of the root's.
    void try_child(const Subset& subset, int g, const Root& root, Scratch& scratch) {
        const Grid& grid = root.child[g];
        const int edges = static_cast<int>(root.grid.cuts.size());
        const int bins = grid.bins(), width = bins * (loss_.words() + extra_words(g)); // of a bin of the root
        count_pairs(subset, g, grid, width, scratch);
        scratch.all.assign(static_cast<size_t>(width), 0);
        scratch.low.assign(static_cast<size_t>(width), 0);
        for (int r = 0; r <= edges; ++r) {
            Sum* sums = &scratch.sums[static_cast<size_t>(r) * width];
            for (int first = 0; first < width; first += bins) add_up(sums + first, bins);
            add_to(scratch.all.data(), sums, width);
        }
        for (int s = 0; s < 2; ++s) {
            for (auto& loss : scratch.side[s]) loss.resize(static_cast<size_t>(bins) + 1);
            scratch.inside[s][g].resize(static_cast<size_t>(edges) * bins);
            scratch.at[s][g].resize(static_cast<size_t>(edges) * bins);
            scratch.side[s][0][0] = 0;
        }
        scratch.work.resize(2 * static_cast<size_t>(bins));
        scratch.closed.resize(static_cast<size_t>(bins));
        for (int b = 0; b < bins; ++b) scratch.closed[b] = grid.open[b] ? Sum{0} : no_sum<Sum>;
        const auto side = [&](int s, int above) { return scratch.side[s][above].data() + 1 - above; };
        const FourLosses<Sum> losses{{{side(0, 0), side(0, 1)}, {side(1, 0), side(1, 1)}}};
        for (int e = 0; e < edges; ++e) {
            add_to(scratch.low.data(), &scratch.sums[static_cast<size_t>(e) * width], width);
            loss_.four_losses(bins, scratch.low.data(), scratch.all.data(), losses, scratch.work.data());
            for (int s = 0; s < 2; ++s) {
                if (root.may_split[s]) compare(g, grid, e, s, scratch);
            }
        }
    }

    // The histogram of two columns: [bin of the root][word][bin of the child].
    void count_pairs(const Subset& subset, int g, const Grid& grid, int width, Scratch& scratch) const {
        const int bins = grid.bins();
        bin_ranks(grid, subset.ranks[g], scratch.bin_of_rank);
        scratch.sums.assign(static_cast<size_t>(width) * (scratch.edges.size() + 1), 0);
        const int32_t* rank = subset.rank[g].data();
        const auto place = [&](int64_t i) { return scratch.root_bin[i] * width + scratch.bin_of_rank[rank[i]]; };
        loss_.count(subset, bins, scratch.sums.data(), place);
        Sum* extra = scratch.sums.data() + static_cast<size_t>(loss_.words()) * bins;
        if (limits_.min_rows > 1) {
            for (int64_t i = 0; i < subset.rows(); ++i) ++extra[place(i)];
            extra += bins;
        }
        if (!to_majority(g)) return;
        for (int64_t i = 0; i < subset.rows(); ++i) {
            const auto row = static_cast<size_t>(i);
            if (!is_known(problem_, subset, g, row)) continue;
            Sum& sum = extra[place(i)];
            sum = static_cast<Sum>(sum + static_cast<Sum>(subset.weight_of(row)));
        }
    }

    bool to_majority(int g) const { return limits_.majority && missing_end(problem_.columns[g]) != MissingEnd::none; }
    // Sums beside those of the loss: rows, and the weight of rows whose value is known.
    int extra_words(int g) const { return (limits_.min_rows > 1) + to_majority(g); }

    // Bounds of the child's gaps and losses of its cuts, and what they mean for the edge.
    void compare(int g, const Grid& grid, int e, int s, Scratch& scratch) {
        const int bins = grid.bins();
        const Sum leaves = static_cast<Sum>(2 * leaf_);
        // below[b + 1]: loss of the child's rows up to bin b; above[b]: of those above it.
        const Sum *below = scratch.side[s][0].data(), *above = scratch.side[s][1].data();
        const Sum* closed = scratch.closed.data();
        Sum* inside = &scratch.inside[s][g][static_cast<size_t>(e) * bins];
        Sum* at = &scratch.at[s][g][static_cast<size_t>(e) * bins];
        for (int b = 0; b < bins; ++b) {
            const Sum bound = static_cast<Sum>(below[b] + above[b] + leaves);
            at[b] = static_cast<Sum>(below[b + 1] + above[b] + leaves);
            inside[b] = closed[b] > bound ? closed[b] : bound;
        }
        const Sum least_inside = least_of(inside, bins);
        Sum least = least_of(at, bins - 1);
        Edge& edge = scratch.edges[e];
        edge.lower[s] = std::min({edge.lower[s], static_cast<Real>(least), static_cast<Real>(least_inside)});
        const bool is_limited = extra_words(g) > 0;
        const auto allowed = [&](int b) { return !is_limited || is_allowed(g, bins, b, s, scratch); };
        if (is_limited) {
            least = no_sum<Sum>;
            for (int b = 0; b + 1 < bins; ++b) least = at[b] < least && allowed(b) ? at[b] : least;
        }
        if (static_cast<Real>(least) < edge.loss[s]) {
            int b = 0;
            while (at[b] != least || !allowed(b)) ++b;
            edge.loss[s] = static_cast<Real>(least);
            edge.child[s] = {g, grid.cuts[b]};
        }
        edge.own[s] = std::min({edge.own[s], static_cast<Real>(least), static_cast<Real>(least_inside)});
    }

    // Whether both sides of the child's cut after bin b have enough rows, and missing values go where they must.
    bool is_allowed(int g, int bins, int b, int s, const Scratch& scratch) const {
        size_t word = static_cast<size_t>(loss_.words()) * bins;
        const auto sum = [&](int bin) {
            const Sum low = scratch.low[word + bin];
            return static_cast<Real>(s == 0 ? low : scratch.all[word + bin] - low);
        };
        if (limits_.min_rows > 1) {
            const Real enough = static_cast<Real>(limits_.min_rows);
            if (sum(b) < enough || sum(bins - 1) - sum(b) < enough) return false;
            word += static_cast<size_t>(bins);
        }
        if (!to_majority(g)) return true;
        const bool goes_low = 2 * sum(b) >= sum(bins - 1);
        return goes_low == (missing_end(problem_.columns[g]) == MissingEnd::low);
    }

    // Closes what cannot beat the limit and halves the rest.
    void close_or_divide(const Subset& subset, Root& root, Scratch& scratch, Real limit) {
        const std::vector<Edge>& edges = scratch.edges;
        const int n = static_cast<int>(edges.size());
        std::vector<bool> keep(static_cast<size_t>(n), false);
        std::vector<Gap> gaps(static_cast<size_t>(n) + 1, Gap::closed);
        root.open = false;
        root.open_lower = infinity;
        const auto bound = [&](Real lower) {
            const bool open = lower < limit;
            (open ? root.open_lower : root.closed) = std::min(open ? root.open_lower : root.closed, lower);
            root.open |= open;
            return open;
        };
        for (int e = 0; e < n; ++e) {
            if (e > 0 && root.grid.open[e] && bound(edges[e - 1].lower[0] + edges[e].lower[1])) gaps[e] = Gap::divide;
            const Real lower = edges[e].own[0] + edges[e].own[1];
            if (lower < edges[e].loss[0] + edges[e].loss[1]) {
                keep[e] = bound(lower);
            } else {
                root.closed = std::min(root.closed, lower);
            }
        }
        if (!root.open) return;
        for (int g = 0; g < subset.columns(); ++g) {
            if (!root.child[g].cuts.empty()) refine_child(g, root, keep, gaps, scratch, limit);
        }
        root.grid = refined(root.grid, keep, gaps, weight_[root.column]);
    }

    // A gap of the child's grid stays open if a cut in it could beat the limit below some open root cut or gap. It is
    // halved if so at both ends of the root's gap; otherwise halving the root's gap decides more.
    void refine_child(int g, Root& root, const std::vector<bool>& keep, const std::vector<Gap>& root_gaps,
                      const Scratch& scratch, Real limit) {
        Grid& grid = root.child[g];
        const int bins = grid.bins(), n = static_cast<int>(keep.size());
        // Over what is allowed: the bounds of gaps at the root cut with fewer rows, with more rows; the losses of cuts.
        std::vector<Sum> gap(static_cast<size_t>(bins), no_sum<Sum>), divided(gap), cut(gap);
        const auto mark = [&](int s, int near, int far, Real below) {
            if (!root.may_split[s]) return;
            const Sum allowed = sum_of<Sum>(below);
            const Sum* inside = &scratch.inside[s][g][static_cast<size_t>(near) * bins];
            const Sum* beyond = &scratch.inside[s][g][static_cast<size_t>(far) * bins];
            const Sum* at = &scratch.at[s][g][static_cast<size_t>(near) * bins];
            take_least_excess(gap.data(), inside, allowed, bins);
            take_least_excess(divided.data(), beyond, allowed, bins);
            take_least_excess(cut.data(), at, allowed, bins);
        };
        const std::vector<Edge>& edges = scratch.edges;
        for (int e = 0; e < n; ++e) {
            if (keep[e]) {
                mark(0, e, e, limit - edges[e].own[1]);
                mark(1, e, e, limit - edges[e].own[0]);
            }
            if (e > 0 && root_gaps[e] == Gap::divide) {
                mark(0, e - 1, e, limit - edges[e].lower[1]);
                mark(1, e, e - 1, limit - edges[e - 1].lower[0]);
            }
        }
        std::vector<Gap> gaps;
        std::vector<bool> cuts;
        for (int b = 0; b < bins; ++b) {
            gaps.push_back(gap[b] >= 0 ? Gap::closed : divided[b] < 0 ? Gap::divide : Gap::open);
            cuts.push_back(cut[b] < 0);
            if (gap[b] >= 0) root.closed = std::min(root.closed, limit + static_cast<Real>(gap[b]));
            if (cut[b] >= 0 && b + 1 < bins) root.closed = std::min(root.closed, limit + static_cast<Real>(cut[b]));
        }
        grid = refined(grid, cuts, gaps, weight_[g]);
    }

    const Loss& loss_;
    const Problem& problem_;
    const TreeLimits limits_;
    Real leaf_;
    SearchControl& control_;
    std::vector<std::vector<double>> weight_; // [column]: of the rows up to each rank
    std::vector<Root> roots_;
};

} // namespace tw

#include "split/surrogate.hpp"

#include <algorithm>
#include <numeric>

namespace tw {
namespace {

constexpr int64_t min_rows = 2;                  // rows each side, or each child imitated, must rest on
constexpr double min_adjusted_agreement = 1e-10; // agreement beyond the majority rule

// Sums of bins: weight per child, rows per child.
struct Side {
    explicit Side(int children) : weight(children, 0), rows(children, 0) {}

    void change(const Bin& bin, int sign) {
        for (size_t c = 0; c < weight.size(); ++c) {
            weight[c] += sign * bin.stat[c];
            rows[c] += sign * static_cast<int64_t>(bin.stat[weight.size() + c]);
        }
    }
    int most_frequent() const {
        return static_cast<int>(std::max_element(weight.begin(), weight.end()) - weight.begin());
    }
    int64_t all_rows() const { return std::accumulate(rows.begin(), rows.end(), int64_t{0}); }

    std::vector<Sum> weight;
    std::vector<int64_t> rows;
};

struct ChildOfBin {
    std::vector<int> child; // child per bin, -1: none
    Sum agreeing = 0;
};

// One cut; each side predicts its most frequent child. Of equally good cuts the lowest.
std::optional<ChildOfBin> best_ordered_assignment(const Histogram& histogram, int children) {
    Side low(children), high(children);
    for (int i = 0; i < histogram.size(); ++i) high.change(histogram.bin(i), 1);
    std::optional<ChildOfBin> best;
    for (int i = 0; i + 1 < histogram.size(); ++i) {
        low.change(histogram.bin(i), 1);
        high.change(histogram.bin(i), -1);
        if (low.all_rows() < min_rows || high.all_rows() < min_rows) continue;
        const int below = low.most_frequent(), above = high.most_frequent();
        const Sum agreeing = low.weight[below] + high.weight[above];
        if (below == above || (best && agreeing <= best->agreeing)) continue;
        best = ChildOfBin{std::vector<int>(histogram.size(), above), agreeing};
        std::fill(best->child.begin(), best->child.begin() + i + 1, below);
    }
    return best;
}

// Each level predicts its most frequent child, a tie the most frequent of all, and where these are tied too, the upper
// child. Two children need rows enough; or, as rpart has it, the levels must be wrong about rows enough.
std::optional<ChildOfBin> best_level_assignment(const Histogram& histogram, const Split& chosen, bool imperfect) {
    const int children = chosen.children();
    Side all(children);
    for (int i = 0; i < histogram.size(); ++i) all.change(histogram.bin(i), 1);
    int favourite = all.most_frequent();
    if (all.weight[chosen.upper] == all.weight[favourite]) favourite = chosen.upper;
    const auto enough = [](int64_t rows) { return rows >= min_rows; };
    if (!imperfect && std::count_if(all.rows.begin(), all.rows.end(), enough) < 2) return std::nullopt;
    ChildOfBin assignment;
    int64_t wrong = 0;
    for (int i = 0; i < histogram.size(); ++i) {
        const Bin bin = histogram.bin(i);
        Side level(children);
        level.change(bin, 1);
        int child = level.most_frequent();
        if (level.weight[favourite] == level.weight[child]) child = favourite;
        assignment.child.push_back(bin.rows > 0 ? child : -1);
        assignment.agreeing += level.weight[child];
        wrong += level.all_rows() - level.rows[child];
    }
    if (imperfect && !enough(wrong)) return std::nullopt;
    return assignment;
}

Split split_of_assignment(const Task& task, const ColumnFacts& facts, const Histogram& histogram, int children,
                          const ChildOfBin& assignment) {
    Split split;
    split.column = histogram.column;
    split.closed = facts.quantile_binned || task.recipe.threshold.closed;
    std::vector<double> weight(children, 0);
    for (int i = 0; i < histogram.size(); ++i) {
        if (assignment.child[i] < 0) continue;
        for (int c = 0; c < children; ++c) {
            weight[assignment.child[i]] += static_cast<double>(histogram.bin(i).stat[c]);
        }
    }
    const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
    for (double w : weight) split.share.push_back(w / total);
    if (facts.kind == Kind::nominal) {
        split.child_of_bin.assign(facts.levels, -1);
        for (int i = 0; i < histogram.size(); ++i) split.child_of_bin[level_of(histogram, i)] = assignment.child[i];
        return split;
    }
    int cut = 0;
    while (assignment.child[cut] == assignment.child[cut + 1]) ++cut;
    const double below = histogram.at[cut], above = histogram.at[cut + 1];
    if (facts.kind == Kind::ordinal && !facts.quantile_binned) {
        const double middle = (below + above) / 2;
        for (int level = 0; level < facts.levels; ++level) {
            split.child_of_bin.push_back(assignment.child[level <= middle ? cut : cut + 1]);
        }
        return split;
    }
    const double at =
        facts.quantile_binned ? facts.bounds[static_cast<size_t>(below)] : midpoint(below, above, split.closed);
    split.breaks.push_back(at);
    split.child_of_bin = {assignment.child[cut], assignment.child[cut + 1]};
    return split;
}

} // namespace

std::vector<double> weight_sent(const Task& task, const Split& split, const Histogram& by_child) {
    std::vector<double> weight(split.children(), 0);
    for (int i = 0; i < by_child.size(); ++i) {
        const Bin bin = by_child.bin(i);
        for (int c = 0; c < split.children(); ++c) {
            weight[c] += static_cast<double>(bin.stat[c]) * task.measure.weight_unit;
        }
    }
    return weight;
}

std::optional<Surrogate> best_surrogate(const Task& task, const ColumnFacts& facts, const Histogram& histogram,
                                        const Split& chosen, const std::vector<double>& child_weight) {
    const int children = static_cast<int>(child_weight.size());
    const auto assignment = facts.kind == Kind::nominal
                                ? best_level_assignment(histogram, chosen, task.recipe.imperfect_levels)
                                : best_ordered_assignment(histogram, children);
    if (!assignment) return std::nullopt;
    const double total = std::accumulate(child_weight.begin(), child_weight.end(), 0.0);
    const double majority = *std::max_element(child_weight.begin(), child_weight.end()) / total;
    Surrogate surrogate;
    surrogate.agreement = static_cast<double>(assignment->agreeing) * task.measure.weight_unit / total;
    surrogate.adjusted = (surrogate.agreement - majority) / (1 - majority);
    if (!(surrogate.adjusted > min_adjusted_agreement)) return std::nullopt;
    surrogate.split = split_of_assignment(task, facts, histogram, children, *assignment);
    return surrogate;
}

std::vector<Surrogate> best_surrogates(std::vector<Surrogate> found, size_t most) {
    std::vector<Surrogate> kept;
    while (!found.empty() && kept.size() < most) {
        FirstOfBest<size_t> best;
        for (size_t i = 0; i < found.size(); ++i) TieRule{rounding}.offer(best, found[i].agreement, i);
        const auto next = found.begin() + static_cast<std::ptrdiff_t>(best.winner().item);
        kept.push_back(std::move(*next));
        found.erase(next);
    }
    return kept;
}

} // namespace tw

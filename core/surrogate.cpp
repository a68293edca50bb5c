#include "surrogate.hpp"

#include <algorithm>
#include <numeric>

namespace tw {
namespace {

constexpr int64_t least_rows = 2;        // rows each side, or each child imitated, must rest on
constexpr double least_adjusted = 1e-10; // agreement beyond the majority rule

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

struct Imitation {
    std::vector<int> answer; // child per bucket, -1: none
    Sum agreeing = 0;
};

// One cut; each side answers its most frequent child. Of equally good cuts the lowest.
std::optional<Imitation> imitate_in_order(const Buckets& buckets, int children) {
    Side low(children), high(children);
    for (int i = 0; i < buckets.size(); ++i) high.change(buckets.bin(i), 1);
    std::optional<Imitation> best;
    for (int i = 0; i + 1 < buckets.size(); ++i) {
        low.change(buckets.bin(i), 1);
        high.change(buckets.bin(i), -1);
        if (low.all_rows() < least_rows || high.all_rows() < least_rows) continue;
        const int below = low.most_frequent(), above = high.most_frequent();
        const Sum agreeing = low.weight[below] + high.weight[above];
        if (below == above || (best && agreeing <= best->agreeing)) continue;
        best = Imitation{std::vector<int>(buckets.size(), above), agreeing};
        std::fill(best->answer.begin(), best->answer.begin() + i + 1, below);
    }
    return best;
}

// Each level answers its most frequent child, a tie the most frequent of all, and where these are tied too, the upper
// child. Two children need rows enough; or, as rpart has it, the levels must be wrong about rows enough.
std::optional<Imitation> imitate_by_level(const Buckets& buckets, const Split& chosen, bool imperfect) {
    const int children = chosen.children();
    Side all(children);
    for (int i = 0; i < buckets.size(); ++i) all.change(buckets.bin(i), 1);
    int favourite = all.most_frequent();
    if (all.weight[chosen.upper] == all.weight[favourite]) favourite = chosen.upper;
    const auto enough = [](int64_t rows) { return rows >= least_rows; };
    if (!imperfect && std::count_if(all.rows.begin(), all.rows.end(), enough) < 2) return std::nullopt;
    Imitation imitation;
    int64_t wrong = 0;
    for (int i = 0; i < buckets.size(); ++i) {
        const Bin bin = buckets.bin(i);
        Side level(children);
        level.change(bin, 1);
        int child = level.most_frequent();
        if (level.weight[favourite] == level.weight[child]) child = favourite;
        imitation.answer.push_back(bin.rows > 0 ? child : -1);
        imitation.agreeing += level.weight[child];
        wrong += level.all_rows() - level.rows[child];
    }
    if (imperfect && !enough(wrong)) return std::nullopt;
    return imitation;
}

Split split_of_answers(const Task& task, const ColumnFacts& facts, const Buckets& buckets, int children,
                       const Imitation& imitation) {
    Split split;
    split.column = buckets.column;
    split.closed = facts.binned || task.recipe.threshold.closed;
    std::vector<double> weight(children, 0);
    for (int i = 0; i < buckets.size(); ++i) {
        if (imitation.answer[i] < 0) continue;
        for (int c = 0; c < children; ++c) {
            weight[imitation.answer[i]] += static_cast<double>(buckets.bin(i).stat[c]);
        }
    }
    const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
    for (double w : weight) split.share.push_back(w / total);
    if (facts.kind == Kind::nominal) {
        split.child_of_bin.assign(facts.levels, -1);
        for (int i = 0; i < buckets.size(); ++i) split.child_of_bin[level_of(buckets, i)] = imitation.answer[i];
        return split;
    }
    int cut = 0;
    while (imitation.answer[cut] == imitation.answer[cut + 1]) ++cut;
    const double below = buckets.at[cut], above = buckets.at[cut + 1];
    if (facts.kind == Kind::ordinal && !facts.binned) {
        const double middle = (below + above) / 2;
        for (int level = 0; level < facts.levels; ++level) {
            split.child_of_bin.push_back(imitation.answer[level <= middle ? cut : cut + 1]);
        }
        return split;
    }
    const double at = facts.binned ? facts.bounds[static_cast<size_t>(below)] : midpoint(below, above, split.closed);
    split.breaks.push_back(at);
    split.child_of_bin = {imitation.answer[cut], imitation.answer[cut + 1]};
    return split;
}

} // namespace

std::vector<double> weight_sent(const Task& task, const Split& split, const Buckets& by_child) {
    std::vector<double> weight(split.children(), 0);
    for (int i = 0; i < by_child.size(); ++i) {
        const Bin bin = by_child.bin(i);
        for (int c = 0; c < split.children(); ++c) {
            weight[c] += static_cast<double>(bin.stat[c]) * task.measure.weight_unit;
        }
    }
    return weight;
}

std::optional<Surrogate> best_surrogate(const Task& task, const ColumnFacts& facts, const Buckets& buckets,
                                        const Split& chosen, const std::vector<double>& child_weight) {
    const int children = static_cast<int>(child_weight.size());
    const auto imitation = facts.kind == Kind::nominal ? imitate_by_level(buckets, chosen, task.recipe.imperfect_levels)
                                                       : imitate_in_order(buckets, children);
    if (!imitation) return std::nullopt;
    const double total = std::accumulate(child_weight.begin(), child_weight.end(), 0.0);
    const double majority = *std::max_element(child_weight.begin(), child_weight.end()) / total;
    Surrogate surrogate;
    surrogate.agreement = static_cast<double>(imitation->agreeing) * task.measure.weight_unit / total;
    surrogate.adjusted = (surrogate.agreement - majority) / (1 - majority);
    if (!(surrogate.adjusted > least_adjusted)) return std::nullopt;
    surrogate.split = split_of_answers(task, facts, buckets, children, *imitation);
    return surrogate;
}

} // namespace tw

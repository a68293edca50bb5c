#include "split/given_split.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tw {
namespace {

struct Placed {
    BinMapping mapping;
    Children children;
    Rating rating;
};

Rating rate_division(const Task& task, const Parent& parent, const Children& children) {
    Rating rating = rate(task, parent, children);
    if (task.custom) {
        const double score = custom_scores(task, parent, {&children, 1})[0];
        rating.score = rating.gain = std::isnan(score) ? 0 : score;
    }
    return rating;
}

// The children of the split, with the missing entries where the recipe or the user wants them.
Placed place_missing_entries(const Task& task, const Parent& parent, const Histogram& by_child,
                             const std::optional<int>& missing) {
    const auto placed = [&](int child) {
        BinMapping mapping{std::max(by_child.size(), child + 1), std::vector<int>(by_child.at.size()), child};
        std::iota(mapping.child.begin(), mapping.child.end(), 0);
        Children children = children_of(task, by_child, mapping);
        Rating rating = rate_division(task, parent, children);
        return Placed{std::move(mapping), std::move(children), rating};
    };
    if (!scores_missing(task.recipe.missing) || !by_child.has_missing()) return placed(-1);
    if (missing && *missing >= 0) return placed(*missing);
    // Missing as a level of its own is a child of its own, unless two children are all there may be.
    if (task.recipe.missing == Missing::own && task.recipe.branching != Branching::binary) {
        return placed(by_child.size());
    }
    Placed best = placed(by_child.size() - 1);
    for (int child = by_child.size() - 2; child >= 0; --child) {
        Placed other = placed(child);
        if (other.rating.score > best.rating.score) best = std::move(other);
    }
    return best;
}

bool is_allowed(const Task& task, const Parent& parent, const ColumnFacts& facts, const Histogram& by_child,
                const Children& children) {
    Accumulator known(task.measure, by_child);
    for (int i = 0; i < by_child.size(); ++i) known.add(by_child.bin(i));
    std::vector<double> stat(static_cast<size_t>(task.measure.width()));
    known.read(stat.data());
    const double min_side =
        is_ordered(task.recipe, facts) ? min_side_weight(task, weight_of(task.recipe.criterion, stat)) : 0;
    CandidateScorer scorer(task, parent, false, min_side);
    scorer.offer(children);
    return scorer.close().best >= 0;
}

// What the recipe does to a score besides its criterion: C4.5's penalty, CHAID's multiplier.
void adjust(const Task& task, const NodeFacts& node, const TrainingTable& training, std::span<const Entry> entries,
            Candidate& candidate) {
    const Recipe& recipe = task.recipe;
    const ColumnFacts& facts = training.facts[static_cast<size_t>(candidate.column)];
    const bool penalised = recipe.threshold.cut_penalty && is_ordered(recipe, facts);
    if (recipe.branching != Branching::merge && !penalised) return;
    Histogram histogram = target_histogram(training, entries, candidate.column);
    if (penalised) {
        const int cuts = std::max(1, allowed_cuts(task, node, facts, histogram));
        penalise_cuts(task, node, static_cast<double>(cuts), candidate.rating);
        if (candidate.rating.gain <= recipe.tie_tolerance) candidate.obstacle = Obstacle::no_gain;
        return;
    }
    if (recipe.missing == Missing::own && facts.kind == Kind::nominal)
        histogram = with_missing_level(std::move(histogram));
    // More groups than there are bins to merge have no multiplier: merging could not have produced them.
    const double found = log_multiplier(task, facts, histogram, candidate.split.children());
    candidate.log_multiplier = std::isfinite(found) ? found : 0;
    candidate.rating.score = -std::min(0.0, candidate.rating.test.log_p + candidate.log_multiplier);
    candidate.significant = -candidate.rating.score <= std::log(recipe.merge.alpha_split) + rounding;
}

} // namespace

Candidate given_candidate(const Task& task, const NodeFacts& node, const TrainingTable& training,
                          std::span<const Entry> entries, const GivenSplit& given) {
    const Recipe& recipe = task.recipe;
    const Histogram by_child = histogram_of_children(training, entries, given.split);
    const Parent parent = parent_of(task, node, by_child);
    const auto [mapping, children, rating] = place_missing_entries(task, parent, by_child, given.missing);
    const ColumnFacts& facts = training.facts[static_cast<size_t>(given.split.column)];
    Candidate candidate;
    candidate.column = given.split.column;
    candidate.rating = rating;
    candidate.obstacle = is_allowed(task, parent, facts, by_child, children) ? Obstacle::none : Obstacle::too_small;
    if (recipe.stopping.significance && !is_test(recipe.criterion)) {
        candidate.rating.test = significance_of(task, by_child, mapping);
    }
    Split& split = candidate.split;
    split = given.split;
    split.share.clear();
    double total = 0;
    for (int i = 0; i < mapping.children; ++i) total += weight_of(recipe.criterion, children.stat(i));
    for (int i = 0; i < mapping.children; ++i) {
        split.share.push_back(weight_of(recipe.criterion, children.stat(i)) / total);
    }
    split.upper = upper_child(task, children.stats);
    set_missing_policy(task, mapping.missing, children.rows, split);
    if (given.missing) split.missing = *given.missing;
    adjust(task, node, training, entries, candidate);
    return candidate;
}

bool is_same_division(const TrainingTable& training, std::span<const Entry> entries, const Split& a, const Split& b) {
    const Column& column = training.table.columns[a.column];
    return a.column == b.column && a.children() == b.children() &&
           std::all_of(entries.begin(), entries.end(),
                       [&](const Entry& entry) { return route(a, column, entry.row) == route(b, column, entry.row); });
}

} // namespace tw

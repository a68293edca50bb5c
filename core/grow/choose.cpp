#include "grow/choose.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "split/column_draw.hpp"

namespace tw {
namespace {

constexpr double average_margin = 1e-3;   // C4.5: a gain this close to the average is still average
constexpr double many_levels_share = 0.3; // C4.5: a nominal column with this share of
                                          // the rows as levels means little

bool is_merge(const Task& task) { return task.recipe.branching == Branching::merge; }

// The best of these candidates, the lowest column on ties. CHAID: the smallest adjusted p, of these the smallest p, of
// these the largest statistic.
int best_of(const Task& task, const GrownNode& node, const std::vector<Candidate>& candidates,
            std::vector<int> competing) {
    if (!is_merge(task)) {
        FirstOfBest<int> best;
        const TieRule ties = tie_rule(task, node.impurity);
        for (const int i : competing) ties.offer(best, candidates[i].rating.score, i);
        return best.found() ? best.winner().item : competing.front();
    }
    const TieRule ties{0, rounding, false};
    const auto keep_best = [&](const auto& score) {
        double most = -std::numeric_limits<double>::infinity();
        for (const int i : competing) most = std::max(most, score(candidates[i].rating));
        std::erase_if(competing, [&](int i) { return score(candidates[i].rating) < ties.least(most); });
    };
    keep_best([](const Rating& rating) { return rating.score; });
    keep_best([](const Rating& rating) { return -rating.test.log_p; });
    keep_best([](const Rating& rating) { return rating.test.statistic; });
    return competing.front();
}

// Only columns in the draw may be looked at; constant ones do not count.
void drop_undrawn_columns(const Task& task, const GrownNode& node, std::vector<Candidate>& candidates) {
    const size_t wanted = static_cast<size_t>(task.recipe.stopping.max_features);
    if (wanted >= candidates.size()) return;
    std::vector<int> drawn;
    for (const Candidate& candidate : candidates) {
        if (candidate.obstacle != Obstacle::constant) drawn.push_back(candidate.column);
    }
    draw_columns(node.key, wanted, drawn);
    for (Candidate& candidate : candidates) {
        if (!is_drawn(drawn, candidate.column)) candidate.obstacle = Obstacle::constant;
    }
}

double average_gain(const Task& task, const std::vector<Candidate>& candidates,
                    const std::vector<const ColumnFacts*>& facts) {
    const auto many = [&](const ColumnFacts* column) {
        return column->kind == Kind::nominal &&
               column->levels >= many_levels_share * static_cast<double>(task.table_rows);
    };
    const bool all_many = std::all_of(facts.begin(), facts.end(),
                                      [&](const ColumnFacts* column) { return !column->allowed || many(column); });
    double sum = 0;
    int candidates_by_value = 0;
    for (const Candidate& candidate : candidates) {
        if (!candidate.possible() || candidate.rating.gain <= -average_margin) continue;
        if (many(facts[candidate.column]) && !all_many) continue;
        sum += candidate.rating.gain;
        ++candidates_by_value;
    }
    return candidates_by_value > 0 ? sum / candidates_by_value : std::numeric_limits<double>::infinity();
}

// Candidates that compete, in column order.
std::vector<int> competitors(const Task& task, const std::vector<Candidate>& candidates,
                             const std::vector<const ColumnFacts*>& facts) {
    const bool by_ratio = task.recipe.criterion == Criterion::gain_ratio;
    const double least = by_ratio && task.recipe.average_rule ? average_gain(task, candidates, facts) - average_margin
                                                              : -std::numeric_limits<double>::infinity();
    std::vector<int> result;
    for (size_t i = 0; i < candidates.size(); ++i) {
        const Candidate& candidate = candidates[i];
        if (!candidate.possible() || candidate.rating.gain < least) continue;
        if (by_ratio && candidate.rating.information <= min_split_information) continue;
        result.push_back(static_cast<int>(i));
    }
    return result;
}

Stop no_candidate_reason(const std::vector<Candidate>& candidates) {
    Stop reason = Stop::no_column;
    for (const Candidate& candidate : candidates) {
        if (candidate.possible() || candidate.obstacle == Obstacle::no_gain) return Stop::no_gain;
        if (candidate.obstacle == Obstacle::too_small) reason = Stop::small_children;
    }
    return reason;
}

Stop rejection_reason(const Task& task, const GrownNode& node, double root_weight, const Candidate& chosen) {
    const Stopping& stopping = task.recipe.stopping;
    if (!chosen.significant) return Stop::not_significant;
    if (chosen.enlarged && chosen.enlarged->split.children() < 2) return Stop::small_children;
    const double floor =
        std::max(task.recipe.tie_tolerance, rounding * std::max(node.impurity, std::numeric_limits<double>::min()));
    if (!stopping.zero_gain && !(chosen.rating.gain > floor)) return Stop::no_gain;
    if (stopping.min_impurity_decrease > 0 &&
        node.weight / root_weight * chosen.rating.decrease + 1e-15 < stopping.min_impurity_decrease) {
        return Stop::small_decrease;
    }
    if (stopping.significance && chosen.rating.test.log_p > std::log(*stopping.significance)) {
        return Stop::not_significant;
    }
    return Stop::none;
}

// Every possible column is remembered as a rival, also those the average rule kept out; best first.
std::vector<Candidate> rivals_of(const Task& task, const GrownNode& node, const std::vector<Candidate>& candidates,
                                 int chosen) {
    std::vector<int> left;
    for (size_t i = 0; i < candidates.size() && task.recipe.rivals > 0; ++i) {
        if (candidates[i].possible() && static_cast<int>(i) != chosen) left.push_back(static_cast<int>(i));
    }
    std::vector<Candidate> rivals;
    while (!left.empty() && rivals.size() < static_cast<size_t>(task.recipe.rivals)) {
        const int next = best_of(task, node, candidates, left);
        rivals.push_back(candidates[next]);
        std::erase(left, next);
    }
    return rivals;
}

} // namespace

Stop stop_before_search(const Task& task, const GrownNode& node) {
    const Stopping& stopping = task.recipe.stopping;
    if (node.rows == 0) return Stop::empty;
    if (node.pure) return Stop::pure;
    if (node.depth >= stopping.max_depth) return Stop::depth;
    if (node.rows < stopping.min_samples_split ||
        node.weight < stopping.min_weight_split - weight_tolerance(task.recipe) ||
        node.rows / 2 < stopping.min_samples_leaf) {
        return Stop::few_rows;
    }
    if (node.impurity <= stopping.max_impurity) return Stop::low_impurity;
    return Stop::none;
}

Decision choose_given(const Task& task, const GrownNode& node, double root_weight, const TrainingTable& training,
                      std::span<const Entry> entries, const GivenSplit& given, std::vector<Candidate> candidates) {
    Candidate chosen = given_candidate(task, {node.weight, node.stat}, training, entries, given);
    drop_undrawn_columns(task, node, candidates);
    std::erase_if(candidates, [&](const Candidate& other) {
        return !other.possible() || is_same_division(training, entries, chosen.split, other.split);
    });
    Decision decision;
    decision.stop =
        chosen.possible() ? rejection_reason(task, node, root_weight, chosen) : no_candidate_reason({chosen});
    decision.rivals = rivals_of(task, node, candidates, -1);
    decision.chosen = std::make_unique<Candidate>(std::move(chosen));
    return decision;
}

Decision choose(const Task& task, const GrownNode& node, double root_weight, std::vector<Candidate> candidates,
                const std::vector<const ColumnFacts*>& facts) {
    drop_undrawn_columns(task, node, candidates);
    const std::vector<int> competing = competitors(task, candidates, facts);
    Decision decision;
    const int best = competing.empty() ? -1 : best_of(task, node, candidates, competing);
    decision.stop =
        best < 0 ? no_candidate_reason(candidates) : rejection_reason(task, node, root_weight, candidates[best]);

    decision.rivals = rivals_of(task, node, candidates, decision.stop == Stop::none ? best : -1);
    if (decision.stop != Stop::none) return decision;
    decision.chosen = std::make_unique<Candidate>(std::move(candidates[best]));
    if (const auto enlarged = decision.chosen->enlarged) static_cast<RatedSplit&>(*decision.chosen) = *enlarged;
    return decision;
}

} // namespace tw

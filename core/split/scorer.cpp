#include "split/scorer.hpp"

#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"

namespace tw {
namespace {

double split_information(const Task& task, const Parent& parent, const Children& children) {
    std::vector<double> parts;
    for (int i = 0; i < children.count(); ++i) parts.push_back(weight_of(task.recipe.criterion, children.stat(i)));
    parts.push_back(parent.missing_weight);
    return entropy_of(parts);
}

// What a user's function reads: numeric targets as they were given, not measured from the offset.
void append_for_user(const Measure& measure, Stat stat, std::vector<double>& out) {
    if (measure.n_classes > 0) {
        out.insert(out.end(), stat.begin(), stat.end());
        return;
    }
    const double o = measure.offset;
    out.push_back(stat[0]);
    out.push_back(stat[1] + o * stat[0]);
    out.push_back(stat[2] + 2 * o * stat[1] + o * o * stat[0]);
}

// A fifth root magnifies a trace of rounding: a variance that the units of the target cannot distinguish from zero is
// none.
std::vector<double> without_traces(const Measure& measure, std::span<const double> stats) {
    const double range = static_cast<double>(measure.max_abs) * measure.target_unit;
    const double trace = std::ldexp(range * range, -48);
    std::vector<double> settled(stats.begin(), stats.end());
    for (size_t at = 0; at < settled.size(); at += 3) {
        const double weight = settled[at], sum = settled[at + 1];
        if (weight > 0 && settled[at + 2] - sum * sum / weight <= trace * weight) settled[at + 1] = settled[at + 2] = 0;
    }
    return settled;
}

} // namespace

TieRule tie_rule(const Task& task, double impurity) {
    const double tolerance = task.recipe.tie_tolerance;
    return {std::max(tolerance, has_impurity_scale(task.recipe.criterion) ? rounding * impurity : 0), rounding,
            tolerance > 0};
}

Rating rate(const Task& task, const Parent& parent, const Children& children) {
    const Criterion criterion = task.recipe.criterion;
    const double offset = task.measure.offset;
    Rating rating;
    rating.decrease =
        parent.factor * (criterion == Criterion::fifth_root
                             ? improvement(criterion, parent.stat, without_traces(task.measure, children.stats), offset)
                             : improvement(criterion, parent.stat, children.stats, offset));
    switch (traits_of(criterion).score) {
        case Score::ratio:
            rating.gain = rating.decrease;
            rating.information = split_information(task, parent, children);
            rating.score = rating.information > min_split_information ? rating.gain / rating.information : 0;
            break;
        case Score::own:
            rating.gain = rating.score = parent.factor * own_score(criterion, children.stats, children.width);
            break;
        case Score::test:
            rating.test = test(criterion, children.stats, children.width);
            rating.gain = rating.score = -rating.test.log_p;
            break;
        case Score::decrease:
        case Score::custom:
            rating.gain = rating.score = rating.decrease;
            break;
    }
    return rating;
}

CandidateScorer::CandidateScorer(const Task& task, const Parent& parent, bool by_gain, double min_side)
    : task_(task), parent_(parent), by_gain_(by_gain), min_side_(min_side), ties_(tie_rule(task, parent.impurity)) {}

bool CandidateScorer::allowed(const Children& children) const {
    const Stopping& stopping = task_.recipe.stopping;
    const double tolerance = weight_tolerance(task_.recipe);
    const double least = std::max(stopping.min_weight_leaf, min_side_) - tolerance;
    int filled = 0, large = 0;
    int64_t all = 0;
    for (int i = 0; i < children.count(); ++i) all += children.rows[i];
    const auto share = static_cast<int64_t>(task_.recipe.min_share * static_cast<double>(all));
    for (int i = 0; i < children.count(); ++i) {
        if (children.rows[i] == 0) continue;
        if (task_.recipe.min_share > 0 && children.rows[i] <= share) return false;
        const double weight = weight_of(task_.recipe.criterion, children.stat(i));
        if (children.rows[i] < stopping.min_samples_leaf || weight < least) return false;
        ++filled;
        large += weight >= stopping.min_weight_two - tolerance;
    }
    return filled >= 2 && large >= 2 &&
           can_rate(task_.recipe.criterion, children.stats, children.width, task_.measure.offset);
}

void CandidateScorer::consider(int cut, int candidate, double score) {
    if (cut != last_cut_) finish_cut();
    last_cut_ = cut;
    ties_.offer(best_of_cut_, score, {candidate, score});
}

void CandidateScorer::finish_cut() {
    if (best_of_cut_.found()) ties_.offer(best_, best_of_cut_.most(), best_of_cut_.winner().item);
    best_of_cut_ = {};
}

void CandidateScorer::offer(const Children& children, bool same_cut) {
    const int candidate = offered_++;
    if (!same_cut) ++cut_;
    if (candidate % 256 == 255) check_interrupt();
    if (!allowed(children)) return;
    ++allowed_;
    if (task_.custom) {
        waiting_.push_back({cut_, candidate});
        waiting_children_.push_back(children);
        return;
    }
    const Rating rating = rate(task_, parent_, children);
    consider(cut_, candidate, by_gain_ ? rating.gain : rating.score);
}

std::vector<double> custom_scores(const Task& task, const Parent& parent, std::span<const Children> divisions) {
    int most = 0;
    for (const Children& children : divisions) most = std::max(most, children.count());
    const int width = task.measure.width();
    std::vector<double> whole, flat;
    append_for_user(task.measure, parent.stat, whole);
    for (const Children& children : divisions) {
        for (int i = 0; i < children.count(); ++i) append_for_user(task.measure, children.stat(i), flat);
        flat.resize(flat.size() + static_cast<size_t>(most - children.count()) * width, 0.0);
    }
    std::vector<double> scores(divisions.size());
    task.custom(whole, flat, static_cast<int>(divisions.size()), most, scores);
    return scores;
}

void CandidateScorer::score_custom() {
    const std::vector<double> scores = custom_scores(task_, parent_, waiting_children_);
    for (size_t i = 0; i < waiting_.size(); ++i) {
        if (!std::isnan(scores[i])) consider(waiting_[i].cut, waiting_[i].candidate, scores[i]);
    }
}

CandidateScorer::Best CandidateScorer::close() {
    if (!waiting_.empty()) score_custom();
    finish_cut();
    return {best_.winner().item.candidate, best_.winner().item.score, allowed_};
}

} // namespace tw

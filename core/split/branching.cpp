#include "split/branching.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "split/candidate_search.hpp"

namespace tw {
namespace {

std::vector<int> natural_order(int size) {
    std::vector<int> order(size);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

// Bins by rising share of a class, or by rising mean or median (class -1).
std::vector<int> order_by(const Task& task, const Histogram& histogram, int one_class) {
    std::vector<double> key(histogram.size());
    std::vector<double> stat(task.measure.width());
    for (int i = 0; i < histogram.size(); ++i) {
        Accumulator accumulator(task.measure, histogram);
        accumulator.add(histogram.bin(i));
        accumulator.read(stat.data());
        const double weight = weight_of(task.recipe.criterion, stat);
        if (one_class >= 0) {
            key[i] = stat[one_class] / weight;
        } else {
            key[i] = task.measure.statistic == Statistic::medians ? stat[1] : stat[1] / weight;
        }
    }
    std::vector<int> order = natural_order(histogram.size());
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key[a] < key[b]; });
    return order;
}

std::vector<int> classes_present(const Task& task, const Parent& parent) {
    std::vector<int> present;
    for (int c = 0; c < task.measure.n_classes; ++c) {
        if (parent.stat[c] > 0) present.push_back(c);
    }
    return present;
}

// Whether the best division into two sets is a cut of the levels in order of their mean.
bool ordering_is_exact(Criterion criterion, size_t classes) {
    switch (traits_of(criterion).ordered_levels) {
        case OrderedLevels::always:
            return true;
        case OrderedLevels::with_two_classes:
            return classes <= 2;
        case OrderedLevels::never:
            return false;
    }
    unknown_value("OrderedLevels");
}

struct Outcome {
    std::optional<BinMapping> mapping;
    double score = 0; // as candidates were compared (gain for cuts under gain ratio)
    int allowed = 0;
    std::vector<int> absent = {}; // child of each level without rows at the node; empty: none takes them
};

BinMapping two_way(int size, int missing) {
    BinMapping mapping{2, std::vector<int>(size, 1), missing};
    if (missing >= 2) mapping.children = missing + 1;
    return mapping;
}

BinMapping mapping_of(const std::vector<int>& order, const CandidateId& id) {
    BinMapping mapping = two_way(static_cast<int>(order.size()), id.missing);
    if (id.cut == missing_vs_known) {
        mapping.child.assign(order.size(), 0);
    } else {
        for (int64_t i = 0; i <= id.cut; ++i) mapping.child[order[i]] = 0;
    }
    return mapping;
}

Outcome binary_cut(const Task& task, const Parent& parent, const Histogram& histogram, MissingPlacement placement,
                   double min_gap, double min_side) {
    CandidateSearch search(task, parent, histogram, placement, true, min_side);
    const std::vector<int> order = natural_order(histogram.size());
    if (placement == MissingPlacement::own_child) search.offer_missing_vs_known();
    search.scan(0, order, [&](size_t i) { return is_separable(histogram.at[i], histogram.at[i + 1], min_gap); });
    if (placement == MissingPlacement::high_then_low || placement == MissingPlacement::any_child)
        search.offer_missing_vs_known();
    const auto found = search.close();
    if (!found) return {};
    return {mapping_of(order, found->id), found->score, found->allowed};
}

Outcome binary_subsets(const Task& task, const Parent& parent, const ColumnFacts& facts, const Histogram& histogram,
                       MissingPlacement placement) {
    CandidateSearch search(task, parent, histogram, placement, true, 0);
    std::vector<std::vector<int>> orders;
    bool enumerated = false;
    const std::vector<int> present = classes_present(task, parent);
    const size_t declared = static_cast<size_t>(task.measure.n_classes);
    if (ordering_is_exact(task.recipe.criterion, declared)) {
        orders.push_back(order_by(task, histogram, declared > 0 ? 0 : -1));
    } else if (histogram.size() <= task.recipe.enumerate_up_to) {
        enumerated = true;
    } else if (ordering_is_exact(task.recipe.criterion, present.size())) {
        orders.push_back(order_by(task, histogram, present.front()));
    } else if (present.empty()) {
        orders.push_back(order_by(task, histogram, -1));
    } else {
        for (int c : present) orders.push_back(order_by(task, histogram, c));
    }
    if (enumerated) search.enumerate();
    for (size_t i = 0; i < orders.size(); ++i) {
        search.scan(static_cast<int>(i), orders[i], [](size_t) { return true; });
    }
    search.offer_missing_vs_known();
    const auto found = search.close();
    if (!found) return {};
    if (enumerated && found->id.cut != missing_vs_known) {
        BinMapping mapping = two_way(histogram.size(), found->id.missing);
        for (int i = 0; i < histogram.size(); ++i) mapping.child[i] = (found->id.cut >> i) & 1 ? 0 : 1;
        return {mapping, found->score, found->allowed};
    }
    const std::vector<int> order = enumerated ? natural_order(histogram.size()) : orders[found->id.order];
    Outcome outcome{mapping_of(order, found->id), found->score, found->allowed};
    if (found->id.cut == missing_vs_known) outcome.absent.assign(facts.levels, 0);
    return outcome;
}

Outcome one_vs_rest(const Task& task, const Parent& parent, const ColumnFacts& facts, const Histogram& histogram,
                    MissingPlacement placement) {
    CandidateSearch search(task, parent, histogram, placement, false, 0);
    Accumulator all(task.measure, histogram);
    for (int i = 0; i < histogram.size(); ++i) all.add(histogram.bin(i));
    for (int i = 0; i < histogram.size(); ++i) {
        Accumulator one(task.measure, histogram), rest = all;
        one.add(histogram.bin(i));
        rest.remove(histogram.bin(i));
        Accumulator one_more = one, rest_more = rest;
        one_more.add(histogram.missing());
        rest_more.add(histogram.missing());
        search.offer_two({0, i, -1}, one, rest, one_more, rest_more);
    }
    search.offer_missing_vs_known();
    const auto found = search.close();
    if (!found) return {};
    BinMapping mapping = two_way(histogram.size(), found->id.missing);
    if (found->id.cut == missing_vs_known) {
        mapping.child.assign(histogram.size(), 0);
        return {mapping, found->score, found->allowed, std::vector<int>(facts.levels, 0)};
    }
    mapping.child[found->id.cut] = 0;
    return {mapping, found->score, found->allowed, std::vector<int>(facts.levels, 1)}; // absent levels are the rest too
}

// A given division of the known bins; only the place of the missing entries is still open.
Outcome place_missing(const Task& task, const Parent& parent, const ColumnFacts& facts, const Histogram& histogram,
                      MissingPlacement placement, BinMapping mapping, std::vector<int> absent) {
    CandidateSearch search(task, parent, histogram, placement, false, 0);
    std::vector<Accumulator> accumulators(mapping.children, Accumulator(task.measure, histogram));
    for (int i = 0; i < histogram.size(); ++i) accumulators[mapping.child[i]].add(histogram.bin(i));
    search.offer_each(accumulators);
    search.offer_missing_vs_known();
    const auto found = search.close();
    if (!found) return {};
    if (found->id.cut == missing_vs_known) {
        mapping = two_way(histogram.size(), found->id.missing);
        mapping.child.assign(histogram.size(), 0);
        absent.assign(facts.levels, 0); // a level without rows here is still known
    }
    mapping.missing = found->id.missing;
    mapping.children = std::max(mapping.children, mapping.missing + 1);
    return {mapping, found->score, found->allowed, absent};
}

// A child for every declared level, and one for missing as a level of its own where it occurs.
Outcome each_value(const Task& task, const Parent& parent, const ColumnFacts& facts, const Histogram& histogram,
                   MissingPlacement placement) {
    BinMapping mapping{facts.levels, {}, -1};
    for (int i = 0; i < histogram.size(); ++i) {
        const int level = level_of(histogram, i);
        mapping.child.push_back(level == missing_level ? facts.levels : level);
        if (level == missing_level) mapping.children = facts.levels + 1;
    }
    return place_missing(task, parent, facts, histogram, placement, mapping, natural_order(facts.levels));
}

double known_weight(const Task& task, const Histogram& histogram) {
    Accumulator known(task.measure, histogram);
    for (int i = 0; i < histogram.size(); ++i) known.add(histogram.bin(i));
    std::vector<double> stat(task.measure.width());
    known.read(stat.data());
    return weight_of(task.recipe.criterion, stat);
}

// Levels absent at the node lie on one side of the midpoint of a cut between ordered levels; on it, below.
std::vector<int> absent_by_side(const ColumnFacts& facts, const Histogram& histogram, const BinMapping& mapping) {
    std::vector<int> absent(facts.levels, -1);
    int cut = -1;
    for (int i = 0; i + 1 < histogram.size(); ++i) {
        if (mapping.child[i] != mapping.child[i + 1]) cut = i;
    }
    const double middle = cut < 0 ? facts.levels : (histogram.at[cut] + histogram.at[cut + 1]) / 2;
    for (int level = 0; level < facts.levels; ++level) {
        absent[level] = level <= middle ? 0 : 1;
    }
    return absent;
}

Outcome branch_column(const Task& task, const Parent& parent, const ColumnFacts& facts, const Histogram& histogram,
                      bool ordered) {
    const Recipe& recipe = task.recipe;
    const bool learned = recipe.missing == Missing::learned;
    const bool own = recipe.missing == Missing::own;
    if (ordered) {
        const bool binary = recipe.branching == Branching::binary;
        const MissingPlacement placement = learned || (own && binary) ? MissingPlacement::high_then_low
                                           : own                      ? MissingPlacement::own_child
                                                                      : MissingPlacement::nowhere;
        const double min_gap = facts.kind == Kind::number ? recipe.threshold.min_gap : 0;
        return binary_cut(task, parent, histogram, placement, min_gap,
                          min_side_weight(task, known_weight(task, histogram)));
    }
    const MissingPlacement placement = learned ? MissingPlacement::any_child : MissingPlacement::nowhere;
    switch (recipe.branching) {
        case Branching::binary:
            return binary_subsets(task, parent, facts, histogram,
                                  learned ? MissingPlacement::high_then_low : MissingPlacement::nowhere);
        case Branching::one_vs_rest:
            return one_vs_rest(task, parent, facts, histogram, placement);
        case Branching::grouped: {
            // Two levels leave nothing to group.
            if (facts.levels <= 2) return each_value(task, parent, facts, histogram, placement);
            const auto grouping = group_levels(task, parent, histogram, facts.levels);
            if (!grouping) return {};
            const std::vector<int> absent(facts.levels, grouping->rest);
            return place_missing(task, parent, facts, histogram, placement, grouping->mapping, absent);
        }
        case Branching::each_value:
            return each_value(task, parent, facts, histogram, placement);
        case Branching::merge: // merge_levels branches its columns itself
            throw std::logic_error("branch_column: merge has a search of its own");
    }
    unknown_value("Branching");
}

} // namespace

double min_side_weight(const Task& task, double known_weight) {
    if (!task.recipe.threshold.min_side_rule) return 0;
    return std::min(25.0, std::max(0.1 * known_weight / task.measure.n_classes, task.recipe.stopping.min_weight_two));
}

bool is_ordered(const Recipe& recipe, const ColumnFacts& facts) {
    return facts.kind == Kind::number || (facts.kind == Kind::ordinal && !(recipe.branching == Branching::each_value &&
                                                                           recipe.numeric != Numeric::threshold));
}

int allowed_cuts(const Task& task, const NodeFacts& node, const ColumnFacts& facts, const Histogram& histogram) {
    return branch_column(task, parent_of(task, node, histogram), facts, histogram, true).allowed;
}

void penalise_cuts(const Task& task, const NodeFacts& node, double cuts, Rating& rating) {
    rating.gain -= std::log2(cuts) / node.weight;
    const bool is_ratio = task.recipe.criterion == Criterion::gain_ratio;
    rating.score = !is_ratio                                    ? rating.gain
                   : rating.information > min_split_information ? rating.gain / rating.information
                                                                : 0;
}

Test significance_of(const Task& task, const Histogram& histogram, const BinMapping& mapping) {
    const Measure& measure = task.measure;
    const int sums = measure.sums(), width = measure.width();
    std::vector<Sum> child(static_cast<size_t>(mapping.children) * sums, 0);
    const auto add = [&](const Bin& bin, int to) {
        for (int i = 0; i < sums; ++i) child[static_cast<size_t>(to) * sums + i] += bin.stat[i];
    };
    for (int i = 0; i < histogram.size(); ++i) add(histogram.bin(i), mapping.child[i]);
    if (mapping.missing >= 0) add(histogram.missing(), mapping.missing);
    std::vector<double> stats(static_cast<size_t>(mapping.children) * width);
    for (int i = 0; i < mapping.children; ++i) {
        measure.read_moments(&child[static_cast<size_t>(i) * sums], &stats[static_cast<size_t>(i) * width]);
    }
    return test(measure.n_classes > 0 ? Criterion::chi_square : Criterion::f, stats, width);
}

Candidate best_candidate(const Task& task, const NodeFacts& node, const ColumnFacts& facts, Histogram histogram,
                         int64_t tried) {
    const Recipe& recipe = task.recipe;
    if (recipe.branching == Branching::merge) {
        Candidate merged = merge_levels(task, node, facts, histogram);
        merged.has_missing = histogram.has_missing();
        return merged;
    }

    Candidate candidate;
    candidate.column = histogram.column;
    candidate.has_missing = histogram.has_missing();
    const bool ordered = is_ordered(recipe, facts);
    const bool own_level = recipe.missing == Missing::own && !ordered;
    const Parent parent = parent_of(task, node, histogram);
    if (own_level) histogram = with_missing_level(std::move(histogram));
    const int n_options = histogram.size() + (scores_missing(recipe.missing) && histogram.has_missing() ? 1 : 0);
    if (histogram.size() == 0 || n_options < 2) return candidate;

    Outcome outcome = branch_column(task, parent, facts, histogram, ordered);
    if (!outcome.mapping) {
        candidate.obstacle = Obstacle::too_small;
        return candidate;
    }
    const BinMapping& mapping = *outcome.mapping;
    const Children children = children_of(task, histogram, mapping);
    candidate.rating = rate(task, parent, children);
    if (task.custom) candidate.rating.score = candidate.rating.gain = outcome.score;
    if (recipe.stopping.significance && !is_test(recipe.criterion)) {
        candidate.rating.test = significance_of(task, histogram, mapping);
    }
    candidate.obstacle = Obstacle::none;
    if (ordered && recipe.threshold.cut_penalty) {
        penalise_cuts(task, node, static_cast<double>(tried > 0 ? tried : outcome.allowed), candidate.rating);
        if (candidate.rating.gain <= recipe.tie_tolerance) candidate.obstacle = Obstacle::no_gain;
    }
    std::vector<int> absent = std::move(outcome.absent);
    if (absent.empty()) absent.assign(facts.levels, -1);
    if (facts.kind == Kind::ordinal && ordered) absent = absent_by_side(facts, histogram, mapping);
    candidate.split = split_of(task, facts, histogram, mapping, children, absent);
    return candidate;
}

} // namespace tw

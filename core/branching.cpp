#include "branching.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "search.hpp"

namespace tw {
namespace {

std::vector<int> natural_order(int size) {
    std::vector<int> order(size);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

// Bins by rising share of a class, or by rising mean or median (class -1).
std::vector<int> order_by(const Task& task, const Buckets& buckets, int one_class) {
    std::vector<double> key(buckets.size());
    std::vector<double> stat(task.measure.width());
    for (int i = 0; i < buckets.size(); ++i) {
        Pile pile(task.measure, buckets);
        pile.add(buckets.bin(i));
        pile.read(stat.data());
        const double weight = weight_of(task.recipe.rule, stat);
        if (one_class >= 0) {
            key[i] = stat[one_class] / weight;
        } else {
            key[i] = task.measure.needs == Needs::medians ? stat[1] : stat[1] / weight;
        }
    }
    std::vector<int> order = natural_order(buckets.size());
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

// Whether the best division into two sets is a cut of the levels in order of their mean (Fisher, Breiman).
bool ordering_is_exact(Rule rule, size_t classes) {
    switch (rule) {
        case Rule::variance:
        case Rule::f:
        case Rule::poisson:
            return true;
        case Rule::custom_classes:
        case Rule::custom_numbers:
        case Rule::standard_deviation:
        case Rule::absolute_error:
            return false;
        default:
            return classes <= 2;
    }
}

struct Outcome {
    std::optional<Division> division;
    double score = 0; // as the judge compared (gain for cuts under gain ratio)
    int allowed = 0;
    std::vector<int> absent = {}; // child of each level nobody at the node has; empty: none takes them
};

Division two_way(int size, int missing) {
    Division division{2, std::vector<int>(size, 1), missing};
    if (missing >= 2) division.children = missing + 1;
    return division;
}

Division division_of(const std::vector<int>& order, const Mark& mark) {
    Division division = two_way(static_cast<int>(order.size()), mark.missing);
    if (mark.cut == known_or_missing) {
        division.child.assign(order.size(), 0);
    } else {
        for (int64_t i = 0; i <= mark.cut; ++i) division.child[order[i]] = 0;
    }
    return division;
}

Outcome cut_in_two(const Task& task, const Parent& parent, const Buckets& buckets, Place place, double gap,
                   double min_side) {
    Search search(task, parent, buckets, place, true, min_side);
    const std::vector<int> order = natural_order(buckets.size());
    if (place == Place::own_child) search.offer_known_or_missing();
    search.sweep(0, order, [&](size_t i) { return may_part(buckets.at[i], buckets.at[i + 1], gap); });
    if (place == Place::high_then_low || place == Place::any_child) search.offer_known_or_missing();
    const auto found = search.close();
    if (!found) return {};
    return {division_of(order, found->mark), found->score, found->allowed};
}

Outcome two_sets(const Task& task, const Parent& parent, const ColumnFacts& facts, const Buckets& buckets,
                 Place place) {
    Search search(task, parent, buckets, place, true, 0);
    std::vector<std::vector<int>> orders;
    bool enumerated = false;
    const std::vector<int> present = classes_present(task, parent);
    const size_t declared = static_cast<size_t>(task.measure.n_classes);
    if (ordering_is_exact(task.recipe.rule, declared)) {
        orders.push_back(order_by(task, buckets, declared > 0 ? 0 : -1));
    } else if (buckets.size() <= task.recipe.enumerate_up_to) {
        enumerated = true;
    } else if (ordering_is_exact(task.recipe.rule, present.size())) {
        orders.push_back(order_by(task, buckets, present.front()));
    } else if (present.empty()) {
        orders.push_back(order_by(task, buckets, -1));
    } else {
        for (int c : present) orders.push_back(order_by(task, buckets, c));
    }
    if (enumerated) search.enumerate();
    for (size_t i = 0; i < orders.size(); ++i) {
        search.sweep(static_cast<int>(i), orders[i], [](size_t) { return true; });
    }
    search.offer_known_or_missing();
    const auto found = search.close();
    if (!found) return {};
    if (enumerated && found->mark.cut != known_or_missing) {
        Division division = two_way(buckets.size(), found->mark.missing);
        for (int i = 0; i < buckets.size(); ++i) division.child[i] = (found->mark.cut >> i) & 1 ? 0 : 1;
        return {division, found->score, found->allowed};
    }
    const std::vector<int> order = enumerated ? natural_order(buckets.size()) : orders[found->mark.order];
    Outcome outcome{division_of(order, found->mark), found->score, found->allowed};
    if (found->mark.cut == known_or_missing) outcome.absent.assign(facts.levels, 0);
    return outcome;
}

Outcome one_against_rest(const Task& task, const Parent& parent, const ColumnFacts& facts, const Buckets& buckets,
                         Place place) {
    Search search(task, parent, buckets, place, false, 0);
    Pile all(task.measure, buckets);
    for (int i = 0; i < buckets.size(); ++i) all.add(buckets.bin(i));
    for (int i = 0; i < buckets.size(); ++i) {
        Pile one(task.measure, buckets), rest = all;
        one.add(buckets.bin(i));
        rest.remove(buckets.bin(i));
        Pile one_more = one, rest_more = rest;
        one_more.add(buckets.missing());
        rest_more.add(buckets.missing());
        search.offer_two({0, i, -1}, one, rest, one_more, rest_more);
    }
    search.offer_known_or_missing();
    const auto found = search.close();
    if (!found) return {};
    Division division = two_way(buckets.size(), found->mark.missing);
    if (found->mark.cut == known_or_missing) {
        division.child.assign(buckets.size(), 0);
        return {division, found->score, found->allowed, std::vector<int>(facts.levels, 0)};
    }
    division.child[found->mark.cut] = 0;
    return {division, found->score, found->allowed,
            std::vector<int>(facts.levels, 1)}; // absent levels are the rest too
}

// A given division of the known bins; only the place of the missing entries is still open.
Outcome place_missing(const Task& task, const Parent& parent, const ColumnFacts& facts, const Buckets& buckets,
                      Place place, Division division, std::vector<int> absent) {
    Search search(task, parent, buckets, place, false, 0);
    std::vector<Pile> piles(division.children, Pile(task.measure, buckets));
    for (int i = 0; i < buckets.size(); ++i) piles[division.child[i]].add(buckets.bin(i));
    search.offer_each(piles);
    search.offer_known_or_missing();
    const auto found = search.close();
    if (!found) return {};
    if (found->mark.cut == known_or_missing) {
        division = two_way(buckets.size(), found->mark.missing);
        division.child.assign(buckets.size(), 0);
        absent.assign(facts.levels, 0); // a level nobody here has is still known
    }
    division.missing = found->mark.missing;
    division.children = std::max(division.children, division.missing + 1);
    return {division, found->score, found->allowed, absent};
}

// A child for every declared level, and one for missing as a level of its own where it occurs.
Outcome each_value(const Task& task, const Parent& parent, const ColumnFacts& facts, const Buckets& buckets,
                   Place place) {
    Division division{facts.levels, {}, -1};
    for (int i = 0; i < buckets.size(); ++i) {
        const int level = level_of(buckets, i);
        division.child.push_back(level == missing_level ? facts.levels : level);
        if (level == missing_level) division.children = facts.levels + 1;
    }
    return place_missing(task, parent, facts, buckets, place, division, natural_order(facts.levels));
}

double known_weight(const Task& task, const Buckets& buckets) {
    Pile known(task.measure, buckets);
    for (int i = 0; i < buckets.size(); ++i) known.add(buckets.bin(i));
    std::vector<double> stat(task.measure.width());
    known.read(stat.data());
    return weight_of(task.recipe.rule, stat);
}

// The chi-square or F test of a division, for criteria that are no test themselves.
Test significance_of(const Task& task, const Buckets& buckets, const Division& division) {
    const Measure& measure = task.measure;
    const int sums = measure.sums(), width = measure.width();
    std::vector<Sum> child(static_cast<size_t>(division.children) * sums, 0);
    const auto add = [&](const Bin& bin, int to) {
        for (int i = 0; i < sums; ++i) child[static_cast<size_t>(to) * sums + i] += bin.stat[i];
    };
    for (int i = 0; i < buckets.size(); ++i) add(buckets.bin(i), division.child[i]);
    if (division.missing >= 0) add(buckets.missing(), division.missing);
    std::vector<double> stats(static_cast<size_t>(division.children) * width);
    for (int i = 0; i < division.children; ++i) {
        measure.read_moments(&child[static_cast<size_t>(i) * sums], &stats[static_cast<size_t>(i) * width]);
    }
    return test(measure.n_classes > 0 ? Rule::chi_square : Rule::f, stats, width);
}

// Levels absent at the node lie on one side of the midpoint of a cut between ordered levels; on it, below.
std::vector<int> absent_by_side(const ColumnFacts& facts, const Buckets& buckets, const Division& division) {
    std::vector<int> absent(facts.levels, -1);
    int cut = -1;
    for (int i = 0; i + 1 < buckets.size(); ++i) {
        if (division.child[i] != division.child[i + 1]) cut = i;
    }
    const double middle = cut < 0 ? facts.levels : (buckets.at[cut] + buckets.at[cut + 1]) / 2;
    for (int level = 0; level < facts.levels; ++level) {
        absent[level] = level <= middle ? 0 : 1;
    }
    return absent;
}

Outcome divide_column(const Task& task, const Parent& parent, const ColumnFacts& facts, const Buckets& buckets,
                      bool ordered) {
    const Recipe& recipe = task.recipe;
    const bool learned = recipe.missing == Missing::learned;
    const bool own = recipe.missing == Missing::own;
    if (ordered) {
        const bool binary = recipe.branching == Branching::binary;
        const Place place = learned || (own && binary) ? Place::high_then_low : own ? Place::own_child : Place::nowhere;
        const double gap = facts.kind == Kind::number ? recipe.threshold.gap : 0;
        return cut_in_two(task, parent, buckets, place, gap, least_side(task, known_weight(task, buckets)));
    }
    const Place place = learned ? Place::any_child : Place::nowhere;
    switch (recipe.branching) {
        case Branching::binary:
            return two_sets(task, parent, facts, buckets, learned ? Place::high_then_low : Place::nowhere);
        case Branching::one_vs_rest:
            return one_against_rest(task, parent, facts, buckets, place);
        case Branching::grouped: {
            // Two levels leave nothing to group.
            if (facts.levels <= 2) return each_value(task, parent, facts, buckets, place);
            const auto grouping = group_levels(task, parent, buckets, facts.levels);
            if (!grouping) return {};
            const std::vector<int> absent(facts.levels, grouping->rest);
            return place_missing(task, parent, facts, buckets, place, grouping->division, absent);
        }
        default:
            return each_value(task, parent, facts, buckets, place);
    }
}

} // namespace

double least_side(const Task& task, double known_weight) {
    if (!task.recipe.threshold.tenth) return 0;
    return std::min(25.0, std::max(0.1 * known_weight / task.measure.n_classes, task.recipe.stopping.min_weight_two));
}

Candidate best_candidate(const Task& task, const NodeFacts& node, const ColumnFacts& facts, Buckets buckets,
                         int64_t tried) {
    const Recipe& recipe = task.recipe;
    if (recipe.branching == Branching::merge) return merge_levels(task, node, facts, buckets);

    Candidate candidate;
    candidate.column = buckets.column;
    const bool ordered = facts.kind == Kind::number ||
                         (facts.kind == Kind::ordinal &&
                          !(recipe.branching == Branching::each_value && recipe.numeric != Numeric::threshold));
    const bool own_level = recipe.missing == Missing::own && !ordered;
    const Parent parent = parent_of(task, node, buckets);
    if (own_level) buckets = with_missing_level(std::move(buckets));
    const int answers = buckets.size() + (scores_missing(recipe.missing) && buckets.has_missing() ? 1 : 0);
    if (buckets.size() == 0 || answers < 2) return candidate;

    Outcome outcome = divide_column(task, parent, facts, buckets, ordered);
    if (!outcome.division) {
        candidate.obstacle = Obstacle::too_small;
        return candidate;
    }
    const Division& division = *outcome.division;
    const Children children = children_of(task, buckets, division);
    candidate.rating = rate(task, parent, children);
    if (task.custom) candidate.rating.score = candidate.rating.gain = outcome.score;
    if (recipe.stopping.significance && !is_test(recipe.rule)) {
        candidate.rating.test = significance_of(task, buckets, division);
    }
    candidate.obstacle = Obstacle::none;
    if (ordered && recipe.threshold.penalised) {
        const double cuts = static_cast<double>(tried > 0 ? tried : outcome.allowed);
        candidate.rating.gain -= std::log2(cuts) / node.weight;
        if (candidate.rating.gain <= recipe.slack) candidate.obstacle = Obstacle::no_gain;
    }
    if (recipe.rule == Rule::gain_ratio) {
        const double information = candidate.rating.information;
        candidate.rating.score = information > least_information ? candidate.rating.gain / information : 0;
    } else if (recipe.rule == Rule::information_gain) {
        candidate.rating.score = candidate.rating.gain;
    }
    std::vector<int> absent = std::move(outcome.absent);
    if (absent.empty()) absent.assign(facts.levels, -1);
    if (facts.kind == Kind::ordinal && ordered) absent = absent_by_side(facts, buckets, division);
    candidate.split = split_of(task, facts, buckets, division, children, absent);
    return candidate;
}

} // namespace tw

// The settings of a recipe as plain values. recipe.py documents and validates them; nothing is validated again here.
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>

#include "base/unknown_value.hpp"

namespace tw {

enum class Branching { each_value, binary, grouped, one_vs_rest, merge };
enum class Numeric { threshold, quantile_binned, categorical_only };
enum class Missing { fractional, surrogates, own, majority, random, learned, ignore, refuse };
enum class Simplify { none, collapse, complexity };
enum class Smoothing { none, laplace, m_estimate };

// What makes a split good. `likelihood_ratio` is chi-square by G instead of Pearson's statistic.
enum class Criterion {
    information_gain,
    gain_ratio,
    gini,
    misclassification,
    twoing,
    hellinger,
    chi_square,
    likelihood_ratio,
    variance,
    standard_deviation,
    fifth_root,
    absolute_error,
    poisson,
    f,
    custom_classes,
    custom_numbers,
};

// What is added up of the target (target/measure.hpp).
enum class Statistic { classes, squares, medians, deviance };
// The score of a split: the decrease of the impurity, the decrease over the split information, -ln p of a test, a
// formula of the criterion's own (own_score), or a user's function.
enum class Score { decrease, ratio, test, own, custom };
// Where the best division of levels into two sets is a cut of the levels in order of their mean target, or of the share
// of a class (Fisher 1958, Breiman et al. 1984).
enum class OrderedLevels { always, with_two_classes, never };

// How the histogram search scores a cut: not at all, by the sum of what each side scores (criterion/counters.hpp), both
// sides together (criterion/pair_counters.hpp), or from rows in the order of their targets (threshold/median_scan.hpp).
enum class CountedSides { none, apart, together, from_rows };

// All a criterion is besides its formulas (criterion/criterion.cpp).
struct CriterionTraits {
    Criterion criterion;
    std::string_view choice; // the class in recipes/criterion.py
    std::string_view name;   // of the formula
    Statistic statistic;
    Score score;
    OrderedLevels ordered_levels;
    CountedSides counted_sides;
};

inline constexpr CriterionTraits criterion_traits[] = {
    {Criterion::information_gain, "InformationGain", "information_gain", Statistic::classes, Score::decrease,
     OrderedLevels::with_two_classes, CountedSides::apart},
    {Criterion::gain_ratio, "GainRatio", "gain_ratio", Statistic::classes, Score::ratio,
     OrderedLevels::with_two_classes, CountedSides::none},
    {Criterion::gini, "Gini", "gini", Statistic::classes, Score::decrease, OrderedLevels::with_two_classes,
     CountedSides::apart},
    {Criterion::misclassification, "Misclassification", "misclassification", Statistic::classes, Score::decrease,
     OrderedLevels::with_two_classes, CountedSides::apart},
    {Criterion::twoing, "Twoing", "twoing", Statistic::classes, Score::own, OrderedLevels::with_two_classes,
     CountedSides::together},
    {Criterion::hellinger, "Hellinger", "hellinger", Statistic::classes, Score::own, OrderedLevels::with_two_classes,
     CountedSides::together},
    {Criterion::chi_square, "ChiSquare", "chi_square", Statistic::classes, Score::test, OrderedLevels::with_two_classes,
     CountedSides::together},
    {Criterion::likelihood_ratio, "", "likelihood_ratio", Statistic::classes, Score::test,
     OrderedLevels::with_two_classes, CountedSides::together},
    {Criterion::variance, "Variance", "variance", Statistic::squares, Score::decrease, OrderedLevels::always,
     CountedSides::apart},
    {Criterion::standard_deviation, "StandardDeviation", "standard_deviation", Statistic::squares, Score::decrease,
     OrderedLevels::never, CountedSides::together},
    {Criterion::fifth_root, "FifthRoot", "fifth_root", Statistic::squares, Score::decrease, OrderedLevels::never,
     CountedSides::none},
    {Criterion::absolute_error, "AbsoluteError", "absolute_error", Statistic::medians, Score::decrease,
     OrderedLevels::never, CountedSides::from_rows},
    {Criterion::poisson, "Poisson", "poisson", Statistic::deviance, Score::decrease, OrderedLevels::always,
     CountedSides::together},
    {Criterion::f, "FTest", "f", Statistic::squares, Score::test, OrderedLevels::always, CountedSides::together},
    {Criterion::custom_classes, "Custom", "", Statistic::classes, Score::custom, OrderedLevels::never,
     CountedSides::none},
    {Criterion::custom_numbers, "Custom", "", Statistic::squares, Score::custom, OrderedLevels::never,
     CountedSides::none},
};
static_assert([] {
    for (size_t i = 0; i < std::size(criterion_traits); ++i) {
        if (criterion_traits[i].criterion != static_cast<Criterion>(i)) return false;
    }
    return std::size(criterion_traits) == static_cast<size_t>(Criterion::custom_numbers) + 1;
}());

constexpr const CriterionTraits& traits_of(Criterion criterion) {
    return criterion_traits[static_cast<size_t>(criterion)];
}
constexpr bool is_for_classes(Criterion criterion) { return traits_of(criterion).statistic == Statistic::classes; }
// Whether the score is the impurity less its weighted mean over the children.
constexpr bool is_mean_impurity(Criterion criterion) { return traits_of(criterion).score == Score::decrease; }
constexpr bool is_test(Criterion criterion) { return traits_of(criterion).score == Score::test; }
constexpr bool scores_pairs(Criterion criterion) {
    return traits_of(criterion).counted_sides == CountedSides::together;
}
constexpr bool scores_rows(Criterion criterion) {
    return traits_of(criterion).counted_sides == CountedSides::from_rows;
}

struct MergeOptions {
    double alpha_merge = 0.05;
    std::optional<double> alpha_resplit;
    double alpha_split = 0.05;
    bool bonferroni = true;
    bool exhaustive = false;
    bool biggs = false; // multiplier of Biggs et al. instead of SPSS's
    int64_t min_child = 1;
};

struct ThresholdOptions {
    bool observed = false; // store an observed value instead of the midpoint
    bool closed = true;    // the stored value belongs to the lower side (<=)
    double min_gap = 0;
    bool min_side_rule = false;
    bool cut_penalty = false;
};

struct Stopping {
    int max_depth = std::numeric_limits<int>::max();
    int64_t min_samples_split = 2;
    int64_t min_samples_leaf = 1;
    double min_weight_split = 0;
    double min_weight_leaf = 0;
    double min_weight_two = 0;
    int64_t max_leaf_nodes = std::numeric_limits<int64_t>::max();
    int max_features = std::numeric_limits<int>::max();
    double min_impurity_decrease = 0;
    double max_impurity = -1;
    std::optional<double> significance;
    bool zero_gain = false;
};

struct Recipe {
    Branching branching = Branching::binary;
    int enumerate_up_to = 12;
    MergeOptions merge;
    Numeric numeric = Numeric::threshold;
    ThresholdOptions threshold;
    int bins = 10;
    Criterion criterion = Criterion::gini;
    bool average_rule = true;
    double min_share = 0; // each child needs more than this share of the rows (fifth_root)
    Missing missing = Missing::surrogates;
    int max_surrogates = 5;
    bool surrogates_then_majority = true;
    bool majority_of_all = false;
    bool imperfect_levels = false;
    bool unseen_to_majority = false;
    Stopping stopping;
    Simplify simplify = Simplify::none;
    bool collapse_top_down = false;
    double complexity = 0.01;
    Smoothing smoothing = Smoothing::none;
    double smoothing_m = 2;
    bool empty_takes_majority = false;
    double tie_tolerance = 0;
    bool drop_all_missing_rows = false;
    int rivals = 4;
    uint64_t seed = 0;
};

} // namespace tw

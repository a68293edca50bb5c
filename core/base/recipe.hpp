// The settings of a recipe as plain values. recipe.py documents and validates them; nothing is validated again here.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

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
    chi_square,
    likelihood_ratio,
    variance,
    standard_deviation,
    absolute_error,
    poisson,
    f,
    custom_classes,
    custom_numbers,
};

inline bool is_for_classes(Criterion criterion) {
    switch (criterion) {
        case Criterion::variance:
        case Criterion::standard_deviation:
        case Criterion::absolute_error:
        case Criterion::poisson:
        case Criterion::f:
        case Criterion::custom_numbers:
            return false;
        case Criterion::information_gain:
        case Criterion::gain_ratio:
        case Criterion::gini:
        case Criterion::misclassification:
        case Criterion::twoing:
        case Criterion::chi_square:
        case Criterion::likelihood_ratio:
        case Criterion::custom_classes:
            return true;
    }
    unknown_value("Criterion");
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

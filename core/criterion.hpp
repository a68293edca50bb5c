// What makes a split good: pure functions of a few numbers, blind to rows and to how many children there are.
//
// Comes in: statistics as doubles (stat.hpp), for the parent and each child, one after the other. Goes out: an
// impurity, or how much better the children are than the parent. Always holds: larger scores are better; an empty child
// weighs nothing and changes nothing.
#pragma once

#include <span>

#include "recipe.hpp"

namespace tw {

using Stat = std::span<const double>;

// Whether the rule is a weighted mean of impurities, so that its score is an improvement of that mean.
bool is_mean_impurity(Rule rule);

// Whether the rule ranks by the p of a test.
bool is_test(Rule rule);

double weight_of(Rule rule, Stat stat);
// `offset`: what a numeric target was measured from; only Poisson needs it.
double impurity(Rule rule, Stat stat, double offset);
double entropy_of(Stat parts);

struct Test {
    double statistic = 0;
    double degrees = 0;
    double degrees_within = 0; // F only
    double log_p = 0;
};

// Independence of children and classes, or equality of the children's means.
Test test(Rule rule, std::span<const double> children, int width);

// parent impurity minus the children's weighted mean impurity.
double improvement(Rule rule, Stat parent, std::span<const double> children, double offset);
double twoing(std::span<const double> children, int width);
// Whether the rule can rate these children at all (Poisson: no child may have a mean of zero).
bool can_rate(Rule rule, std::span<const double> children, int width, double offset);

} // namespace tw

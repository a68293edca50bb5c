// Split criteria: pure functions of the statistics of a parent and its children.
//
// Larger scores are better; an empty child has no weight and changes nothing.
#pragma once

#include <span>

#include "base/recipe.hpp"

namespace tw {

using Stat = std::span<const double>;

double weight_of(Criterion criterion, Stat stat);
// `offset`: what a numeric target was measured from; only Poisson needs it.
double impurity(Criterion criterion, Stat stat, double offset);
double entropy_of(Stat parts);

struct Test {
    double statistic = 0;
    double degrees = 0;
    double degrees_within = 0; // F only
    double log_p = 0;
};

// Independence of children and classes, or equality of the children's means.
Test test(Criterion criterion, std::span<const double> children, int width);

// The impurity of the parent less the weighted mean impurity of the children.
double improvement(Criterion criterion, Stat parent, std::span<const double> children, double offset);
// The score of a criterion that has a formula of its own (Score::own).
double own_score(Criterion criterion, std::span<const double> children, int width);
// Whether the criterion can score these children at all (Poisson: no child may have a mean of zero).
bool can_rate(Criterion criterion, std::span<const double> children, int width, double offset);

} // namespace tw

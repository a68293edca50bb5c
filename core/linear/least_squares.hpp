// The linear model of a node by least squares, from its moments: chosen terms, or the terms that an information
// criterion chooses one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linear/node_moments.hpp"

namespace tw {

struct LinearModel {
    std::vector<int> slot; // in the order given or chosen
    std::vector<double> coefficient;
    double intercept = 0;
    double residual = 0; // weighted sum of squares
};

// `cp`: all terms at first, then without those that M5 leaves out.
enum class Selection { none, bic, aic, cp };

struct ModelOptions {
    Selection selection = Selection::bic;
    int max_terms = 3;
    int min_rows_per_term = 5;
    double ridge = 0;      // added to the sum of squares of each term, as a share of it
    double ridge_rows = 0; // as many rows more, each at one standard deviation, are added as well

    double share_for(double rows) const { return rows > 0 ? ridge + ridge_rows / rows : ridge; }
};

// A column that others give up to this share of its sum of squares adds nothing to them.
constexpr double collinear = 1e-20;

// By the terms at these slots; those that the ones before them give already are left out.
LinearModel fit_model(const Moments& moments, std::span<const int> slots, const ModelOptions& options);
// The model of the recipe, from these slots.
LinearModel chosen_model(const Moments& moments, std::span<const int> slots, const ModelOptions& options);

} // namespace tw

// Upper tails of the chi-square and F distributions, as natural logarithms so that tiny p-values keep their order.
//
// Never above 0, never underflows; p = 0 (an infinite statistic) is `log_zero`.
#pragma once

namespace tw {

// Stands for ln 0: finite, so that it can be compared and saved.
constexpr double log_zero = -1e300;

double chi_square_log_p(double statistic, double degrees);
double f_log_p(double statistic, double degrees_between, double degrees_within);

} // namespace tw

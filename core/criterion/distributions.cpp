#include "criterion/distributions.hpp"

#include <algorithm>
#include <cmath>

namespace tw {
namespace {

constexpr double tiny = 1e-300;
constexpr double precision = 1e-16;
constexpr int max_steps = 100000;

// A continued fraction b0 + a1/(b1 + a2/(b2 + ...)) by the modified Lentz method.
template <class Coefficients>
double continued_fraction(double b0, Coefficients next) {
    double f = b0 == 0 ? tiny : b0;
    double c = f;
    double d = 0;
    for (int i = 1; i <= max_steps; ++i) {
        const auto [a, b] = next(i);
        d = b + a * d;
        if (d == 0) d = tiny;
        c = b + a / c;
        if (c == 0) c = tiny;
        d = 1 / d;
        const double factor = c * d;
        f *= factor;
        if (std::abs(factor - 1) < precision) break;
    }
    return f;
}

struct Term {
    double a, b;
};

double log_gamma(double x) {
    int sign = 0;
    return lgamma_r(x, &sign); // std::lgamma writes a global, which threads must not share
}

// ln of the regularised upper incomplete gamma function Q(a, x).
double log_upper_gamma(double a, double x) {
    const double log_front = a * std::log(x) - x - log_gamma(a);
    if (x < a + 1) {
        double term = 1 / a;
        double sum = term;
        for (int n = 1; n <= max_steps; ++n) {
            term *= x / (a + n);
            sum += term;
            if (term < sum * precision) break;
        }
        const double lower = std::exp(log_front + std::log(sum));
        return std::log1p(-std::min(lower, 1.0));
    }
    const double fraction =
        continued_fraction(x + 1 - a, [a, x](int n) { return Term{-n * (n - a), x + 2 * n + 1 - a}; });
    return log_front - std::log(fraction);
}

// ln of the regularised incomplete beta function I_x(a, b) where its continued fraction converges quickly.
double log_beta_fraction(double x, double a, double b) {
    const double log_front =
        a * std::log(x) + b * std::log1p(-x) + log_gamma(a + b) - log_gamma(a) - log_gamma(b) - std::log(a);
    const double fraction = continued_fraction(1, [x, a, b](int n) {
        const int m = n / 2;
        if (n % 2 == 0) return Term{m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), 1};
        return Term{-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), 1};
    });
    return log_front - std::log(fraction);
}

} // namespace

double chi_square_log_p(double statistic, double degrees) {
    if (degrees <= 0 || !(statistic > 0)) return 0;
    if (std::isinf(statistic)) return log_zero;
    return std::min(0.0, log_upper_gamma(degrees / 2, statistic / 2));
}

double f_log_p(double statistic, double degrees_between, double degrees_within) {
    if (degrees_between <= 0 || degrees_within <= 0 || !(statistic > 0)) return 0;
    if (std::isinf(statistic)) return log_zero;
    const double a = degrees_within / 2;
    const double b = degrees_between / 2;
    const double scaled = degrees_between * statistic;
    const double x = degrees_within / (degrees_within + scaled);
    if (x < (a + 1) / (a + b + 2)) return std::min(0.0, log_beta_fraction(x, a, b));
    const double other = scaled / (degrees_within + scaled);
    return std::min(0.0, std::log1p(-std::min(1.0, std::exp(log_beta_fraction(other, b, a)))));
}

} // namespace tw

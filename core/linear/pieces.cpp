#include "linear/pieces.hpp"

#include <algorithm>
#include <cmath>

namespace tw {
namespace {

// The same sums with x measured from another origin.
LineSums<double> moved(const LineSums<double>& sums, double origin) {
    LineSums<double> out = sums;
    out.x = sums.x - origin * sums.n;
    out.xx = sums.xx - 2 * origin * sums.x + origin * origin * sums.n;
    out.xy = sums.xy - origin * sums.y;
    return out;
}

} // namespace

LineFit constant_fit(const LineSums<double>& sums) {
    const double mean = sums.y / sums.n;
    return {mean, 0, std::max(sums.yy - sums.y * mean, 0.0)};
}

LineFit line_fit(const LineSums<double>& sums) {
    const LineFit flat = constant_fit(sums);
    const double squares = sums.xx - sums.x * sums.x / sums.n, products = sums.xy - sums.x * sums.y / sums.n;
    if (!(squares > 1e-12 * sums.xx)) return flat;
    const double slope = products / squares;
    return {(sums.y - slope * sums.x) / sums.n, slope, std::max(flat.residual - slope * products, 0.0)};
}

PieceFit two_constants(const LineSums<double>& low, const LineSums<double>& high) {
    const LineFit a = constant_fit(low), b = constant_fit(high);
    return {a.residual + b.residual, a, b};
}

PieceFit two_lines(const LineSums<double>& low, const LineSums<double>& high) {
    const LineFit a = line_fit(low), b = line_fit(high);
    return {a.residual + b.residual, a, b};
}

PieceFit broken_line(const LineSums<double>& low, const LineSums<double>& high, double knot) {
    // y = a + b u + d max(u, 0), u = x - knot: least squares in two regressors, centred.
    const LineSums<double> left = moved(low, knot), right = moved(high, knot);
    const double n = low.n + high.n, u = left.x + right.x, v = right.x, y = left.y + right.y;
    const double uu = left.xx + right.xx - u * u / n, vv = right.xx - v * v / n, uv = right.xx - u * v / n;
    const double uy = left.xy + right.xy - u * y / n, vy = right.xy - v * y / n;
    const double yy = left.yy + right.yy - y * y / n, determinant = uu * vv - uv * uv;
    if (!(determinant > 1e-12 * uu * vv)) return {};
    const double b = (uy * vv - vy * uv) / determinant, d = (vy * uu - uy * uv) / determinant;
    const double at_knot = (y - b * u - d * v) / n;
    PieceFit fit;
    fit.residual = std::max(yy - b * uy - d * vy, 0.0);
    fit.low = {at_knot - b * knot, b, 0};
    fit.high = {at_knot - (b + d) * knot, b + d, 0};
    return fit;
}

double bic(double residual, double rows, double parameters, double floor) {
    return rows * std::log(std::max(residual, floor) / rows) + std::log(rows) * parameters;
}

} // namespace tw

// The five models of one column that a node may take (PILOT, Raymaekers et al. 2024), compared by BIC from sums.
//
// A cut costs no more than two lines: sums of n, x, x^2, y, xy and y^2 on both sides give the squared residuals of each
// model, so one pass over the sorted values tries every cut. Sums are of integers, measured from the middle of the
// node's ranges, so they do not depend on the order of rows.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "target/measure.hpp"

namespace tw {

enum class Piece { constant, line, two_constants, broken_line, two_lines };
constexpr int pieces = 5;

// Sums over some rows, as integers or as numbers of one unit.
template <class Number>
struct LineSums {
    Number n = 0, x = 0, xx = 0, y = 0, xy = 0, yy = 0;

    LineSums operator-(const LineSums& other) const {
        return {n - other.n, x - other.x, xx - other.xx, y - other.y, xy - other.xy, yy - other.yy};
    }
};

struct LineFit {
    double intercept = 0, slope = 0;
    double residual = 0; // sum of squares
};

struct PieceFit {
    double residual = std::numeric_limits<double>::infinity();
    LineFit low, high; // `low` alone where there is no cut
};

LineFit constant_fit(const LineSums<double>& sums);
// The constant, where x does not vary.
LineFit line_fit(const LineSums<double>& sums);
PieceFit two_constants(const LineSums<double>& low, const LineSums<double>& high);
PieceFit two_lines(const LineSums<double>& low, const LineSums<double>& high);
// Two lines that meet at `knot`.
PieceFit broken_line(const LineSums<double>& low, const LineSums<double>& high, double knot);

// n ln(RSS / n) + ln n x parameters; `floor` keeps a perfect fit finite.
double bic(double residual, double rows, double parameters, double floor);

} // namespace tw

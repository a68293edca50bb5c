// A number of about 106 bits as the sum of two doubles: sums of squares of nearly collinear columns need more than 53.
//
// Only exact operations of IEEE doubles are used, so that every machine computes the same bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "target/measure.hpp"

namespace tw {

struct Wide {
    double high = 0, low = 0;

    Wide() = default;
    Wide(double x) : high(x) {}
    Wide(double h, double l) : high(h), low(l) {}

    double value() const { return high + low; }
};

// a + b without rounding, where |a| >= |b|.
inline Wide joined(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

inline Wide exact_sum(double a, double b) {
    const double sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

inline Wide exact_product(double a, double b) {
    const double product = a * b;
    return {product, std::fma(a, b, -product)};
}

inline Wide operator+(Wide a, Wide b) {
    const Wide high = exact_sum(a.high, b.high), low = exact_sum(a.low, b.low);
    const Wide sum = joined(high.high, high.low + low.high);
    return joined(sum.high, sum.low + low.low);
}
inline Wide operator-(Wide a) { return {-a.high, -a.low}; }
inline Wide operator-(Wide a, Wide b) { return a + (-b); }
inline Wide operator*(Wide a, Wide b) {
    const Wide product = exact_product(a.high, b.high);
    return joined(product.high, product.low + (a.high * b.low + a.low * b.high));
}
inline Wide operator/(Wide a, Wide b) {
    const double first = a.high / b.high;
    const Wide rest = a - b * Wide(first);
    const double second = rest.high / b.high;
    const Wide last = rest - b * Wide(second);
    return joined(first, second) + Wide(last.high / b.high);
}
// By a power of two, which rounds nothing.
inline Wide scaled_by(Wide a, int exponent) {
    constexpr int bias = 1023;
    if (exponent <= -bias || exponent > bias) return {std::ldexp(a.high, exponent), std::ldexp(a.low, exponent)};
    const auto power = std::bit_cast<double>(static_cast<uint64_t>(exponent + bias) << 52);
    return {a.high * power, a.low * power};
}

inline Wide wide_of(Sum sum) {
    const double high = static_cast<double>(sum);
    return joined(high, static_cast<double>(sum - static_cast<Sum>(high)));
}

} // namespace tw

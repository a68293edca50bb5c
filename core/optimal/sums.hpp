// Arithmetic on arrays of sums: simple loops, which compilers turn into many additions at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace tw {

// More than any loss; sums of counts are whole numbers.
template <class Sum>
constexpr Sum no_sum =
    std::numeric_limits<Sum>::has_infinity ? std::numeric_limits<Sum>::infinity() : std::numeric_limits<Sum>::max();

// Each number becomes the sum of those up to it.
template <class Sum>
void add_up(Sum* sums, int n) {
    Sum sum = 0;
    for (int i = 0; i < n; ++i) sums[i] = sum = static_cast<Sum>(sum + sums[i]);
}

template <class Sum>
void add_to(Sum* sums, const Sum* more, int n) {
    for (int i = 0; i < n; ++i) sums[i] = static_cast<Sum>(sums[i] + more[i]);
}

// The smaller of each number and `other` less `allowed`.
template <class Sum>
void take_least_excess(Sum* least, const Sum* other, Sum allowed, int n) {
    for (int i = 0; i < n; ++i) {
        const Sum excess = static_cast<Sum>(other[i] - allowed);
        least[i] = excess < least[i] ? excess : least[i];
    }
}

template <class Sum>
Sum least_of(const Sum* sums, int n) {
    Sum least = no_sum<Sum>;
    for (int i = 0; i < n; ++i) least = sums[i] < least ? sums[i] : least;
    return least;
}

// A loss as a sum, rounded up; none is negative.
template <class Sum, class Real>
Sum sum_of(Real loss) {
    if constexpr (std::numeric_limits<Sum>::is_integer) return static_cast<Sum>(std::ceil(std::max(loss, Real{0})));
    return static_cast<Sum>(loss);
}

} // namespace tw

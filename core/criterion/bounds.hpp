// Upper bounds on the score of a cut inside a bin, from sums alone.
//
// A bound is never too small, or the best cut could be missed (tests/test_bounds.py tries every division of a bin). It
// is computed only until it falls below `to_beat`, cheap bounds first.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "target/measure.hpp"

namespace tw {

// n log2 n, by table for few rows: the very numbers the formula gives. `rows`: of the table of training rows, 0 if it
// is not known; `unit`: the weight of one in rows, a power of two.
class LogTable {
public:
    explicit LogTable(bool wanted, int64_t rows = 0, double unit = 1)
        : unit_(unit), table_(wanted ? size_for(rows) : 0, 0.0) {
        for (size_t n = 1; n < table_.size(); ++n) table_[n] = of(static_cast<double>(n) / unit);
    }
    // Of rows that weigh one unit.
    double operator()(int64_t n) const {
        if (n < static_cast<int64_t>(table_.size())) return table_[static_cast<size_t>(n)];
        return static_cast<double>(n) * std::log2(n);
    }
    // Of a weight; by table where it is that of whole rows.
    double of_weight(double w) const {
        const double rows = w * unit_;
        if (rows < static_cast<double>(table_.size())) {
            const size_t n = static_cast<size_t>(rows);
            if (static_cast<double>(n) == rows) return table_[n];
        }
        return of(w);
    }
    static double of(double w) { return w > 0 ? w * std::log2(w) : 0; }

private:
    static size_t size_for(int64_t rows) {
        constexpr int64_t most = 1 << 14;
        return static_cast<size_t>(rows > 0 ? std::min(rows + 1, most) : most);
    }

    double unit_;
    std::vector<double> table_;
};

// How much a cut inside a bin can bring with many classes, where corners are too many to try. The rows that go low are
// some number between 0 and the bin's; cut this range into pieces. Within a piece let every class choose its better
// side for itself, and let the sizes of the sides be as favourable as the piece allows: no cut does better.
// `bound_of_class(low, bin, high, low_size, high_size)`: the best a class can bring, for the smallest sizes of the
// sides; `sizes(low_size, high_size, width)`: the most that the sizes themselves can bring.
template <class ClassBound, class Sizes>
double bound_by_pieces(int classes, double low_size, double bin_size, double high_size,
                       const ClassBound& bound_of_class, const Sizes& sizes, double to_beat) {
    constexpr int pieces = 8;
    double best = -std::numeric_limits<double>::infinity();
    for (int piece = 0; piece < pieces && best < to_beat; ++piece) {
        const double from = bin_size * piece / pieces, to = bin_size * (piece + 1) / pieces;
        const double low = low_size + from, high = high_size + bin_size - to;
        double sum = sizes(low, high, to - from);
        for (int c = 0; c < classes; ++c) sum += bound_of_class(c, low, high);
        best = std::max(best, sum);
    }
    return best + 1e-12 * std::abs(best);
}

// The criteria that counters of classes can score.
template <Criterion criterion>
concept CountedByClass = criterion == Criterion::gini || criterion == Criterion::information_gain ||
                         criterion == Criterion::misclassification;

// The score of a side from its class counts, count(c) of class c. `over` divides by the size, `n_log_n` is n log2 n.
template <Criterion criterion, class Count, class Logarithm, class Over>
    requires CountedByClass<criterion>
double score_of_side(int classes, const Count& count, const Logarithm& n_log_n, const Over& over) {
    using Number = decltype(count(0));
    std::conditional_t<std::is_integral_v<Number>, int64_t, double> size = 0;
    double parts = 0;
    Number largest = 0;
    for (int c = 0; c < classes; ++c) {
        const Number n = count(c);
        size += n;
        if constexpr (criterion == Criterion::gini) {
            parts += static_cast<double>(n) * static_cast<double>(n);
        } else if constexpr (criterion == Criterion::information_gain) {
            parts += n_log_n(n);
        } else {
            static_assert(criterion == Criterion::misclassification);
            largest = std::max(largest, n);
        }
    }
    if (!(size > 0)) return 0;
    if constexpr (criterion == Criterion::gini) {
        return over(parts, size);
    } else if constexpr (criterion == Criterion::information_gain) {
        return parts - n_log_n(size);
    } else {
        return static_cast<double>(largest);
    }
}

// The formulas for any number of classes with any weights. `Count` reads class c of a counter as a number, `log` is
// w log2 w.
template <Criterion criterion, class Count, class Logarithm>
    requires CountedByClass<criterion>
double bound_of_classes(int classes, const Count& low, const Count& bin, const Count& high, double to_beat,
                        [[maybe_unused]] const Logarithm& log) {
    double low_size = 0, bin_size = 0, high_size = 0, whole = 0;
    for (int c = 0; c < classes; ++c) {
        low_size += low(c);
        bin_size += bin(c);
        high_size += high(c);
        if constexpr (criterion == Criterion::gini) whole += low(c) * low(c);
    }
    if constexpr (criterion == Criterion::gini) {
        const auto square = [](double x) { return x * x; };
        // Every row of the bin in a class of its own side would be the best imaginable.
        double others = 0;
        for (int c = 0; c < classes; ++c) others += square(high(c));
        const double easy = (low_size > 0 ? whole / low_size : 0) + (high_size > 0 ? others / high_size : 0) + bin_size;
        if (easy < to_beat || low_size <= 0 || high_size <= 0) return easy;
        return std::min(easy, bound_by_pieces(
                                  classes, low_size, bin_size, high_size,
                                  [&](int c, double low_total, double high_total) {
                                      const double a = low(c), b = bin(c), d = high(c);
                                      return std::max(square(a + b) / low_total + square(d) / high_total,
                                                      square(a) / low_total + square(d + b) / high_total);
                                  },
                                  [](double, double, double) { return 0.0; }, to_beat));
    } else if constexpr (criterion == Criterion::information_gain) {
        if (classes == 2) { // a class goes low as a whole, the other not at all
            const auto corner = [&](int goes_low) {
                const double moved = bin(goes_low), left = bin_size - moved;
                const double low_parts = log(low(goes_low) + moved) + log(low(1 - goes_low));
                const double high_parts = log(high(goes_low)) + log(high(1 - goes_low) + left);
                return low_parts - log(low_size + moved) + (high_parts - log(high_size + left));
            };
            const double best = std::max(corner(0), corner(1));
            return best + 1e-12 * std::abs(best);
        }
        double easy = -log(low_size) - log(high_size);
        for (int c = 0; c < classes; ++c) easy += log(low(c)) + log(high(c));
        if (easy < to_beat || low_size <= 0 || high_size <= 0) return easy;
        return std::min(easy, bound_by_pieces(
                                  classes, low_size, bin_size, high_size,
                                  [&](int c, double, double) {
                                      const double a = low(c), b = bin(c), d = high(c);
                                      return std::max(log(a + b) + log(d), log(a) + log(d + b));
                                  },
                                  [&](double low_total, double high_total, double width) {
                                      // -(low log low + high log high), their sum fixed, is largest where they are
                                      // most alike.
                                      const double all = low_total + high_total + width;
                                      const double most = std::clamp(all / 2, low_total, low_total + width);
                                      return -log(most) - log(all - most);
                                  },
                                  to_beat));
    } else {
        static_assert(criterion == Criterion::misclassification);
        double most_low = 0, most_high = 0;
        for (int c = 0; c < classes; ++c) {
            most_low = std::max(most_low, low(c));
            most_high = std::max(most_high, high(c));
        }
        return most_low + most_high + bin_size;
    }
}

// How far, squared, the classes of a part of a bin's rows can be from an even share of the bin: by what each class can
// stray, and by what all rows together can.
template <class Count>
double deviation_of_classes(int classes, double size, const Count& bin) {
    double each = 0, squares = 0;
    for (int c = 0; c < classes; ++c) {
        const double n = bin(c), others = n * (size - n);
        each += others * others;
        squares += n * n;
    }
    return std::min(each / (size * size), (size * size - squares) / 4);
}

// Numeric targets: what k of a bin's rows can add up to. Between two limits on every single target, k rows add at least
// max(k low, sum - (n - k) high) and at most min(k high, sum - (n - k) low): a parallelogram. And they cannot stray
// from k times the bin's mean by more than sqrt(k (n - k) / n x sum of squared deviations): an ellipse, here the
// octagon around it. The gain is convex, so each is searched at its corners only, and the smaller of the two bounds
// holds. The same with weights for rows.
struct SizeAndSum {
    double size = 0, sum = 0;
};
inline double mean_score(double size, double sum) { return size > 0 ? sum * (sum / size) : 0; }

inline double bound_of_sums(double least, double most, SizeAndSum low, SizeAndSum bin, SizeAndSum high, double height,
                            double to_beat) {
    // low sum^2 / low size + high sum^2 / high size, with one division.
    const auto score = [&](double size, double sum) {
        const double n = low.size + size, m = high.size + bin.size - size;
        const double a = low.sum + sum, b = high.sum + bin.sum - sum;
        if (!(n > 0) || !(m > 0)) return mean_score(n, a) + mean_score(m, b);
        return (a * a * m + b * b * n) / (n * m);
    };
    if (!(most > least)) return mean_score(low.size, low.sum) + mean_score(high.size, high.sum);
    const double n = low.size + bin.size, m = high.size + bin.size;
    if (low.size > 0 && high.size > 0) { // the ellipse's box, at a glance: the largest sum over the smallest sizes
        const double all = low.sum + bin.sum + high.sum;
        const double sum = std::max(std::abs(low.sum), std::abs(low.sum + bin.sum)) + height + std::abs(all);
        const double by_box = sum * sum * (n + high.size) / std::min(low.size * m, n * high.size) * (1 + 1e-9);
        if (by_box < to_beat) return by_box;
    }
    constexpr double inner = 0.41421356237309515; // sqrt(2) - 1, where the octagon's corners lie
    double by_deviation = 0;
    for (const double along : {-1.0, -inner, inner, 1.0}) {
        const double bound_of_class = (1 + along) / 2, off = (std::abs(along) < 0.5 ? 1 : inner) * height;
        const double size = bin.size * bound_of_class, sum = bin.sum * bound_of_class;
        // Of the two corners at this place, the one with the larger distance between the means of the sides.
        const double distance = (low.sum + sum) * (m - size) - (high.sum + bin.sum - sum) * (low.size + size);
        by_deviation = std::max(by_deviation, score(size, distance >= 0 ? sum + off : sum - off));
    }
    by_deviation *= 1 + 1e-9;
    if (by_deviation < to_beat) return by_deviation;
    const double reach = most - least;
    const double few = std::clamp((bin.size * most - bin.sum) / reach, 0.0, bin.size);
    const double many = std::clamp((bin.sum - bin.size * least) / reach, 0.0, bin.size);
    return std::min(by_deviation, std::max(score(few, few * least), score(many, many * most)) * (1 + 1e-9));
}

// Squares for the ellipse need few digits: a target's size is rounded up to steps of 2^-15 of the largest. So squares
// are never too small, and neither is the spread that follows from them and from the exact sum.
class RoundedSquares {
public:
    explicit RoundedSquares(const Measure& measure) {
        const int64_t reach = measure.max_abs;
        shift_ = std::max(0, static_cast<int>(std::bit_width(static_cast<uint64_t>(reach))) - 15);
        step_ = std::ldexp(1.0, shift_);
        per_step_ = 1 / step_;
    }
    int64_t square(int64_t target) const {
        const int64_t size = target < 0 ? -target : target;
        const int64_t steps = (size + (int64_t{1} << shift_) - 1) >> shift_;
        return steps * steps;
    }
    // Half the root of size x sum of squared deviations, at most, in the target's units: from the sum of the targets
    // and the sum of squared steps. A twentieth of a step a row is more than doubles can lose.
    double height(double size, double sum, double squares) const {
        const double steps = sum * per_step_;
        return (std::sqrt(std::max(0.0, size * squares - steps * steps)) + 0.05 * size) * step_ / 2;
    }

    // The same squared, or a little more, without a root.
    double deviation(double size, double sum, double squares) const {
        const double steps = sum * per_step_;
        return (std::max(0.0, size * squares - steps * steps) * (1 + 1.0 / 64) + 0.17 * size * size) * step_ * step_ /
               4;
    }

private:
    int shift_ = 0;
    double step_ = 1, per_step_ = 1;
};

} // namespace tw

// Merit: how good one side of a cut is, from counters as they lie in a histogram. The fast form of criterion.hpp's mean
// impurities: gain = (merit of the sides - merit of the node) / weight of the node.
//
// A counter class says what a row adds (Item), how a bin's counters are laid out (Word, words(); Narrow while at most
// `narrow_rows` rows are counted), the merit of a side, the best merit that any cut inside a bin could reach (`bound`),
// and the unit of merits.
// Always holds: a bound is never below what a cut inside the bin reaches. Merits are convex in the counters of the low
// side, so over all ways to divide a bin they are largest at a corner: whole classes on one side.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "stat.hpp"

namespace tw {

constexpr int64_t narrow_rows = 32768;

// The counters of one side or bin: on the stack where their number is known.
template <class Counter>
using Words = std::conditional_t<(Counter::fixed > 0), std::array<typename Counter::Word, std::max(1, Counter::fixed)>,
                                 std::vector<typename Counter::Word>>;
template <class Counter>
Words<Counter> no_words(const Counter& counter) {
    if constexpr (Counter::fixed > 0) {
        return Words<Counter>{};
    } else {
        return Words<Counter>(static_cast<size_t>(counter.words()), 0);
    }
}

// A node's targets, in the measure's units from its offset: the smallest, the largest, and the mean as a whole number,
// from which sums are taken so that close merits can be told apart. Classes do not need it.
struct Span {
    double low = 0, high = 0;
    int64_t centre = 0;
};

// x / n: by division, or for few rows by a table of inverses.
struct Divide {
    double operator()(double x, int64_t n) const { return x / static_cast<double>(n); }
};
class Inverses {
public:
    explicit Inverses(int64_t most) : table_(static_cast<size_t>(most) + 1, 0.0) {
        for (size_t n = 1; n < table_.size(); ++n) table_[n] = 1 / static_cast<double>(n);
    }
    double operator()(double x, int64_t n) const { return x * table_[static_cast<size_t>(n)]; }

private:
    std::vector<double> table_;
};

// n log2 n, by table for small n.
class Logs {
public:
    explicit Logs(bool wanted) : table_(wanted ? 1 << 14 : 0, 0.0) {
        for (size_t n = 2; n < table_.size(); ++n) table_[n] = static_cast<double>(n) * std::log2(n);
    }
    double operator()(int64_t n) const {
        if (n < static_cast<int64_t>(table_.size())) return table_[static_cast<size_t>(n)];
        return static_cast<double>(n) * std::log2(n);
    }
    static double of(double w) { return w > 0 ? w * std::log2(w) : 0; }

private:
    std::vector<double> table_;
};

// Two classes in one word: rows in the low half, rows of the second class in the high half.
template <Rule rule>
class TwoClasses {
public:
    using Word = uint64_t;
    using Narrow = uint32_t;
    using Item = uint8_t;
    static constexpr int fixed = 1;
    // Merits are strictly convex, so cuts between rows of one class need no look.
    static constexpr bool is_strict = rule != Rule::misclassification;

    explicit TwoClasses(const Measure& measure) : measure_(&measure), logs_(rule == Rule::information_gain) {}

    int words() const { return 1; }
    int narrow_words() const { return 1; }
    double unit() const { return 1; } // of merits, in units of the criterion times weight
    Item item(int64_t row) const { return static_cast<Item>(measure_->classes[row]); }
    void add(Word* to, Item item) const { *to += 1 + (static_cast<Word>(item) << 32); }
    void add(Narrow* to, Item item) const { *to += 1 + (static_cast<Narrow>(item) << 16); }
    void widen(Word* to, const Narrow* from) const {
        *to += (*from & 0xffffU) + (static_cast<Word>(*from >> 16) << 32);
    }
    int64_t rows(const Word* counter) const { return static_cast<int64_t>(*counter & 0xffffffffU); }
    int64_t listed(const Word* counter) const { return rows(counter); } // rows whose value counts as seen
    double weight(const Word* counter) const { return static_cast<double>(rows(counter)); }

    template <class Over>
    double side(const Word* counter, const Span&, const Over& over) const {
        const int64_t n = rows(counter), second = static_cast<int64_t>(*counter >> 32);
        return merit(n - second, second, over);
    }
    double bound(const Word* low, const Word* bin, const Word* high, const Span&, double) const {
        const int64_t low_second = *low >> 32, low_first = rows(low) - low_second;
        const int64_t bin_second = *bin >> 32, bin_first = rows(bin) - bin_second;
        const int64_t high_second = *high >> 32, high_first = rows(high) - high_second;
        return std::max(both(low_first + bin_first, low_second, high_first, high_second + bin_second),
                        both(low_first, low_second + bin_second, high_first + bin_first, high_second));
    }

private:
    // The merit of two sides; for gini with one division, at most a little more than the sum of both.
    double both(int64_t low_first, int64_t low_second, int64_t high_first, int64_t high_second) const {
        const int64_t low = low_first + low_second, high = high_first + high_second;
        if (rule != Rule::gini || low == 0 || high == 0) {
            return merit(low_first, low_second, Divide{}) + merit(high_first, high_second, Divide{});
        }
        const auto square = [](int64_t n) { return static_cast<double>(n) * static_cast<double>(n); };
        const double n = static_cast<double>(low), m = static_cast<double>(high);
        return ((square(low_first) + square(low_second)) * m + (square(high_first) + square(high_second)) * n) /
               (n * m) * (1 + 1e-14);
    }

    template <class Over>
    double merit(int64_t first, int64_t second, const Over& over) const {
        const int64_t n = first + second;
        if constexpr (rule == Rule::gini) {
            if (n == 0) return 0;
            const double a = static_cast<double>(first), b = static_cast<double>(second);
            return over(a * a + b * b, n);
        } else if constexpr (rule == Rule::information_gain) {
            return logs_(first) + logs_(second) - logs_(n);
        } else {
            return static_cast<double>(std::max(first, second));
        }
    }

    const Measure* measure_;
    Logs logs_;
};

// How much a cut inside a bin can bring with many classes, where corners are too many to try. The rows that go low are
// some number between 0 and the bin's; cut this range into pieces. Within a piece let every class choose its better
// side for itself, and let the sizes of the sides be as favourable as the piece allows: no cut does better.
// `part(low, bin, high, low_size, high_size)`: the best a class can bring, for the smallest sizes of the sides;
// `sizes(low_size, high_size, slack)`: the most that the sizes themselves can bring.
template <class Part, class Sizes>
double bound_by_pieces(int classes, double low_size, double bin_size, double high_size, const Part& part,
                       const Sizes& sizes, double to_beat) {
    constexpr int pieces = 8;
    double best = -std::numeric_limits<double>::infinity();
    for (int piece = 0; piece < pieces && best < to_beat; ++piece) {
        const double from = bin_size * piece / pieces, to = bin_size * (piece + 1) / pieces;
        const double low = low_size + from, high = high_size + bin_size - to;
        double sum = sizes(low, high, to - from);
        for (int c = 0; c < classes; ++c) sum += part(c, low, high);
        best = std::max(best, sum);
    }
    return best + 1e-12 * std::abs(best);
}

// The formulas for any number of classes with any weights. `Count` reads class c of a counter as a number.
template <class Count>
double bound_of_classes(Rule rule, int classes, const Count& low, const Count& bin, const Count& high, double to_beat) {
    double low_size = 0, bin_size = 0, high_size = 0, whole = 0;
    for (int c = 0; c < classes; ++c) {
        low_size += low(c);
        bin_size += bin(c);
        high_size += high(c);
        if (rule == Rule::gini) whole += low(c) * low(c);
    }
    const auto square = [](double x) { return x * x; };
    if (rule == Rule::gini) {
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
    }
    if (rule == Rule::information_gain) {
        double easy = -Logs::of(low_size) - Logs::of(high_size);
        for (int c = 0; c < classes; ++c) easy += Logs::of(low(c)) + Logs::of(high(c));
        if (easy < to_beat || low_size <= 0 || high_size <= 0) return easy;
        return std::min(easy, bound_by_pieces(
                                  classes, low_size, bin_size, high_size,
                                  [&](int c, double, double) {
                                      const double a = low(c), b = bin(c), d = high(c);
                                      return std::max(Logs::of(a + b) + Logs::of(d), Logs::of(a) + Logs::of(d + b));
                                  },
                                  [](double low_total, double high_total, double slack) {
                                      // -(low log low + high log high), their sum fixed, is largest where they are
                                      // most alike.
                                      const double all = low_total + high_total + slack;
                                      const double most = std::clamp(all / 2, low_total, low_total + slack);
                                      return -Logs::of(most) - Logs::of(all - most);
                                  },
                                  to_beat));
    }
    double most_low = 0, most_high = 0;
    for (int c = 0; c < classes; ++c) {
        most_low = std::max(most_low, low(c));
        most_high = std::max(most_high, high(c));
    }
    return most_low + most_high + bin_size;
}

// One word per class.
template <Rule rule>
class ManyClasses {
public:
    using Word = uint32_t;
    using Narrow = uint16_t;
    using Item = uint16_t;
    static constexpr int fixed = 0;
    static constexpr bool is_strict = rule != Rule::misclassification;

    explicit ManyClasses(const Measure& measure)
        : measure_(&measure), classes_(measure.n_classes), logs_(rule == Rule::information_gain) {}

    int words() const { return classes_; }
    int narrow_words() const { return classes_; }
    double unit() const { return 1; }
    Item item(int64_t row) const { return static_cast<Item>(measure_->classes[row]); }
    void add(Word* to, Item item) const { ++to[item]; }
    void add(Narrow* to, Item item) const { ++to[item]; }
    void widen(Word* to, const Narrow* from) const {
        for (int c = 0; c < classes_; ++c) to[c] += from[c];
    }
    int64_t rows(const Word* counter) const {
        int64_t n = 0;
        for (int c = 0; c < classes_; ++c) n += counter[c];
        return n;
    }
    int64_t listed(const Word* counter) const { return rows(counter); }
    double weight(const Word* counter) const { return static_cast<double>(rows(counter)); }

    template <class Over>
    double side(const Word* counter, const Span&, const Over& over) const {
        int64_t n = 0;
        double parts = 0;
        Word most = 0;
        for (int c = 0; c < classes_; ++c) {
            n += counter[c];
            if constexpr (rule == Rule::gini) {
                parts += static_cast<double>(counter[c]) * counter[c];
            } else if constexpr (rule == Rule::information_gain) {
                parts += logs_(counter[c]);
            } else {
                most = std::max(most, counter[c]);
            }
        }
        if (n == 0) return 0;
        if constexpr (rule == Rule::gini) return over(parts, n);
        if constexpr (rule == Rule::information_gain) return parts - logs_(n);
        return static_cast<double>(most);
    }
    double bound(const Word* low, const Word* bin, const Word* high, const Span&, double to_beat) const {
        const auto count = [](const Word* counter) {
            return [counter](int c) { return static_cast<double>(counter[c]); };
        };
        return bound_of_classes(rule, classes_, count(low), count(bin), count(high), to_beat);
    }

    // Gini's sums of squares as rows come over one by one to the low side: no look at the other classes is needed.
    static constexpr bool is_running = rule == Rule::gini;
    struct Running {
        std::vector<int64_t> low, high; // rows per class
        int64_t low_squares = 0, high_squares = 0;

        Running(const Word* total, int classes) : low(static_cast<size_t>(classes), 0), high(total, total + classes) {
            for (const int64_t n : high) high_squares += n * n;
        }
        void move(Item item) {
            low_squares += 2 * low[item]++ + 1;
            high_squares -= 2 * high[item]-- - 1;
        }
    };

private:
    const Measure* measure_;
    int classes_;
    Logs logs_;
};

// Numeric targets: what k of a bin's rows can add up to. Between two limits on every single target, k rows add at least
// max(k low, sum - (n - k) high) and at most min(k high, sum - (n - k) low): a parallelogram. And they cannot stray
// from k times the bin's mean by more than sqrt(k (n - k) / n x sum of squared deviations): an ellipse, here the
// octagon around it. The merit is convex, so each is searched at its corners only, and the smaller of the two bounds
// holds. The same with weights for rows.
struct Bulk {
    double size = 0, sum = 0;
};
inline double bulk_merit(double size, double sum) { return size > 0 ? sum * (sum / size) : 0; }

inline double bound_of_sums(double least, double most, Bulk low, Bulk bin, Bulk high, double height, double to_beat) {
    // low sum^2 / low size + high sum^2 / high size, with one division.
    const auto merit = [&](double size, double sum) {
        const double n = low.size + size, m = high.size + bin.size - size;
        const double a = low.sum + sum, b = high.sum + bin.sum - sum;
        if (!(n > 0) || !(m > 0)) return bulk_merit(n, a) + bulk_merit(m, b);
        return (a * a * m + b * b * n) / (n * m);
    };
    if (!(most > least)) return bulk_merit(low.size, low.sum) + bulk_merit(high.size, high.sum);
    const double n = low.size + bin.size, m = high.size + bin.size;
    if (low.size > 0 && high.size > 0) { // the ellipse's box, at a glance: the largest sum over the smallest sizes
        const double all = low.sum + bin.sum + high.sum;
        const double sum = std::max(std::abs(low.sum), std::abs(low.sum + bin.sum)) + height + std::abs(all);
        const double by_box = sum * sum * (n + high.size) / std::min(low.size * m, n * high.size) * (1 + 1e-9);
        if (by_box < to_beat) return by_box;
    }
    constexpr double inner = 0.41421356237309515; // sqrt(2) - 1, where the octagon's corners lie
    double by_spread = 0;
    for (const double along : {-1.0, -inner, inner, 1.0}) {
        const double part = (1 + along) / 2, off = (std::abs(along) < 0.5 ? 1 : inner) * height;
        const double size = bin.size * part, sum = bin.sum * part;
        // Of the two corners at this place, the one that drives the means of the sides further apart.
        const double apart = (low.sum + sum) * (m - size) - (high.sum + bin.sum - sum) * (low.size + size);
        by_spread = std::max(by_spread, merit(size, apart >= 0 ? sum + off : sum - off));
    }
    by_spread *= 1 + 1e-9;
    if (by_spread < to_beat) return by_spread;
    const double reach = most - least;
    const double few = std::clamp((bin.size * most - bin.sum) / reach, 0.0, bin.size);
    const double many = std::clamp((bin.sum - bin.size * least) / reach, 0.0, bin.size);
    return std::min(by_spread, std::max(merit(few, few * least), merit(many, many * most)) * (1 + 1e-9));
}

// Squares for the ellipse need few digits: a target's size is rounded up to steps of 2^-15 of the largest. So squares
// are never too small, and neither is the spread that follows from them and from the exact sum.
class Steps {
public:
    explicit Steps(const Measure& measure) {
        int64_t reach = 1;
        for (const int64_t target : measure.target) reach = std::max(reach, target < 0 ? -target : target);
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

private:
    int shift_ = 0;
    double step_ = 1, per_step_ = 1;
};

// A numeric target: rows, their sum in the measure's units, and the sum of squared steps.
class Sums {
public:
    using Word = int64_t;
    using Narrow = uint64_t;
    using Item = int64_t;
    static constexpr int fixed = 3;
    static constexpr bool is_strict = false; // equal targets are rare

    explicit Sums(const Measure& measure) : measure_(&measure), steps_(measure) {}

    int words() const { return 3; }
    double unit() const { return measure_->target_unit * measure_->target_unit; }
    Item item(int64_t row) const { return measure_->target[row]; }
    int narrow_words() const { return 2; } // the sum; rows above squares, which have room for 48 bits
    void add(Word* to, Item item) const {
        ++to[0];
        to[1] += item;
        to[2] += steps_.square(item);
    }
    void add(Narrow* to, Item item) const {
        to[0] += static_cast<Narrow>(item);
        to[1] += (Narrow{1} << 48) + static_cast<Narrow>(steps_.square(item));
    }
    void widen(Word* to, const Narrow* from) const {
        to[0] += static_cast<Word>(from[1] >> 48);
        to[1] += static_cast<Word>(from[0]);
        to[2] += static_cast<Word>(from[1] & 0xffffffffffffU);
    }
    int64_t rows(const Word* counter) const { return counter[0]; }
    int64_t listed(const Word* counter) const { return counter[0]; }
    double weight(const Word* counter) const { return static_cast<double>(counter[0]); }

    template <class Over>
    double side(const Word* counter, const Span& target, const Over& over) const {
        const double sum = bulk(counter, target).sum;
        return counter[0] > 0 ? sum * over(sum, counter[0]) : 0;
    }
    double bound(const Word* low, const Word* bin, const Word* high, const Span& target, double to_beat) const {
        const double height =
            steps_.height(static_cast<double>(bin[0]), static_cast<double>(bin[1]), static_cast<double>(bin[2]));
        const double centre = static_cast<double>(target.centre);
        return bound_of_sums(target.low - centre, target.high - centre, bulk(low, target), bulk(bin, target),
                             bulk(high, target), height, to_beat);
    }

private:
    static Bulk bulk(const Word* counter, const Span& target) {
        return {static_cast<double>(counter[0]), static_cast<double>(counter[1] - counter[0] * target.centre)};
    }

    const Measure* measure_;
    Steps steps_;
};

// Classes of rows with weights: rows, then one weight per class.
class WeightedClasses {
public:
    using Word = int64_t;
    using Narrow = int64_t;
    struct Item {
        int32_t of;
        int64_t weight;
    };
    static constexpr int fixed = 0;
    static constexpr bool is_strict = false; // without weight a row changes nothing

    WeightedClasses(const Measure& measure, Rule rule) : measure_(&measure), classes_(measure.n_classes), rule_(rule) {}

    int words() const { return classes_ + 1; }
    int narrow_words() const { return words(); }
    double unit() const { return measure_->weight_unit; }
    Item item(int64_t row) const { return {measure_->classes[row], measure_->weight_of(row)}; }
    void add(Word* to, const Item& item) const {
        ++to[0];
        to[1 + item.of] += item.weight;
    }
    void widen(Word* to, const Narrow* from) const {
        for (int w = 0; w < words(); ++w) to[w] += from[w];
    }
    int64_t rows(const Word* counter) const { return counter[0]; }
    int64_t listed(const Word* counter) const { return counter[0]; }
    double weight(const Word* counter) const {
        int64_t sum = 0;
        for (int c = 1; c <= classes_; ++c) sum += counter[c];
        return static_cast<double>(sum) * measure_->weight_unit;
    }
    template <class Over>
    double side(const Word* counter, const Span&, const Over&) const {
        double sum = 0, parts = 0, most = 0;
        for (int c = 1; c <= classes_; ++c) {
            const double w = static_cast<double>(counter[c]);
            sum += w;
            parts += rule_ == Rule::gini ? w * w : rule_ == Rule::information_gain ? Logs::of(w) : 0;
            most = std::max(most, w);
        }
        if (!(sum > 0)) return 0;
        return rule_ == Rule::gini ? parts / sum : rule_ == Rule::information_gain ? parts - Logs::of(sum) : most;
    }
    double bound(const Word* low, const Word* bin, const Word* high, const Span&, double to_beat) const {
        const auto count = [](const Word* counter) {
            return [counter](int c) { return static_cast<double>(counter[c + 1]); };
        };
        return bound_of_classes(rule_, classes_, count(low), count(bin), count(high), to_beat);
    }

private:
    const Measure* measure_;
    int classes_;
    Rule rule_;
};

// A numeric target of rows with weights: rows, weight, weighted sum, weighted sum of squared steps.
class WeightedSums {
public:
    using Word = Sum;
    using Narrow = Sum;
    struct Item {
        int64_t target;
        int64_t weight;
    };
    static constexpr int fixed = 4;
    static constexpr bool is_strict = false;

    explicit WeightedSums(const Measure& measure) : measure_(&measure), steps_(measure) {}

    int words() const { return 4; }
    int narrow_words() const { return 4; }
    double unit() const { return measure_->weight_unit * measure_->target_unit * measure_->target_unit; }
    Item item(int64_t row) const { return {measure_->target[row], measure_->weight_of(row)}; }
    void add(Word* to, const Item& item) const {
        to[0] += 1;
        to[1] += item.weight;
        to[2] += static_cast<Sum>(item.target) * item.weight;
        to[3] += static_cast<Sum>(steps_.square(item.target)) * item.weight;
    }
    void widen(Word* to, const Narrow* from) const {
        for (int w = 0; w < 4; ++w) to[w] += from[w];
    }
    int64_t rows(const Word* counter) const { return static_cast<int64_t>(counter[0]); }
    int64_t listed(const Word* counter) const { return static_cast<int64_t>(counter[0]); }
    double weight(const Word* counter) const { return static_cast<double>(counter[1]) * measure_->weight_unit; }
    template <class Over>
    double side(const Word* counter, const Span& target, const Over&) const {
        const Bulk all = bulk(counter, target);
        return bulk_merit(all.size, all.sum);
    }
    double bound(const Word* low, const Word* bin, const Word* high, const Span& target, double to_beat) const {
        const double height =
            steps_.height(static_cast<double>(bin[1]), static_cast<double>(bin[2]), static_cast<double>(bin[3]));
        const double centre = static_cast<double>(target.centre);
        return bound_of_sums(target.low - centre, target.high - centre, bulk(low, target), bulk(bin, target),
                             bulk(high, target), height, to_beat);
    }

private:
    static Bulk bulk(const Word* counter, const Span& target) {
        return {static_cast<double>(counter[1]), static_cast<double>(counter[2] - counter[1] * target.centre)};
    }

    const Measure* measure_;
    Steps steps_;
};

// How well a cut imitates a split into two children: rows whose child is on its side, by weight. Rows that do not know
// their child are listed, for cuts lie between all values, but not counted.
class Imitation {
public:
    using Word = int64_t; // listed rows; rows per child; weight per child
    using Narrow = int64_t;
    struct Item {
        int32_t child; // 0, 1 or no_child
        int64_t weight;
    };
    static constexpr int fixed = 5;
    static constexpr bool is_strict = false;
    static constexpr int32_t no_child = 2;

    int words() const { return 5; }
    double unit() const { return 1; }
    void add(Word* to, const Item& item) const {
        ++to[0];
        if (item.child == no_child) return;
        ++to[1 + item.child];
        to[3 + item.child] += item.weight;
    }
    int64_t rows(const Word* counter) const { return counter[1] + counter[2]; }
    int64_t listed(const Word* counter) const { return counter[0]; }
    double weight(const Word* counter) const { return static_cast<double>(counter[3] + counter[4]); }
    // Sides that both answer the same child are no better than that child's share of all.
    template <class Over>
    double side(const Word* counter, const Span&, const Over&) const {
        return static_cast<double>(std::max(counter[3], counter[4]));
    }
    double bound(const Word* low, const Word* bin, const Word* high, const Span&, double) const {
        const int64_t one = std::max(low[3] + bin[3], low[4]) + std::max(high[3], high[4] + bin[4]);
        const int64_t other = std::max(low[3], low[4] + bin[4]) + std::max(high[3] + bin[3], high[4]);
        return static_cast<double>(std::max(one, other));
    }
};

// Calls act(counter) with the counter that serves a rule and a measure best; a rule without one is not called.
template <class Act>
void with_counter(Rule rule, const Measure& measure, const Act& act) {
    if (rule == Rule::variance) return measure.even ? act(Sums(measure)) : act(WeightedSums(measure));
    if (rule != Rule::gini && rule != Rule::information_gain && rule != Rule::misclassification) return;
    if (!measure.even) return act(WeightedClasses(measure, rule));
    const bool two = measure.n_classes == 2;
    if (measure.n_classes > std::numeric_limits<ManyClasses<Rule::gini>::Item>::max()) return;
    switch (rule) {
        case Rule::gini:
            return two ? act(TwoClasses<Rule::gini>(measure)) : act(ManyClasses<Rule::gini>(measure));
        case Rule::information_gain:
            return two ? act(TwoClasses<Rule::information_gain>(measure))
                       : act(ManyClasses<Rule::information_gain>(measure));
        default:
            return two ? act(TwoClasses<Rule::misclassification>(measure))
                       : act(ManyClasses<Rule::misclassification>(measure));
    }
}

} // namespace tw

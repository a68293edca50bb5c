// Merit: how good one side of a cut is, from counters as they lie in a histogram. The fast form of criterion.hpp's mean
// impurities for rows of weight one: gain = (merit of the sides - merit of the node) / rows.
//
// A counter class says how a bin's counters are laid out (Word, words()), how a row is counted, the merit of a side,
// the best merit that any cut inside a bin could reach (`bound`), and the unit of merits.
// Always holds: a bound is never below what a cut inside the bin reaches. Merits are convex in the counters of the low
// side, so over all ways to divide a bin they are largest at a corner: whole classes on one side. Where corners are too
// many, the bin's rows are counted as if they cost nothing, which no cut can beat either.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "stat.hpp"

namespace tw {

// A node's targets, in the measure's units from its offset: the smallest, the largest, and the mean as a whole number,
// from which sums are taken so that close merits can be told apart. Classes do not need it.
struct Span {
    double low = 0, high = 0;
    int64_t centre = 0;
};

// n log2 n, by table for small n.
class Logs {
public:
    explicit Logs(int64_t rows) : table_(static_cast<size_t>(std::min<int64_t>(rows, 1 << 20)) + 1, 0.0) {
        for (size_t n = 2; n < table_.size(); ++n) table_[n] = static_cast<double>(n) * std::log2(n);
    }
    double operator()(int64_t n) const {
        if (n < static_cast<int64_t>(table_.size())) return table_[static_cast<size_t>(n)];
        return static_cast<double>(n) * std::log2(n);
    }

private:
    std::vector<double> table_;
};

// Two classes in one word: rows in the low half, rows of the second class in the high half.
template <Rule rule>
class TwoClasses {
public:
    using Word = uint64_t;

    TwoClasses(const Measure& measure, int64_t rows)
        : measure_(measure), logs_(rule == Rule::information_gain ? rows : 0) {}

    int words() const { return 1; }
    double unit() const { return 1; } // of merits, in units of the criterion times rows
    void count(Word* counter, uint32_t row) const { *counter += 1 + (static_cast<Word>(measure_.classes[row]) << 32); }
    int64_t rows(const Word* counter) const { return static_cast<int64_t>(*counter & 0xffffffffU); }

    double side(const Word* counter, const Span&) const {
        const int64_t n = rows(counter);
        const int64_t second = static_cast<int64_t>(*counter >> 32);
        return merit(n - second, second);
    }
    double bound(const Word* low, const Word* bin, const Word* high, const Span&) const {
        const int64_t low_second = *low >> 32, low_first = rows(low) - low_second;
        const int64_t bin_second = *bin >> 32, bin_first = rows(bin) - bin_second;
        const int64_t high_second = *high >> 32, high_first = rows(high) - high_second;
        return std::max(merit(low_first + bin_first, low_second) + merit(high_first, high_second + bin_second),
                        merit(low_first, low_second + bin_second) + merit(high_first + bin_first, high_second));
    }

private:
    double merit(int64_t first, int64_t second) const {
        const int64_t n = first + second;
        if (n == 0) return 0;
        if constexpr (rule == Rule::gini) {
            const double a = static_cast<double>(first), b = static_cast<double>(second);
            return (a * a + b * b) / static_cast<double>(n);
        } else if constexpr (rule == Rule::information_gain) {
            return logs_(first) + logs_(second) - logs_(n);
        } else {
            return static_cast<double>(std::max(first, second));
        }
    }

    const Measure& measure_;
    Logs logs_;
};

// One word per class.
template <Rule rule>
class ManyClasses {
public:
    using Word = uint32_t;

    ManyClasses(const Measure& measure, int64_t rows)
        : measure_(measure), classes_(measure.n_classes), logs_(rule == Rule::information_gain ? rows : 0) {}

    int words() const { return classes_; }
    double unit() const { return 1; }
    void count(Word* counter, uint32_t row) const { ++counter[measure_.classes[row]]; }
    int64_t rows(const Word* counter) const {
        int64_t n = 0;
        for (int c = 0; c < classes_; ++c) n += counter[c];
        return n;
    }

    double side(const Word* counter, const Span&) const {
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
        if constexpr (rule == Rule::gini) return parts / static_cast<double>(n);
        if constexpr (rule == Rule::information_gain) return parts - logs_(n);
        return static_cast<double>(most);
    }
    double bound(const Word* low, const Word* bin, const Word* high, const Span& target) const {
        return side(low, target) + side(high, target) +
               (rule == Rule::information_gain ? 0.0 : static_cast<double>(rows(bin)));
    }

private:
    const Measure& measure_;
    int classes_;
    Logs logs_;
};

// A numeric target: rows and their sum, in the measure's units.
class Sums {
public:
    using Word = int64_t;

    Sums(const Measure& measure, int64_t) : measure_(measure) {}

    int words() const { return 2; }
    double unit() const { return measure_.target_unit * measure_.target_unit; }
    void count(Word* counter, uint32_t row) const {
        ++counter[0];
        counter[1] += measure_.target[row];
    }
    int64_t rows(const Word* counter) const { return counter[0]; }
    double side(const Word* counter, const Span& target) const {
        return merit(static_cast<double>(counter[0]), centred(counter, target));
    }
    // k rows of the bin add at least max(k low, sum - (rows - k) high) and at most min(k high, sum - (rows - k) low): a
    // parallelogram whose two inner corners are tried.
    double bound(const Word* low, const Word* bin, const Word* high, const Span& target) const {
        const double reach = target.high - target.low;
        if (!(reach > 0)) return side(low, target) + side(high, target);
        const double least = target.low - static_cast<double>(target.centre);
        const double most = target.high - static_cast<double>(target.centre);
        const double n = static_cast<double>(bin[0]), sum = centred(bin, target);
        const auto corner = [&](double rows, double part) {
            return merit(static_cast<double>(low[0]) + rows, centred(low, target) + part) +
                   merit(static_cast<double>(high[0]) + n - rows, centred(high, target) + sum - part);
        };
        const double few = std::clamp((n * most - sum) / reach, 0.0, n);
        const double many = std::clamp((sum - n * least) / reach, 0.0, n);
        return std::max(corner(few, few * least), corner(many, many * most)) * (1 + 1e-9);
    }

private:
    static double merit(double n, double sum) { return n > 0 ? sum * (sum / n) : 0; }
    static double centred(const Word* counter, const Span& target) {
        return static_cast<double>(counter[1] - counter[0] * target.centre);
    }

    const Measure& measure_;
};

} // namespace tw

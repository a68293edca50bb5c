// Counters for criteria whose score is no sum over the sides: both sides of a cut are scored together.
//
// `pair` uses the formulas of criterion.cpp on the numbers they get elsewhere, so that cuts tie exactly where they tie
// in a search of every value. Scores are convex in what lies on the low side: a bound is a maximum over the corners of
// what the rows of a bin can add up to. A bound has a little to spare (`slack`), more than rounding can take from it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "criterion/criterion.hpp"
#include "criterion/group_test.hpp"
#include "criterion/weighted_classes.hpp"

namespace tw {

// Twoing and Hellinger times the weight of both sides; the chi-square statistics as they are, which for cuts of the
// same rows rise with -ln p.
class ClassPairCounter : public WeightedClasses {
public:
    ClassPairCounter(const Measure& measure, Criterion criterion) : WeightedClasses(measure), criterion_(criterion) {}

    static constexpr bool has_deviation = false;
    double unit() const { return is_test(criterion_) ? 1 : measure_->weight_unit; }
    double pair(const Word* low, const Word* high, const TargetRange&) const {
        const auto weight_in = [](const Word* side) {
            return [side](int c) { return static_cast<double>(side[c + 1]); };
        };
        return score(weight_in(low), weight_in(high));
    }

    double bound(const Word* low, const Word* bin, const Word* high, const TargetRange&, double to_beat) const {
        const double most = classes_ == 2 ? bound_of_two(low, bin, high) : bound_of_many(low, bin, high, to_beat);
        double size = 0;
        for (int c = 1; c <= classes_; ++c) size += static_cast<double>(low[c] + bin[c] + high[c]);
        return most * (1 + slack) + slack * size * measure_->weight_unit;
    }

private:
    static constexpr double slack = 1e-9;

    // Of two sides, from their class weights in the measure's units.
    template <class Low, class High>
    double score(const Low& low, const High& high) const {
        const size_t width = static_cast<size_t>(classes_);
        std::array<double, 3 * max_fixed_classes> few{};
        std::vector<double> many(3 * width > few.size() ? 3 * width : 0);
        double* stats = many.empty() ? few.data() : many.data();
        double size = 0;
        for (int c = 0; c < classes_; ++c) {
            stats[c] = low(c) * measure_->weight_unit;
            stats[classes_ + c] = high(c) * measure_->weight_unit;
            size += low(c) + high(c);
        }
        if (!is_test(criterion_)) return own_score(criterion_, {stats, 2 * width}, classes_) * size;
        const std::array<TestGroup, 2> sides{test_group(criterion_, {stats, width}),
                                             test_group(criterion_, {stats + width, width})};
        return test_statistic(criterion_, std::span<const TestGroup, 2>(sides), {stats + 2 * width, width}).statistic;
    }

    // Which class a side has more of, it has still more of with all of that class and none of the other.
    double bound_of_two(const Word* low, const Word* bin, const Word* high) const {
        const auto corner = [&](int class_low) {
            return score([&](int c) { return static_cast<double>(low[c + 1] + (c == class_low ? bin[c + 1] : 0)); },
                         [&](int c) { return static_cast<double>(high[c + 1] + (c == class_low ? 0 : bin[c + 1])); });
        };
        return std::max(corner(0), corner(1));
    }

    double bound_of_many(const Word* low, const Word* bin, const Word* high, double to_beat) const {
        const auto count = [](const Word* side) { return [side](int c) { return static_cast<double>(side[c + 1]); }; };
        if (criterion_ == Criterion::twoing) return bound_of_twoing(count(low), count(bin), count(high), to_beat);
        const double unit = measure_->weight_unit;
        double all = 0, undivided = 0;
        for (int c = 0; c < classes_; ++c) {
            const double size = count(low)(c) + count(bin)(c) + count(high)(c);
            all += size;
            undivided += LogTable::of(size);
        }
        if (criterion_ == Criterion::likelihood_ratio) { // two natural logarithms for each bit of information
            const double per_bit = 2 * std::log(2.0) * unit;
            undivided -= LogTable::of(all);
            return per_bit *
                   (bound_of_classes<Criterion::information_gain>(classes_, count(low), count(bin), count(high),
                                                                  to_beat / per_bit + undivided, LogTable::of) -
                    undivided);
        }
        return unit * (bound_of_chi_square(count(low), count(bin), count(high), all, to_beat / unit + all) - all);
    }

    // Pearson's statistic and all rows: gini's sum of squares, each class in parts of its own size.
    template <class Count>
    double bound_of_chi_square(const Count& low, const Count& bin, const Count& high, double all,
                               double to_beat) const {
        const auto square = [](double x) { return x * x; };
        const auto [low_size, bin_size, high_size] = sizes_of(low, bin, high);
        if (low_size <= 0 || high_size <= 0) return std::numeric_limits<double>::infinity();
        return bound_by_pieces(
            classes_, low_size, bin_size, high_size,
            [&](int c, double low_total, double high_total) {
                const double a = low(c), b = bin(c), d = high(c), size = a + b + d;
                if (!(size > 0)) return 0.0;
                return all / size *
                       std::max(square(a + b) / low_total + square(d) / high_total,
                                square(a) / low_total + square(d + b) / high_total);
            },
            [](double, double, double) { return 0.0; }, to_beat);
    }

    // Twoing is (sum over classes of |rows below - share of all rows|)^2 / (4 x low size x high size).
    template <class Count>
    double bound_of_twoing(const Count& low, const Count& bin, const Count& high, double to_beat) const {
        constexpr int pieces = 8;
        const auto [low_size, bin_size, high_size] = sizes_of(low, bin, high);
        const double all = low_size + bin_size + high_size;
        double best = 0;
        for (int piece = 0; piece < pieces && best < to_beat; ++piece) {
            const double least = low_size + bin_size * piece / pieces,
                         most = low_size + bin_size * (piece + 1) / pieces;
            double distance = 0;
            for (int c = 0; c < classes_; ++c) {
                const double share = (low(c) + bin(c) + high(c)) / all;
                distance += std::max(low(c) + bin(c) - least * share, most * share - low(c));
            }
            const double product = std::min(least * (all - least), most * (all - most));
            if (!(product > 0)) return std::numeric_limits<double>::infinity();
            best = std::max(best, distance * distance / (4 * product) * all);
        }
        return best;
    }

    struct Sizes {
        double low = 0, bin = 0, high = 0;
    };
    template <class Count>
    Sizes sizes_of(const Count& low, const Count& bin, const Count& high) const {
        Sizes sizes;
        for (int c = 0; c < classes_; ++c) {
            sizes.low += low(c);
            sizes.bin += bin(c);
            sizes.high += high(c);
        }
        return sizes;
    }

    Criterion criterion_;
};
static_assert(TargetCounter<ClassPairCounter>);

// A numeric target with its squares: rows, weight, weighted sum, weighted sum of squares. The F statistic, or what a
// cut takes off standard deviation or Poisson deviance, times the weight.
class MomentPairCounter {
public:
    using Word = Sum;
    using Narrow = Sum;
    struct Item {
        int64_t target, square, weight;
    };
    static constexpr int fixed = 4;
    static constexpr bool is_strict = false, has_deviation = false;

    MomentPairCounter(const Measure& measure, Criterion criterion) : measure_(&measure), criterion_(criterion) {}

    int words() const { return 4; }
    int narrow_words() const { return 4; }
    double unit() const { return 1; }
    Item item(int64_t row) const { return {measure_->target[row], measure_->square[row], measure_->weight_of(row)}; }
    void add(Word* to, const Item& item) const {
        to[0] += 1;
        to[1] += item.weight;
        to[2] += static_cast<Sum>(item.target) * item.weight;
        to[3] += static_cast<Sum>(item.square) * item.weight;
    }
    void widen(Word* to, const Narrow* from) const {
        for (int w = 0; w < 4; ++w) to[w] += from[w];
    }
    int64_t rows(const Word* counter) const { return static_cast<int64_t>(counter[0]); }
    int64_t listed(const Word* counter) const { return static_cast<int64_t>(counter[0]); }
    void to_sums(const Word* counter, Sum* sums) const { std::copy_n(counter + 1, 3, sums); }
    double weight(const Word* counter) const { return static_cast<double>(counter[1]) * measure_->weight_unit; }

    double pair(const Word* low, const Word* high, const TargetRange&) const {
        std::array<double, 6> sides;
        measure_->read_moments(low + 1, &sides[0]);
        measure_->read_moments(high + 1, &sides[3]);
        if (criterion_ == Criterion::f) {
            const std::array<TestGroup, 2> groups{test_group(criterion_, {&sides[0], 3}),
                                                  test_group(criterion_, {&sides[3], 3})};
            return f_statistic(std::span<const TestGroup, 2>(groups)).statistic;
        }
        if (!can_rate(criterion_, sides, 3, measure_->offset)) return -std::numeric_limits<double>::infinity();
        const std::array<Sum, 3> both{low[1] + high[1], low[2] + high[2], low[3] + high[3]};
        std::array<double, 3> parent;
        measure_->read_moments(both.data(), parent.data());
        return improvement(criterion_, parent, sides, measure_->offset) * parent[0];
    }

    double bound(const Word* low, const Word* bin, const Word* high, const TargetRange& target, double to_beat) const {
        const Bin at(*this, low, bin, high, target);
        if (!(at.low.size > 0) || !(at.high.size > 0)) return std::numeric_limits<double>::infinity();
        if (criterion_ == Criterion::poisson)
            return bound_of_poisson(at, to_beat) * (1 + slack) + slack * at.deviance();
        return criterion_ == Criterion::f ? bound_of_f(at, to_beat) : bound_of_spread(at, to_beat);
    }

private:
    static constexpr double slack = 1e-9;

    // A bin between two sides in real units, sums from the node's mean.
    struct Bin {
        SizeAndSum low, bin, high;
        double low_squares, bin_squares, high_squares; // squared deviations: not too large, but the bin's not too small
        double all_squares, lost;                      // those of all rows, and what rounding may have taken from them
        double least, most;                            // target
        double mean;                                   // from which sums are taken

        Bin(const MomentPairCounter& counter, const Word* low_words, const Word* bin_words, const Word* high_words,
            const TargetRange& target) {
            const Measure& measure = *counter.measure_;
            const double unit = measure.target_unit;
            const auto centred = [&](const Word* words) {
                return SizeAndSum{static_cast<double>(words[1]) * measure.weight_unit,
                                  static_cast<double>(words[2] - words[1] * target.centre) * measure.sum_unit};
            };
            low = centred(low_words);
            bin = centred(bin_words);
            high = centred(high_words);
            const std::array<Word, 4> all{0, low_words[1] + bin_words[1] + high_words[1],
                                          low_words[2] + bin_words[2] + high_words[2],
                                          low_words[3] + bin_words[3] + high_words[3]};
            const double farthest = static_cast<double>(measure.max_abs) * unit;
            lost = 1e-13 * static_cast<double>(all[3]) * measure.square_unit +
                   size() * (4 * measure.square_unit / measure.weight_unit + unit * farthest);
            const auto squares = [&](const Word* words, double spare) {
                if (words[1] == 0) return 0.0;
                const double sum = static_cast<double>(words[2]) * measure.sum_unit;
                const double squared = static_cast<double>(words[3]) * measure.square_unit;
                return std::max(0.0,
                                squared - sum * sum / (static_cast<double>(words[1]) * measure.weight_unit) + spare);
            };
            low_squares = squares(low_words, -lost);
            bin_squares = squares(bin_words, lost);
            high_squares = squares(high_words, -lost);
            all_squares = squares(all.data(), 0);
            least = (target.low - static_cast<double>(target.centre)) * unit;
            most = (target.high - static_cast<double>(target.centre)) * unit;
            mean = measure.offset + static_cast<double>(target.centre) * unit;
        }

        double size() const { return low.size + bin.size + high.size; }
        double sum() const { return low.sum + bin.sum + high.sum; }
        double height() const { return std::sqrt(bin.size * bin_squares) / 2; } // bounds.hpp: of the ellipse
        // No cut inside has more squared deviations between its sides; exact only as far as needed.
        double between(double to_beat) const {
            const double undivided = mean_score(size(), sum());
            const double most_between =
                bound_of_sums(least, most, low, bin, high, height(), to_beat + undivided) - undivided;
            return std::max(0.0, most_between) * (1 + slack);
        }
        double deviance() const { return size() * std::max(0.0, mean + most); }
    };

    // F rises with the squares between the sides, for those of all rows stay.
    double bound_of_f(const Bin& at, double to_beat) const {
        const double all = at.all_squares - at.lost, degrees = at.size() - 2;
        if (!(degrees > 0)) return std::numeric_limits<double>::infinity();
        const double between = at.between(all * to_beat / (to_beat + degrees));
        const double within = all * (1 - slack) - between;
        return within > 0 ? between / within * degrees * (1 + slack) : std::numeric_limits<double>::infinity();
    }

    // A side of n rows and squared deviations s costs sqrt(n s). Whatever does not lie between the sides lies within
    // them: all that is not there without the bin on one side, where it costs least, or on the other.
    double bound_of_spread(const Bin& at, double to_beat) const {
        const double within = at.all_squares - at.lost - at.between(-std::numeric_limits<double>::infinity());
        const double cost = std::sqrt(at.size() * (at.all_squares + at.lost)) * (1 + slack);
        const double low_more = std::max(at.low_squares, within - at.high_squares);
        const double high_more = std::max(at.high_squares, within - at.low_squares);
        const auto least_cost = [&](double low_size, double high_size) {
            return std::min(std::sqrt(low_size * at.low_squares) + std::sqrt(high_size * high_more),
                            std::sqrt(low_size * low_more) + std::sqrt(high_size * at.high_squares));
        };
        const double easy = cost - least_cost(at.low.size, at.high.size);
        if (easy < to_beat) return easy;
        constexpr int pieces = 8; // of how many rows of the bin go low
        double best = 0;
        for (int piece = 0; piece < pieces && best < to_beat; ++piece) {
            best = std::max(best, cost - least_cost(at.low.size + at.bin.size * piece / pieces,
                                                    at.high.size + at.bin.size * (pieces - 1 - piece) / pieces));
        }
        return best;
    }

    // Sum of y ln(mean / mean of all) over both sides. Cheaply: between the ends of the bin a convex function is no
    // larger than at one of them, and off this line it rises no faster than the logarithm of the ratio of means. Else
    // at the corners.
    double bound_of_poisson(const Bin& at, double to_beat) const {
        const double mean = at.mean + at.sum() / at.size();
        const auto part = [&](double size, double sum) {
            const double whole = at.mean * size + sum;
            return size > 0 && whole > 0 ? whole * std::log(whole / (size * mean)) : 0;
        };
        const auto score = [&](double size, double sum) {
            return part(at.low.size + size, at.low.sum + sum) +
                   part(at.high.size + at.bin.size - size, at.high.sum + at.bin.sum - sum);
        };
        if (!(mean > 0)) return std::numeric_limits<double>::infinity();
        const double height = at.height();
        const auto mean_of = [&](SizeAndSum side, SizeAndSum more) {
            return at.mean + (side.sum + more.sum) / (side.size + more.size);
        };
        const auto [low_least, low_most] = std::minmax({mean_of(at.low, {}), mean_of(at.low, at.bin)});
        const auto [high_least, high_most] = std::minmax({mean_of(at.high, {}), mean_of(at.high, at.bin)});
        const double ends = std::max(score(0, 0), score(at.bin.size, at.bin.sum));
        const double low_off = height / at.low.size, high_off = height / at.high.size;
        if (low_least > low_off && high_least > high_off) {
            const double ratio = std::max((low_most + low_off) / (high_least - high_off),
                                          (high_most + high_off) / (low_least - low_off));
            const double by_slope = ends + height * std::max(0.0, std::log(ratio));
            if (by_slope < to_beat) return by_slope;
        }
        const double reach = at.most - at.least;
        if (!(reach > 0)) return ends;
        const double few = std::clamp((at.bin.size * at.most - at.bin.sum) / reach, 0.0, at.bin.size);
        const double many = std::clamp((at.bin.sum - at.bin.size * at.least) / reach, 0.0, at.bin.size);
        return std::max({ends, score(few, few * at.least), score(many, many * at.most)});
    }

    const Measure* measure_;
    Criterion criterion_;
};
static_assert(TargetCounter<MomentPairCounter>);

} // namespace tw

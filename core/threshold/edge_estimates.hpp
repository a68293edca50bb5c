// The gains of cuts between groups of bins, many at a time, and no less than the gain of any cut inside a group: a
// filter for what is worth scoring.
//
// Where a gain is a squared distance between the means of two sides (CutCounter::has_deviation) and the mean is one
// number, the cut with n of N rows below has the gain f (N v - n V)^2 / (N n (N - n)), where v and V are the sums of
// that number below and in all. Plain arrays make it many times as fast as scoring cut by cut. It is rounded
// differently, by no more than `slack`.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "threshold/cut.hpp"

namespace tw {

// A counter whose gains can be estimated: f, the sum v, and no less than the deviation of a bin.
template <class C>
concept EstimatesGains = CutCounter<C> && C::has_deviation &&
                         requires(const C& counter, const typename C::Word* from, const TargetRange& target) {
                             { C::gain_factor } -> std::convertible_to<double>;
                             { counter.value(from, target) } -> std::same_as<double>;
                             { counter.most_deviation(from) } -> std::same_as<double>;
                         };

constexpr size_t bins_per_group = 4, most_groups = 256 / bins_per_group;
using GroupGains = std::array<float, most_groups>;

template <EstimatesGains Counter>
class EdgeEstimates {
public:
    using Word = typename Counter::Word;

    EdgeEstimates(const Counter& counter, const CutRules& rules, CutScorer<Counter>& scorer, const Word* bin,
                  size_t bins)
        : counter_(counter),
          bin_(bin),
          bins_(bins),
          groups_((bins + bins_per_group - 1) / bins_per_group),
          all_(counter.size(scorer.known().data())),
          per_gain_(all_ / Counter::gain_factor) {
        Numbers value, strays, inverse;
        add_up(rules.target_range, value, strays);
        set_gains(value, counter.value(scorer.known().data(), rules.target_range), inverse);
        set_most(strays, inverse);
        slack_ = 1e-13 * (largest_of(gain_, 0, groups_) + std::abs(scorer.reference()));
        set_most_at_ends(scorer);
    }

    // The group with the best cut above it, of those with this much on either side; `groups()`: there is none.
    size_t best(double least) const {
        size_t first = 0, last = groups_;
        while (first < last && size_[first] < least) ++first;
        while (last > first && all_ - size_[last - 1] < least) --last;
        if (first == last) return groups_;
        const double most = largest_of(gain_, first, last);
        while (gain_[first] < most) ++first;
        return first;
    }
    size_t groups() const { return groups_; }
    // No cut inside a group, or at its ends, has more.
    void write_most(GroupGains& most) const {
        for (size_t group = 0; group < groups_; ++group) {
            most[group] = static_cast<float>((most_[group] + slack_) * (1 + 1e-6)); // more than rounding takes off
        }
    }
    double most() const { return largest_of(most_, 0, groups_) + slack_; }

private:
    using Numbers = std::array<double, most_groups>;

    static double larger(double a, double b) { return a < b ? b : a; }
    static double smaller(double a, double b) { return a < b ? a : b; }
    static double largest_of(const Numbers& numbers, size_t first, size_t last) {
        constexpr size_t lanes = 4;
        std::array<double, lanes> most{};
        for (; first + lanes <= last; first += lanes) {
            for (size_t i = 0; i < lanes; ++i) most[i] = larger(most[i], numbers[first + i]);
        }
        for (; first < last; ++first) most[0] = larger(most[0], numbers[first]);
        return larger(larger(most[0], most[1]), larger(most[2], most[3]));
    }

    // What lies up to each group, and how far a part of the group can stray from an even share.
    void add_up(const TargetRange& target, Numbers& value, Numbers& strays) {
        Words<Counter> low = zero_words(counter_);
        for (size_t group = 0; group < groups_; ++group) {
            const Words<Counter> own = sum(group);
            for (size_t w = 0; w < own.size(); ++w) low[w] += own[w];
            size_[group] = counter_.size(low.data());
            value[group] = counter_.value(low.data(), target);
            strays[group] = counter_.most_deviation(own.data());
        }
    }
    Words<Counter> sum(size_t group) const {
        Words<Counter> own = zero_words(counter_);
        const Word* bin = bin_ + group * bins_per_group * own.size();
        const auto add = [&](size_t bins) {
            for (size_t b = 0; b < bins; ++b) {
                for (size_t w = 0; w < own.size(); ++w) own[w] += bin[b * own.size() + w];
            }
        };
        if ((group + 1) * bins_per_group <= bins_) {
            add(bins_per_group);
        } else {
            add(bins_ - group * bins_per_group);
        }
        return own;
    }

    // `inverse`: of the product of both sides' sizes; where one is empty, 1.
    void set_gains(const Numbers& value, double sum, Numbers& inverse) {
        const double all = all_, per_unit = 1 / per_gain_;
        for (size_t group = 0; group < groups_; ++group) { // loops of their own: the compiler does several at a time
            const double product = size_[group] * (all - size_[group]);
            inverse[group] = larger(product, 1);
        }
        for (size_t group = 0; group < groups_; ++group) {
            const double distance = all * value[group] - size_[group] * sum;
            inverse[group] = 1 / inverse[group];
            gain_[group] = distance * distance * inverse[group] * per_unit;
        }
    }

    // By the leeway of a group, from the better of its ends (CutScorer::leeway): (sqrt(ends) + sqrt(leeway))^2, or a
    // little more, without a root.
    void set_most(const Numbers& strays, const Numbers& inverse) {
        const double all = all_ * (1 + 1e-9);
        most_[0] = 0;
        for (size_t group = 1; group < groups_; ++group) {
            const double ends = larger(gain_[group - 1], gain_[group]);
            const double leeway = strays[group] * all * larger(inverse[group - 1], inverse[group]);
            most_[group] = smaller(smaller(1.0625 * ends + 17 * leeway, 1.25 * ends + 5 * leeway), 2 * (ends + leeway));
        }
    }

    // A group without anything below or above it has no leeway that is known.
    void set_most_at_ends(CutScorer<Counter>& scorer) {
        size_t first = 0, last = groups_;
        while (first < groups_ && size_[first] == 0) most_[first++] = 0;
        while (last > first && (last < 2 ? 0.0 : size_[last - 2]) == all_) most_[--last] = 0;
        if (first == last) return;
        set_most_by_bound(scorer, first, zero_words(counter_));
        if (last - 1 == first) return;
        const Words<Counter> own = sum(last - 1);
        Words<Counter> low = scorer.known();
        for (int w = 0; w < counter_.words(); ++w) low[w] -= own[w];
        set_most_by_bound(scorer, last - 1, low);
    }
    void set_most_by_bound(CutScorer<Counter>& scorer, size_t group, const Words<Counter>& low) {
        most_[group] = std::max(gain_[group], scorer.bound(low.data(), sum(group).data(), 0.0));
        if (group > 0) most_[group] = std::max(most_[group], gain_[group - 1]);
    }

    const Counter& counter_;
    const Word* bin_;
    size_t bins_, groups_;
    double all_, per_gain_, slack_ = 0;
    Numbers size_, gain_, most_;
};

} // namespace tw

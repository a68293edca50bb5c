// More counters: rows with weights, the agreement with a split (surrogates), and the choice among all counters.
#pragma once

#include <stdexcept>

#include "criterion/median_counter.hpp"
#include "criterion/moment_counter.hpp"
#include "criterion/pair_counters.hpp"

namespace tw {

// act.operator()<criterion>() for one that counters of classes can score.
template <class Act>
double with_class_criterion(Criterion criterion, const Act& act) {
    switch (criterion) {
        case Criterion::gini:
            return act.template operator()<Criterion::gini>();
        case Criterion::information_gain:
            return act.template operator()<Criterion::information_gain>();
        case Criterion::misclassification:
            return act.template operator()<Criterion::misclassification>();
        default:
            throw std::logic_error("with_class_criterion: a counter of classes has no score of this criterion");
    }
}

// Classes of rows with weights. One type for all its criteria: adding up many words takes longer than asking for one.
class WeightedClassCounter : public WeightedClasses {
public:
    WeightedClassCounter(const Measure& measure, Criterion criterion)
        : WeightedClasses(measure),
          criterion_(criterion),
          log_table_(criterion == Criterion::information_gain, measure.rows, measure.weight_unit) {}

    static constexpr bool has_deviation = false;
    template <class Over>
    double side(const Word* counter, const TargetRange&, const Over&) const {
        const auto weight_of_class = [counter](int c) { return static_cast<double>(counter[c + 1]); };
        const auto log = [this](double w) { return log_table_.of_weight(w); };
        return with_class_criterion(criterion_, [&]<Criterion criterion>() {
            return score_of_side<criterion>(classes_, weight_of_class, log, ExactDivision{});
        });
    }
    double bound(const Word* low, const Word* bin, const Word* high, const TargetRange&, double to_beat) const {
        const auto count = [](const Word* counter) {
            return [counter](int c) { return static_cast<double>(counter[c + 1]); };
        };
        const auto log = [this](double w) { return log_table_.of_weight(w); };
        return with_class_criterion(criterion_, [&]<Criterion criterion>() {
            return bound_of_classes<criterion>(classes_, count(low), count(bin), count(high), to_beat, log);
        });
    }

private:
    Criterion criterion_;
    LogTable log_table_;
};
static_assert(TargetCounter<WeightedClassCounter>);

// A numeric target of rows with weights: rows, weight, weighted sum, weighted sum of squared steps.
class WeightedMomentCounter {
public:
    using Word = Sum;
    using Narrow = Sum;
    struct Item {
        int64_t target;
        int64_t weight;
    };
    static constexpr int fixed = 4;
    static constexpr bool is_strict = false;

    explicit WeightedMomentCounter(const Measure& measure) : measure_(&measure), squares_(measure) {}

    int words() const { return 4; }
    int narrow_words() const { return 4; }
    double unit() const { return measure_->weight_unit * measure_->target_unit * measure_->target_unit; }
    Item item(int64_t row) const { return {measure_->target[row], measure_->weight_of(row)}; }
    void add(Word* to, const Item& item) const {
        to[0] += 1;
        to[1] += item.weight;
        to[2] += static_cast<Sum>(item.target) * item.weight;
        to[3] += static_cast<Sum>(squares_.square(item.target)) * item.weight;
    }
    void widen(Word* to, const Narrow* from) const {
        for (int w = 0; w < 4; ++w) to[w] += from[w];
    }
    int64_t rows(const Word* counter) const { return static_cast<int64_t>(counter[0]); }
    int64_t listed(const Word* counter) const { return static_cast<int64_t>(counter[0]); }
    void to_sums(const Word* counter, Sum* sums) const { std::copy_n(counter + 1, 2, sums); }
    double weight(const Word* counter) const { return static_cast<double>(counter[1]) * measure_->weight_unit; }
    static constexpr bool has_deviation = true;
    double size(const Word* counter) const { return static_cast<double>(counter[1]); }
    double deviation(const Word* bin) const {
        return squares_.deviation(static_cast<double>(bin[1]), static_cast<double>(bin[2]),
                                  static_cast<double>(bin[3]));
    }
    template <class Over>
    double side(const Word* counter, const TargetRange& target, const Over&) const {
        const SizeAndSum all = size_and_sum(counter, target);
        return mean_score(all.size, all.sum);
    }
    double bound(const Word* low, const Word* bin, const Word* high, const TargetRange& target, double to_beat) const {
        const double height =
            squares_.height(static_cast<double>(bin[1]), static_cast<double>(bin[2]), static_cast<double>(bin[3]));
        const double centre = static_cast<double>(target.centre);
        return bound_of_sums(target.low - centre, target.high - centre, size_and_sum(low, target),
                             size_and_sum(bin, target), size_and_sum(high, target), height, to_beat);
    }

private:
    static SizeAndSum size_and_sum(const Word* counter, const TargetRange& target) {
        return {static_cast<double>(counter[1]), static_cast<double>(counter[2] - counter[1] * target.centre)};
    }

    const Measure* measure_;
    RoundedSquares squares_;
};
static_assert(TargetCounter<WeightedMomentCounter>);

// How well a cut imitates a split into two children: rows whose child is on its side, by weight. Rows that do not know
// their child are listed, for cuts lie between all values, but not counted.
class SurrogateCounter {
public:
    using Word = int64_t; // listed rows; rows per child; weight per child
    using Narrow = int64_t;
    struct Item {
        int32_t child; // 0, 1 or unknown_child
        int64_t weight;
    };
    static constexpr int fixed = 5;
    static constexpr bool is_strict = false;
    static constexpr int32_t unknown_child = 2;

    int words() const { return 5; }
    double unit() const { return 1; }
    void add(Word* to, const Item& item) const {
        ++to[0];
        if (item.child == unknown_child) return;
        ++to[1 + item.child];
        to[3 + item.child] += item.weight;
    }
    int64_t rows(const Word* counter) const { return counter[1] + counter[2]; }
    int64_t listed(const Word* counter) const { return counter[0]; }
    double weight(const Word* counter) const { return static_cast<double>(counter[3] + counter[4]); }
    static constexpr bool has_deviation = false;
    // Sides that both predict the same child are no better than that child's share of all.
    template <class Over>
    double side(const Word* counter, const TargetRange&, const Over&) const {
        return static_cast<double>(std::max(counter[3], counter[4]));
    }
    double bound(const Word* low, const Word* bin, const Word* high, const TargetRange&, double) const {
        const int64_t one = std::max(low[3] + bin[3], low[4]) + std::max(high[3], high[4] + bin[4]);
        const int64_t other = std::max(low[3], low[4] + bin[4]) + std::max(high[3] + bin[3], high[4]);
        return static_cast<double>(std::max(one, other));
    }
};
static_assert(CutCounter<SurrogateCounter>);

// Gain ratio compares the cuts of a column by gain.
inline Criterion counted_criterion(Criterion criterion) {
    return criterion == Criterion::gain_ratio ? Criterion::information_gain : criterion;
}

// Classes of rows without weights; too many for an item have no counter.
template <Criterion criterion, class Act>
void with_class_counter(const Measure& measure, const Act& act) {
    if (measure.n_classes > std::numeric_limits<typename ClassCounter<criterion>::Item>::max()) return;
    if (measure.n_classes == 2) return act(TwoClassCounter<criterion>(measure));
    if constexpr (criterion == Criterion::gini) {
        if (measure.n_classes <= max_fixed_classes) return act(ClassCounter<criterion, max_fixed_classes>(measure));
    }
    act(ClassCounter<criterion>(measure));
}

// Calls act(counter) with the counter that serves a criterion and a measure best; a criterion without one, or with one
// that needs rows, is not called.
template <class Act>
void with_counter(Criterion criterion, const Measure& measure, const Act& act) {
    const CountedSides counted = traits_of(criterion).counted_sides;
    if (counted == CountedSides::none || counted == CountedSides::from_rows) return;
    if (counted == CountedSides::apart && is_for_classes(criterion) && !measure.unit_weights) {
        return act(WeightedClassCounter(measure, criterion));
    }
    if (criterion == Criterion::gini) return with_class_counter<Criterion::gini>(measure, act);
    if (criterion == Criterion::information_gain) return with_class_counter<Criterion::information_gain>(measure, act);
    if (criterion == Criterion::misclassification)
        return with_class_counter<Criterion::misclassification>(measure, act);
    if (scores_pairs(criterion)) {
        return is_for_classes(criterion) ? act(ClassPairCounter(measure, criterion))
                                         : act(MomentPairCounter(measure, criterion));
    }
    if (criterion != Criterion::variance) throw std::logic_error("with_counter: no counter scores this criterion");
    measure.unit_weights ? act(MomentCounter(measure)) : act(WeightedMomentCounter(measure));
}

// The same where rows are at hand: criteria that need them have a counter, too.
template <class Act>
void with_counter_of_rows(Criterion criterion, const Measure& measure, const Act& act) {
    if (!scores_rows(criterion)) return with_counter(criterion, measure, act);
    measure.unit_weights ? act(MedianCounter<int64_t>(measure)) : act(MedianCounter<Sum>(measure));
}

} // namespace tw

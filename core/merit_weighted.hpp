// More counters for merit.hpp: rows with weights, rows that should be sent as a split sends them, and the choice among
// all counters.
//
// Comes in: a measure with weights. Goes out: merits and bounds, as merit.hpp explains them.
#pragma once

#include "merit.hpp"

namespace tw {

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
    void tell(const Word* counter, Sum* sums) const { std::copy_n(counter + 1, classes_, sums); }
    double weight(const Word* counter) const {
        int64_t sum = 0;
        for (int c = 1; c <= classes_; ++c) sum += counter[c];
        return static_cast<double>(sum) * measure_->weight_unit;
    }
    static constexpr bool has_stray = false;
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
    void tell(const Word* counter, Sum* sums) const { std::copy_n(counter + 1, 2, sums); }
    double weight(const Word* counter) const { return static_cast<double>(counter[1]) * measure_->weight_unit; }
    static constexpr bool has_stray = true;
    double size(const Word* counter) const { return static_cast<double>(counter[1]); }
    double stray(const Word* bin) const {
        return steps_.stray(static_cast<double>(bin[1]), static_cast<double>(bin[2]), static_cast<double>(bin[3]));
    }
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
    static constexpr bool has_stray = false;
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

// Gain ratio compares the cuts of a column by gain.
inline Rule counted_rule(Rule rule) { return rule == Rule::gain_ratio ? Rule::information_gain : rule; }

inline bool has_counter(Rule rule) {
    return rule == Rule::gini || rule == Rule::information_gain || rule == Rule::misclassification ||
           rule == Rule::variance;
}

// Calls act(counter) with the counter that serves a rule and a measure best; a rule without one is not called.
template <class Act>
void with_counter(Rule rule, const Measure& measure, const Act& act) {
    if (!has_counter(rule)) return;
    if (rule == Rule::variance) return measure.even ? act(Sums(measure)) : act(WeightedSums(measure));
    if (!measure.even) return act(WeightedClasses(measure, rule));
    const bool two = measure.n_classes == 2;
    if (measure.n_classes > std::numeric_limits<ManyClasses<Rule::gini>::Item>::max()) return;
    switch (rule) {
        case Rule::gini:
            if (two) return act(TwoClasses<Rule::gini>(measure));
            return measure.n_classes <= few_classes ? act(ManyClasses<Rule::gini, few_classes>(measure))
                                                    : act(ManyClasses<Rule::gini>(measure));
        case Rule::information_gain:
            return two ? act(TwoClasses<Rule::information_gain>(measure))
                       : act(ManyClasses<Rule::information_gain>(measure));
        default:
            return two ? act(TwoClasses<Rule::misclassification>(measure))
                       : act(ManyClasses<Rule::misclassification>(measure));
    }
}

} // namespace tw

// What is counted of classes of rows with weights: rows, then one weight per class.
#pragma once

#include "criterion/counters.hpp"

namespace tw {

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

    explicit WeightedClasses(const Measure& measure) : measure_(&measure), classes_(measure.n_classes) {}

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
    void to_sums(const Word* counter, Sum* sums) const { std::copy_n(counter + 1, classes_, sums); }
    double weight(const Word* counter) const {
        int64_t sum = 0;
        for (int c = 1; c <= classes_; ++c) sum += counter[c];
        return static_cast<double>(sum) * measure_->weight_unit;
    }

protected:
    const Measure* measure_;
    int classes_;
};

} // namespace tw

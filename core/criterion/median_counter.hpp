// What histograms count under the absolute error: rows and their weight. Cuts are scored from the rows themselves, by
// threshold/median_scan.hpp, for medians are no sums.
#pragma once

#include "criterion/moment_counter.hpp"
#include "criterion/running_median.hpp"

namespace tw {

// `Amount` holds weighted sums of targets: 64 bits do where every row weighs one unit.
template <class Amount>
class MedianCounter {
public:
    static constexpr bool is_weighted = !std::is_same_v<Amount, int64_t>;
    struct Weighted {
        int64_t target;
        int64_t weight;
    };
    using Item = std::conditional_t<is_weighted, Weighted, int64_t>;
    using Median = RunningMedian<Item, Amount>;
    using Word = int64_t;
    using Narrow = std::conditional_t<is_weighted, int64_t, uint16_t>;
    static constexpr int fixed = is_weighted ? 2 : 1;
    static constexpr bool is_strict = false, has_deviation = false;

    explicit MedianCounter(const Measure& measure) : measure_(&measure) {}

    int words() const { return fixed; }
    int narrow_words() const { return fixed; }
    double unit() const { return measure_->sum_unit; }
    Item item(int64_t row) const {
        if constexpr (is_weighted) {
            return {measure_->target[row], measure_->weight_of(row)};
        } else {
            return measure_->target[row];
        }
    }
    template <class To>
    void add(To* to, [[maybe_unused]] const Item& item) const {
        ++to[0];
        if constexpr (is_weighted) to[1] += item.weight;
    }
    void widen(Word* to, const Narrow* from) const {
        for (int w = 0; w < fixed; ++w) to[w] += from[w];
    }
    int64_t rows(const Word* counter) const { return counter[0]; }
    int64_t listed(const Word* counter) const { return counter[0]; }
    double weight(const Word* counter) const {
        return static_cast<double>(counter[is_weighted ? 1 : 0]) * measure_->weight_unit;
    }
    void to_sums(const Word* counter, Sum* sums) const { sums[0] = counter[is_weighted ? 1 : 0]; }

private:
    const Measure* measure_;
};
static_assert(TargetCounter<MedianCounter<int64_t>>);
static_assert(TargetCounter<MedianCounter<Sum>>);
static_assert(ScoresRows<MedianCounter<Sum>> && !ScoresRows<MomentCounter>);

} // namespace tw

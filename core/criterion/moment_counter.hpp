// The counter of a numeric target whose rows weigh one (criterion/counters.hpp): what variance needs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "criterion/counters.hpp"

namespace tw {

// A numeric target: rows, their sum in the measure's units, and the sum of squared steps.
class MomentCounter {
public:
    using Word = int64_t;
    using Narrow = uint64_t;
    using Item = int64_t;
    static constexpr int fixed = 3;
    static constexpr bool is_strict = false; // equal targets are rare

    explicit MomentCounter(const Measure& measure) : measure_(&measure), squares_(measure) {}

    int words() const { return 3; }
    double unit() const { return measure_->target_unit * measure_->target_unit; }
    Item item(int64_t row) const { return measure_->target[row]; }
    int narrow_words() const { return 2; } // the sum; rows above squares, which have room for 48 bits
    void add(Word* to, Item item) const {
        ++to[0];
        to[1] += item;
        to[2] += squares_.square(item);
    }
    void add(Narrow* to, Item item) const {
        to[0] += static_cast<Narrow>(item);
        to[1] += (Narrow{1} << 48) + static_cast<Narrow>(squares_.square(item));
    }
    void add_times(Word* to, Item item, uint32_t times) const {
        to[0] += times;
        to[1] += item * times;
        to[2] += squares_.square(item) * times;
    }
    void add_times(Narrow* to, Item item, uint32_t times) const {
        to[0] += static_cast<Narrow>(item) * times;
        to[1] += ((Narrow{1} << 48) + static_cast<Narrow>(squares_.square(item))) * times;
    }
    void widen(Word* to, const Narrow* from) const {
        to[0] += static_cast<Word>(from[1] >> 48);
        to[1] += static_cast<Word>(from[0]);
        to[2] += static_cast<Word>(from[1] & 0xffffffffffffU);
    }
    int64_t rows(const Word* counter) const { return counter[0]; }
    int64_t listed(const Word* counter) const { return counter[0]; }
    void to_sums(const Word* counter, Sum* sums) const { std::copy_n(counter, 2, sums); }
    double weight(const Word* counter) const { return static_cast<double>(counter[0]); }
    static constexpr bool has_deviation = true;
    double size(const Word* counter) const { return weight(counter); }
    double deviation(const Word* bin) const {
        return squares_.deviation(static_cast<double>(bin[0]), static_cast<double>(bin[1]),
                                  static_cast<double>(bin[2]));
    }
    static constexpr double gain_factor = 1;
    double value(const Word* counter, const TargetRange& target) const { return size_and_sum(counter, target).sum; }
    double most_deviation(const Word* bin) const { return deviation(bin); }

    template <class Over>
    double side(const Word* counter, const TargetRange& target, const Over& over) const {
        const double sum = size_and_sum(counter, target).sum;
        return counter[0] > 0 ? sum * over(sum, counter[0]) : 0;
    }

    static constexpr bool is_running = true;
    struct Running {
        int64_t centre, low = 0, high; // sums from the centre

        Running(const MomentCounter&, const Word* total, const TargetRange& target)
            : centre(target.centre), high(total[1] - total[0] * target.centre) {}
        void move(Item item, int64_t times) {
            low += (item - centre) * times;
            high -= (item - centre) * times;
        }
        template <class Over>
        double score(int64_t low_rows, int64_t high_rows, const Over& over) const {
            const double below = static_cast<double>(low), above = static_cast<double>(high);
            return below * over(below, low_rows) + above * over(above, high_rows);
        }
    };

    // Two sides with rows, by one division.
    double score_both(const Word* low, const Word* high, const TargetRange& target) const {
        const SizeAndSum a = size_and_sum(low, target), b = size_and_sum(high, target);
        return (a.sum * a.sum * b.size + b.sum * b.sum * a.size) / (a.size * b.size);
    }
    double bound(const Word* low, const Word* bin, const Word* high, const TargetRange& target, double to_beat) const {
        const double height =
            squares_.height(static_cast<double>(bin[0]), static_cast<double>(bin[1]), static_cast<double>(bin[2]));
        const double centre = static_cast<double>(target.centre);
        return bound_of_sums(target.low - centre, target.high - centre, size_and_sum(low, target),
                             size_and_sum(bin, target), size_and_sum(high, target), height, to_beat);
    }

private:
    static SizeAndSum size_and_sum(const Word* counter, const TargetRange& target) {
        return {static_cast<double>(counter[0]), static_cast<double>(counter[1] - counter[0] * target.centre)};
    }

    const Measure* measure_;
    RoundedSquares squares_;
};
static_assert(TargetCounter<MomentCounter>);
static_assert(ScoresBothSides<MomentCounter>);

} // namespace tw

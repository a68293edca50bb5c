// Counters: what a histogram bin holds for the threshold search, and the score of one side of a cut computed from it.
// The fast form of the mean impurities of criterion.hpp: gain = (score of the sides - score of the node) / weight of
// the node.
//
// The concepts CutCounter and TargetCounter list what a counter has. A bin is Narrow while at most `max_narrow_rows`
// rows are counted; `bound` is an upper bound for any cut inside a bin; `to_sums` returns what was counted as sums
// (measure.hpp), except squares, which are rounded. Where `has_deviation`, a
// score above that of the undivided node is a squared distance (of the sides' means, times n m / (n + m) for sides of
// sizes n and m), and `deviation` bounds the squared distance of any part of a bin's rows from an even share of the
// bin. Scores are convex in the counts of the low side, so over all divisions of a bin they are largest at a corner:
// whole classes on one side.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "criterion/bounds.hpp"
#include "target/measure.hpp"

namespace tw {

constexpr int64_t max_narrow_rows = 32768;

// The counters of one side or bin: on the stack where their number is known.
template <class Counter>
using Words = std::conditional_t<(Counter::fixed > 0), std::array<typename Counter::Word, std::max(1, Counter::fixed)>,
                                 std::vector<typename Counter::Word>>;
template <class Counter>
Words<Counter> zero_words(const Counter& counter) {
    if constexpr (Counter::fixed > 0) {
        return Words<Counter>{};
    } else {
        return Words<Counter>(static_cast<size_t>(counter.words()), 0);
    }
}

// A node's targets, in the measure's units from its offset: the smallest, the largest, and the mean as a whole number,
// from which sums are taken so that close gains remain distinct. Classes do not need it.
struct TargetRange {
    double low = 0, high = 0;
    int64_t centre = 0;
};

// x / n: by division, or for few rows by a table of inverses.
struct ExactDivision {
    template <class Size>
    double operator()(double x, Size n) const {
        return x / static_cast<double>(n);
    }
};
class ReciprocalTable {
public:
    explicit ReciprocalTable(int64_t most) : table_(static_cast<size_t>(most) + 1, 0.0) {
        for (size_t n = 1; n < table_.size(); ++n) table_[n] = 1 / static_cast<double>(n);
    }
    double operator()(double x, int64_t n) const { return x * table_[static_cast<size_t>(n)]; }

private:
    std::vector<double> table_;
};

// A counter of a criterion that has no score of one side: `pair` scores a cut, measured from the undivided node.
template <class C>
concept ScoresPairs = requires(const C& counter, const typename C::Word* from, const TargetRange& target) {
    { counter.pair(from, from, target) } -> std::same_as<double>;
};

// A counter of a criterion whose score does not follow from what bins hold: rows are needed to score a cut.
template <class C>
concept ScoresRows = requires { typename C::Median; };

// What the search for a cut needs: what a row adds (Item), the layout of a bin (Word, words()), the score of a side,
// the bound of a bin, and the unit of scores.
template <class C>
concept CutCounter =
    requires(const C& counter, typename C::Word* to, const typename C::Word* from, const typename C::Item& item) {
        { C::fixed } -> std::convertible_to<int>;
        { C::is_strict } -> std::convertible_to<bool>;
        { C::has_deviation } -> std::convertible_to<bool>;
        { counter.words() } -> std::same_as<int>;
        { counter.unit() } -> std::same_as<double>;
        { counter.add(to, item) } -> std::same_as<void>;
        { counter.rows(from) } -> std::same_as<int64_t>;
        { counter.listed(from) } -> std::same_as<int64_t>;
        { counter.weight(from) } -> std::same_as<double>;
    } &&
    (ScoresRows<C> ||
     requires(const C& counter, const typename C::Word* from, const TargetRange& target) {
         { counter.bound(from, from, from, target, 0.0) } -> std::same_as<double>;
     }) &&
    (ScoresRows<C> || ScoresPairs<C> ||
     requires(const C& counter, const typename C::Word* from, const TargetRange& target, const ReciprocalTable& table) {
         { counter.side(from, target, ExactDivision{}) } -> std::same_as<double>;
         { counter.side(from, target, table) } -> std::same_as<double>;
     }) &&
    (!C::has_deviation || requires(const C& counter, const typename C::Word* from) {
        { counter.size(from) } -> std::same_as<double>;
        { counter.deviation(from) } -> std::same_as<double>;
    });

// A counter that scores two sides with rows faster than one by one.
template <class C>
concept ScoresBothSides = requires(const C& counter, const typename C::Word* from, const TargetRange& target) {
    { counter.score_both(from, from, target) } -> std::same_as<double>;
};

// A counter of the target: it reads the items of rows itself, counts them in narrow bins and returns sums.
template <class C>
concept TargetCounter = CutCounter<C> && requires(const C& counter, typename C::Word* to, const typename C::Word* from,
                                                  typename C::Narrow* narrow, const typename C::Item& item, Sum* sums) {
    { counter.item(int64_t{}) } -> std::same_as<typename C::Item>;
    { counter.narrow_words() } -> std::same_as<int>;
    { counter.add(narrow, item) } -> std::same_as<void>;
    { counter.widen(to, narrow) } -> std::same_as<void>;
    { counter.to_sums(from, sums) } -> std::same_as<void>;
};

// Two classes in one word: rows in the low half, rows of the second class in the high half.
template <Criterion criterion>
    requires CountedByClass<criterion>
class TwoClassCounter {
public:
    using Word = uint64_t;
    using Narrow = uint32_t;
    using Item = uint8_t;
    static constexpr int fixed = 1;
    // Gains are strictly convex, so cuts between rows of one class need no look.
    static constexpr bool is_strict = criterion != Criterion::misclassification;

    explicit TwoClassCounter(const Measure& measure)
        : measure_(&measure), log_table_(criterion == Criterion::information_gain, measure.rows) {}

    int words() const { return 1; }
    int narrow_words() const { return 1; }
    double unit() const { return 1; } // of gains, in units of the criterion times weight
    Item item(int64_t row) const { return static_cast<Item>(measure_->classes[row]); }
    void add(Word* to, Item item) const { *to += 1 + (static_cast<Word>(item) << 32); }
    void add(Narrow* to, Item item) const { *to += 1 + (static_cast<Narrow>(item) << 16); }
    void add_times(Word* to, Item item, uint32_t times) const { *to += times * (1 + (static_cast<Word>(item) << 32)); }
    void add_times(Narrow* to, Item item, uint32_t times) const {
        *to += times * (1 + (static_cast<Narrow>(item) << 16));
    }
    void widen(Word* to, const Narrow* from) const {
        *to += (*from & 0xffffU) + (static_cast<Word>(*from >> 16) << 32);
    }
    int64_t rows(const Word* counter) const { return static_cast<int64_t>(*counter & 0xffffffffU); }
    void to_sums(const Word* counter, Sum* sums) const {
        sums[1] = static_cast<Sum>(*counter >> 32);
        sums[0] = rows(counter) - sums[1];
    }
    int64_t listed(const Word* counter) const { return rows(counter); } // rows whose value counts as seen
    double weight(const Word* counter) const { return static_cast<double>(rows(counter)); }
    static constexpr bool has_deviation = criterion == Criterion::gini;
    double size(const Word* counter) const { return weight(counter); }
    double deviation(const Word* bin) const {
        const double n = size(bin), second = static_cast<double>(*bin >> 32), product = second * (n - second);
        return std::min(product / 2, 2 * (product / n) * (product / n));
    }
    static constexpr double gain_factor = 2; // both classes stray by the same
    double value(const Word* counter, const TargetRange&) const { return static_cast<double>(*counter >> 32); }
    double most_deviation(const Word* bin) const { return size(bin) * size(bin) / 8; }

    template <class Over>
    double side(const Word* counter, const TargetRange&, const Over& over) const {
        const int64_t n = rows(counter), second = static_cast<int64_t>(*counter >> 32);
        return score(n - second, second, over);
    }
    double bound(const Word* low, const Word* bin, const Word* high, const TargetRange&, double) const {
        const int64_t low_second = *low >> 32, low_first = rows(low) - low_second;
        const int64_t bin_second = *bin >> 32, bin_first = rows(bin) - bin_second;
        const int64_t high_second = *high >> 32, high_first = rows(high) - high_second;
        return std::max(score_both(low_first + bin_first, low_second, high_first, high_second + bin_second),
                        score_both(low_first, low_second + bin_second, high_first + bin_first, high_second));
    }

private:
    // The gain of two sides; for gini with one division, at most a little more than the sum of both.
    double score_both(int64_t low_first, int64_t low_second, int64_t high_first, int64_t high_second) const {
        const int64_t low = low_first + low_second, high = high_first + high_second;
        if (criterion != Criterion::gini || low == 0 || high == 0) {
            return score(low_first, low_second, ExactDivision{}) + score(high_first, high_second, ExactDivision{});
        }
        const auto square = [](int64_t n) { return static_cast<double>(n) * static_cast<double>(n); };
        const double n = static_cast<double>(low), m = static_cast<double>(high);
        return ((square(low_first) + square(low_second)) * m + (square(high_first) + square(high_second)) * n) /
               (n * m) * (1 + 1e-14);
    }

    template <class Over>
    double score(int64_t first, int64_t second, const Over& over) const {
        return score_of_side<criterion>(2, [&](int c) { return c == 0 ? first : second; }, log_table_, over);
    }

    const Measure* measure_;
    LogTable log_table_;
};

static_assert(TargetCounter<TwoClassCounter<Criterion::gini>>);
static_assert(TargetCounter<TwoClassCounter<Criterion::information_gain>>);
static_assert(TargetCounter<TwoClassCounter<Criterion::misclassification>>);
static_assert(max_narrow_rows < 1 << 16); // both halves of a narrow word, and the rows of a narrow MomentCounter

// One word per class; for few classes a fixed number of words, some of them never used.
constexpr int max_fixed_classes = 8;
template <Criterion criterion, int lanes = 0>
    requires CountedByClass<criterion>
class ClassCounter {
public:
    using Word = uint32_t;
    using Narrow = uint16_t;
    using Item = uint16_t;
    static constexpr int fixed = lanes;
    static constexpr bool is_strict = criterion != Criterion::misclassification;

    explicit ClassCounter(const Measure& measure)
        : measure_(&measure),
          classes_(measure.n_classes),
          log_table_(criterion == Criterion::information_gain, measure.rows) {}

    int words() const { return lanes > 0 ? lanes : classes_; }
    int narrow_words() const { return words(); }
    double unit() const { return 1; }
    Item item(int64_t row) const { return static_cast<Item>(measure_->classes[row]); }
    void add(Word* to, Item item) const { ++to[item]; }
    void add(Narrow* to, Item item) const { ++to[item]; }
    void add_times(Word* to, Item item, uint32_t times) const { to[item] += times; }
    void add_times(Narrow* to, Item item, uint32_t times) const { to[item] = static_cast<Narrow>(to[item] + times); }
    void widen(Word* to, const Narrow* from) const {
        for (int c = 0; c < words(); ++c) to[c] += from[c];
    }
    int64_t rows(const Word* counter) const {
        int64_t n = 0;
        for (int c = 0; c < words(); ++c) n += counter[c];
        return n;
    }
    void to_sums(const Word* counter, Sum* sums) const { std::copy_n(counter, classes_, sums); }
    int64_t listed(const Word* counter) const { return rows(counter); }
    double weight(const Word* counter) const { return static_cast<double>(rows(counter)); }
    static constexpr bool has_deviation = criterion == Criterion::gini;
    double size(const Word* counter) const { return weight(counter); }
    double deviation(const Word* bin) const {
        return deviation_of_classes(words(), size(bin), [bin](int c) { return static_cast<double>(bin[c]); });
    }

    template <class Over>
    double side(const Word* counter, const TargetRange&, const Over& over) const {
        return score_of_side<criterion>(words(), [counter](int c) { return counter[c]; }, log_table_, over);
    }
    double bound(const Word* low, const Word* bin, const Word* high, const TargetRange&, double to_beat) const {
        const auto count = [](const Word* counter) {
            return [counter](int c) { return static_cast<double>(counter[c]); };
        };
        const auto log = [this](double w) { return log_table_.of_weight(w); };
        return bound_of_classes<criterion>(words(), count(low), count(bin), count(high), to_beat, log);
    }

    // Gini's sums of squares as rows come over one by one to the low side: no look at the other classes is needed.
    static constexpr bool is_running = criterion == Criterion::gini;
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
        void move(Item item, int64_t times) {
            low_squares += (2 * low[item] + times) * times;
            high_squares -= (2 * high[item] - times) * times;
            low[item] += times;
            high[item] -= times;
        }
    };

private:
    const Measure* measure_;
    int classes_;
    LogTable log_table_;
};

static_assert(TargetCounter<ClassCounter<Criterion::gini, max_fixed_classes>>);
static_assert(TargetCounter<ClassCounter<Criterion::gini>>);
static_assert(TargetCounter<ClassCounter<Criterion::information_gain>>);
static_assert(TargetCounter<ClassCounter<Criterion::misclassification>>);

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

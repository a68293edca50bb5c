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

// A counter that can keep the sums of both sides while rows come over to the low side one by one, which scores a cut
// faster than two sides that are counted (SortedScan).
template <class C>
concept ScoresRunning = C::is_running && requires(typename C::Running running, const ReciprocalTable& table) {
    { running.score(int64_t{}, int64_t{}, table) } -> std::same_as<double>;
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
template <Criterion criterion, std::unsigned_integral Whole = uint64_t>
    requires CountedByClass<criterion>
class TwoClassCounter {
public:
    using Word = Whole;
    using Narrow = uint32_t;
    template <class W>
    static constexpr int half = std::numeric_limits<W>::digits / 2;
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
    template <std::unsigned_integral W>
    void add(W* to, Item item) const {
        *to += 1 + (static_cast<W>(item) << half<W>);
    }
    template <std::unsigned_integral W>
    void add_times(W* to, Item item, uint32_t times) const {
        *to += times * (1 + (static_cast<W>(item) << half<W>));
    }
    void widen(Word* to, const Narrow* from) const {
        *to += (*from & 0xffffU) + (static_cast<Word>(*from >> 16) << half<Word>);
    }
    int64_t rows(const Word* counter) const { return static_cast<int64_t>(*counter & ((Word{1} << half<Word>)-1)); }
    void to_sums(const Word* counter, Sum* sums) const {
        sums[1] = second_of(counter);
        sums[0] = rows(counter) - sums[1];
    }
    int64_t listed(const Word* counter) const { return rows(counter); } // rows whose value counts as seen
    double weight(const Word* counter) const { return static_cast<double>(rows(counter)); }
    static constexpr bool has_deviation = criterion == Criterion::gini;
    double size(const Word* counter) const { return weight(counter); }
    double deviation(const Word* bin) const {
        const double n = size(bin), second = static_cast<double>(second_of(bin)), product = second * (n - second);
        return std::min(product / 2, 2 * (product / n) * (product / n));
    }
    static constexpr double gain_factor = 2; // both classes stray by the same
    double value(const Word* counter, const TargetRange&) const { return static_cast<double>(second_of(counter)); }
    double most_deviation(const Word* bin) const { return size(bin) * size(bin) / 8; }

    template <class Over>
    double side(const Word* counter, const TargetRange&, const Over& over) const {
        const int64_t n = rows(counter), second = second_of(counter);
        return score(n - second, second, over);
    }

    static constexpr bool is_running = true;
    struct Running {
        const TwoClassCounter& counter;
        int64_t low = 0, high; // rows of the second class

        Running(const TwoClassCounter& of, const Word* total, const TargetRange&)
            : counter(of), high(second_of(total)) {}
        void move(Item item, int64_t times) {
            low += item * times;
            high -= item * times;
        }
        template <class Over>
        double score(int64_t low_rows, int64_t high_rows, const Over& over) const {
            return counter.score(low_rows - low, low, over) + counter.score(high_rows - high, high, over);
        }
    };

    double bound(const Word* low, const Word* bin, const Word* high, const TargetRange&, double) const {
        const int64_t low_second = second_of(low), low_first = rows(low) - low_second;
        const int64_t bin_second = second_of(bin), bin_first = rows(bin) - bin_second;
        const int64_t high_second = second_of(high), high_first = rows(high) - high_second;
        return std::max(score_both(low_first + bin_first, low_second, high_first, high_second + bin_second),
                        score_both(low_first, low_second + bin_second, high_first + bin_first, high_second));
    }

private:
    static int64_t second_of(const Word* counter) { return static_cast<int64_t>(*counter >> half<Word>); }
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

    // Gini's sums of squares: no look at the other classes is needed.
    static constexpr bool is_running = criterion == Criterion::gini;
    struct Running {
        std::conditional_t<(lanes > 0), std::array<int64_t, static_cast<size_t>(lanes)>, std::vector<int64_t>> low{},
            high{}; // rows per class
        int64_t low_squares = 0, high_squares = 0;

        Running(const ClassCounter& counter, const Word* total, const TargetRange&) {
            if constexpr (lanes == 0) {
                low.resize(static_cast<size_t>(counter.words()));
                high.resize(static_cast<size_t>(counter.words()));
            }
            std::copy_n(total, counter.words(), high.begin());
            for (const int64_t n : high) high_squares += n * n;
        }
        void move(Item item, int64_t times) {
            low_squares += (2 * low[item] + times) * times;
            high_squares -= (2 * high[item] - times) * times;
            low[item] += times;
            high[item] -= times;
        }
        template <class Over>
        double score(int64_t low_rows, int64_t high_rows, const Over& over) const {
            return over(static_cast<double>(low_squares), low_rows) +
                   over(static_cast<double>(high_squares), high_rows);
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

} // namespace tw

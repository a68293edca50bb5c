// Rows that are in the sample several times: listed once, counted as often as they are drawn.
//
// A bootstrap sample draws two of three rows, so that counting, sorting and partitioning take a third less.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <numeric>

#include "criterion/moment_counter.hpp"

namespace tw {

constexpr int32_t max_repeats = 16; // of a row; more would leave narrow counts room for few rows

// Rows of the sample, each as often as it is drawn.
inline int64_t rows_drawn(const Measure& measure) {
    return std::accumulate(measure.repeats.begin(), measure.repeats.end(), int64_t{0});
}

// Two classes of so few rows fit half a word: a histogram takes half the memory, and is counted without narrow bins.
constexpr int64_t max_rows_in_half_words = 0xffff;
using FewOfTwoClasses = TwoClassCounter<Criterion::gini, uint32_t>;

template <class Base>
class Repeated : public Base {
public:
    using typename Base::Narrow;
    using typename Base::Word;
    struct Item {
        typename Base::Item target;
        uint8_t times;
        friend bool operator==(const Item&, const Item&) = default;
    };

    explicit Repeated(const Measure& measure) : Base(measure), repeats_(measure.repeats.data()) {
        const int64_t rows = rows_drawn(measure);
        for (const int32_t repeats : measure.repeats) most_ = std::max(most_, repeats);
        // So many entries a narrow bin has room for.
        max_narrow_entries_ = rows <= max_narrow_rows ? max_narrow_rows : max_narrow_rows / most_;
    }

    Item item(int64_t row) const { return {Base::item(row), static_cast<uint8_t>(repeats_[row])}; }
    template <class To> // Word or Narrow
    void add(To* to, const Item& item) const {
        Base::add_times(to, item.target, item.times);
    }
    // Rows whose value counts as seen: no fewer than entries.
    int64_t listed(const Word* counter) const { return Base::rows(counter); }

    int32_t most_repeats() const { return most_; }
    int64_t max_narrow_entries() const { return max_narrow_entries_; }

private:
    const int32_t* repeats_;
    int32_t most_ = 1;
    int64_t max_narrow_entries_ = 0;
};

// What an item says of its row: its target, how often it counts.
template <class Item>
concept RepeatedItem = requires(const Item& item) { item.times; };
template <class Item>
concept WeightedItem = requires(const Item& item) { item.weight; };

template <class Item>
const auto& target_of(const Item& item) {
    if constexpr (RepeatedItem<Item>) {
        return item.target;
    } else {
        return item;
    }
}
template <class Item>
int64_t times_of([[maybe_unused]] const Item& item) {
    if constexpr (RepeatedItem<Item>) {
        return item.times;
    } else {
        return 1;
    }
}
// Rows without weights are counted, by class or with the sum of their numbers.
template <class Counter>
constexpr bool sums_numbers = std::derived_from<Counter, MomentCounter>;
template <class Counter>
constexpr bool counts_classes = !WeightedItem<typename Counter::Item> && !sums_numbers<Counter> && !ScoresRows<Counter>;

template <class Counter>
int64_t max_narrow_entries(const Counter& counter) {
    if constexpr (RepeatedItem<typename Counter::Item>) {
        return counter.max_narrow_entries();
    } else {
        return max_narrow_rows;
    }
}
template <class Counter>
int64_t most_repeats(const Counter& counter) {
    if constexpr (RepeatedItem<typename Counter::Item>) {
        return counter.most_repeats();
    } else {
        return 1;
    }
}

static_assert(TargetCounter<Repeated<FewOfTwoClasses>>);
static_assert(TargetCounter<Repeated<TwoClassCounter<Criterion::gini>>>);
static_assert(TargetCounter<Repeated<ClassCounter<Criterion::gini, max_fixed_classes>>>);
static_assert(TargetCounter<Repeated<MomentCounter>>);

// Calls act(counter) with the counter of a sample that is listed once; false where there is none.
template <class Act>
bool with_repeated_counter(Criterion criterion, const Measure& measure, const Act& act) {
    const int32_t* end = measure.repeats.end();
    if (measure.repeats.empty() || !measure.weight.empty() || !measure.unit_weights) return false;
    if (std::any_of(measure.repeats.begin(), end, [](int32_t repeats) { return repeats > max_repeats; })) return false;
    if (std::none_of(measure.repeats.begin(), end, [](int32_t repeats) { return repeats > 1; })) return false;
    if (criterion == Criterion::gini && measure.n_classes == 2) {
        if (rows_drawn(measure) <= max_rows_in_half_words) {
            act(Repeated<FewOfTwoClasses>(measure));
        } else {
            act(Repeated<TwoClassCounter<Criterion::gini>>(measure));
        }
    } else if (criterion == Criterion::gini && measure.n_classes > 2 && measure.n_classes <= max_fixed_classes) {
        act(Repeated<ClassCounter<Criterion::gini, max_fixed_classes>>(measure));
    } else if (criterion == Criterion::variance) {
        act(Repeated<MomentCounter>(measure));
    } else {
        return false;
    }
    return true;
}

} // namespace tw

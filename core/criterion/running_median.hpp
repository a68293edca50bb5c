// Sums of absolute deviations from the median, kept while rows come and go.
//
// Rows are numbered in the order of their targets, equal ones in any order, so that a set of rows is a bit for each and
// its median moves along the bits. Numbers are integers: the sums do not depend on the order in which rows came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bit_words.hpp"

namespace tw {

// A set of numbers below a limit: a bit for each, and a bit for each word of them that is not empty.
class RowSet {
public:
    RowSet(size_t limit, bool full) : limit_(limit), bits_(words_for(limit), 0), words_(words_for(bits_.size()), 0) {
        if (!full) return;
        for (size_t word = 0; word < limit / 64; ++word) bits_[word] = ~uint64_t{0};
        bits_[limit / 64] = bits_before(limit);
        for (size_t word = 0; word < bits_.size(); ++word) {
            if (bits_[word] != 0) set_bit(words_, word);
        }
    }

    size_t limit() const { return limit_; }
    bool has(size_t number) const { return has_bit(bits_, number); }
    void insert(size_t number) {
        set_bit(bits_, number);
        set_bit(words_, number / 64);
    }
    void erase(size_t number) {
        const size_t word = number / 64;
        bits_[word] &= ~(uint64_t{1} << number % 64);
        if (bits_[word] == 0) words_[word / 64] &= ~(uint64_t{1} << word % 64);
    }

    // The next number of the set, from this one on or before it; the limit: there is none.
    size_t first_from(size_t number) const {
        size_t word = number / 64;
        if (const uint64_t left = bits_[word] & ~bits_before(number)) return least_of(word, left);
        if (++word >= bits_.size()) return limit_;
        uint64_t left = words_[word / 64] & ~bits_before(word);
        for (size_t group = word / 64; left == 0; left = words_[group]) {
            if (++group == words_.size()) return limit_;
            word = group * 64;
        }
        word = least_of(word / 64, left);
        return least_of(word, bits_[word]);
    }
    size_t last_before(size_t number) const {
        size_t word = number / 64;
        if (const uint64_t left = bits_[word] & bits_before(number)) return largest_of(word, left);
        uint64_t left = words_[word / 64] & bits_before(word);
        for (size_t group = word / 64; left == 0; left = words_[group]) {
            if (group == 0) return limit_;
            word = --group * 64;
        }
        word = largest_of(word / 64, left);
        return largest_of(word, bits_[word]);
    }

private:
    size_t limit_;
    std::vector<uint64_t> bits_, words_;
};

// `Amount`: an integer that holds weighted sums of targets.
template <class Item, class Amount>
class RunningMedian {
public:
    static int64_t target_of(const Item& item) {
        if constexpr (requires { item.target; })
            return item.target;
        else
            return item;
    }
    static int64_t weight_of([[maybe_unused]] const Item& item) {
        if constexpr (requires { item.weight; })
            return item.weight;
        else
            return 1;
    }

    // Of no row, or of all. `items`: of all rows there are, by rising target.
    RunningMedian(std::span<const Item> items, bool all)
        : items_(items), rows_(items.size(), all), at_(items.size() / 2) {
        if (!all) return;
        for (size_t row = 0; row < items.size(); ++row) {
            if (row == at_) {
                weight_below_ = weight_;
                sum_below_ = sum_;
            }
            weight_ += weight_of(items[row]);
            sum_ += amount_of(row);
        }
    }

    void insert(size_t row) {
        rows_.insert(row);
        change(row, 1);
    }
    void erase(size_t row) {
        rows_.erase(row);
        change(row, -1);
    }

    // The weighted sum of absolute deviations from the median.
    Amount deviations() {
        if (weight_ == 0) return 0;
        find_median();
        // What lies above less what lies below, measured from the median; neither sum can overflow.
        return static_cast<Amount>(target_of(items_[at_])) * (2 * weight_below_ - weight_) +
               ((sum_ - sum_below_) - sum_below_);
    }

private:
    Amount amount_of(size_t row) const { return static_cast<Amount>(target_of(items_[row])) * weight_of(items_[row]); }
    void change(size_t row, int64_t sign) {
        const int64_t weight = sign * weight_of(items_[row]);
        const Amount amount = static_cast<Amount>(sign) * amount_of(row);
        weight_ += weight;
        sum_ += amount;
        if (row >= at_) return;
        weight_below_ += weight;
        sum_below_ += amount;
    }

    // The lower median: the first row up to which at least half of the weight lies.
    void find_median() {
        if (!rows_.has(at_)) {
            const size_t next = rows_.first_from(at_);
            if (next == rows_.limit())
                step_down();
            else
                at_ = next;
        }
        while (2 * (weight_below_ + weight_of(items_[at_])) < weight_) {
            weight_below_ += weight_of(items_[at_]);
            sum_below_ += amount_of(at_);
            at_ = rows_.first_from(at_ + 1);
        }
        while (2 * weight_below_ >= weight_) step_down();
    }
    void step_down() {
        at_ = rows_.last_before(at_);
        weight_below_ -= weight_of(items_[at_]);
        sum_below_ -= amount_of(at_);
    }

    std::span<const Item> items_;
    RowSet rows_;
    size_t at_; // the median, once it is found; what lies before it is summed up apart
    int64_t weight_ = 0, weight_below_ = 0;
    Amount sum_ = 0, sum_below_ = 0;
};

} // namespace tw

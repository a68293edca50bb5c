// Sweeping: the best cut of a coded column at one node, from its histogram and, where that is not enough, its rows.
//
// Comes in: a node's rows, what each adds, and its histogram. Goes out: for every column the cut an exhaustive search
// would find. Always holds: only bins that could hide a better cut than `to_beat` are looked into.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "coding.hpp"
#include "cut.hpp"

namespace tw {

inline void call_early([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#endif
}
constexpr size_t look_ahead = 16; // rows whose codes are called into cache early

// A cut between bins: everything up to bin `last` is low.
struct BinCut {
    double merit = nothing;
    int last = -1;
    int64_t low_rows = 0;
};

template <class Counter>
class Sweep {
public:
    using Word = typename Counter::Word;
    using Item = typename Counter::Item;

    Sweep(const Counter& counter, const Table& table, const CodedTable& coded, std::span<const int> columns,
          std::span<const uint32_t> rows, std::span<const Item> items, const Word* histogram, bool places_missing,
          Account* account = nullptr)
        : counter_(counter),
          table_(table),
          coded_(coded),
          columns_(columns),
          rows_(rows),
          items_(items),
          histogram_(histogram),
          places_missing_(places_missing),
          words_(static_cast<size_t>(counter.words())),
          total_(no_words(counter)),
          zoomed_rows_(account ? &account->zoomed_rows : nullptr) {
        const CodedColumn& first = coded.columns()[0];
        const size_t cells = static_cast<size_t>(first.bins + (first.gaps ? 1 : 0)) * words_;
        for (size_t cell = 0; cell < cells; ++cell) total_[cell % words_] += histogram[cell];
    }

    const Words<Counter>& total() const { return total_; }

    Scale<Counter> scale(const Yardstick& node, size_t which) const {
        const CodedColumn& column = this->column(which);
        const Word* missing = column.gaps ? bins(which) + static_cast<size_t>(column.bins) * words_ : nullptr;
        return Scale<Counter>(counter_, node, total_.data(), missing, places_missing_);
    }

    // The best cut between bins.
    Cut cut_between(const Yardstick& node, size_t which, BinCut& coarse) const {
        const CodedColumn& column = this->column(which);
        const Word* bin = bins(which);
        Scale<Counter> scale = this->scale(node, which);
        Words<Counter> low = no_words(counter_);
        int64_t low_rows = 0;
        bool several = false;
        for (int b = 0; b < column.bins; ++b, bin += words_) {
            if (counter_.listed(bin) == 0) continue;
            for (size_t w = 0; w < words_; ++w) low[w] += bin[w];
            low_rows += counter_.rows(bin);
            if (low_rows == scale.known_rows()) break;
            several = true;
            const double merit = scale.of(low.data(), low_rows, Divide{});
            if (node.beats(merit, coarse.merit)) coarse = {merit, b, low_rows};
        }
        Cut cut;
        cut.merit = coarse.merit;
        cut.low_rows = coarse.low_rows;
        cut.gaps = scale.gaps();
        cut.constant = !several && column.exact && !(scale.gaps() && places_missing_);
        if (const double apart = scale.of_missing(); node.beats(apart, cut.merit)) {
            cut.merit = apart;
            cut.low_rows = 0;
        }
        return cut;
    }

    // Looks inside the bins where a cut as good as `to_beat` could hide, and gives the better of that and the coarse
    // cut.
    Cut zoom(const Yardstick& node, size_t which, const Cut& coarse_cut, const BinCut& coarse, double to_beat) const {
        const CodedColumn& column = this->column(which);
        if (column.exact) return coarse_cut;
        Scale<Counter> scale = this->scale(node, which);
        std::array<int16_t, 256> open;
        open.fill(-1);
        std::vector<Words<Counter>> before;
        const int64_t inside_rows = open_bins(node, scale, column, bins(which), to_beat, open, before);
        if (before.empty()) return coarse_cut;
        if (zoomed_rows_) *zoomed_rows_ += inside_rows;
        const std::vector<Inside> inside = rows_inside(which, open, inside_rows);
        Cut finer;
        finer.gaps = scale.gaps();
        int finer_bin = 256;
        Words<Counter> low = no_words(counter_);
        for (size_t i = 0; i + 1 < inside.size(); ++i) {
            const Inside &here = inside[i], &next = inside[i + 1];
            if (i == 0 || inside[i - 1].bin != here.bin) low = before[static_cast<size_t>(open[here.bin])];
            counter_.add(low.data(), items_[here.at]);
            if (next.bin != here.bin || next.value == here.value) continue;
            const int64_t low_rows = counter_.rows(low.data());
            const double merit = scale.of(low.data(), low_rows, Divide{});
            if (!node.beats(merit, finer.merit)) continue;
            finer.merit = merit;
            finer.low_rows = low_rows;
            finer.below = here.value;
            finer.above = next.value;
            finer_bin = here.bin;
        }
        // Of two equal cuts the lower; a cut inside a bin is lower than the cut at the bin's end.
        const bool finer_is_lower = coarse_cut.low_rows == 0 || finer_bin <= coarse.last;
        const bool take =
            finer_is_lower ? !node.beats(coarse_cut.merit, finer.merit) : node.beats(finer.merit, coarse_cut.merit);
        return finer.found() && take ? finer : coarse_cut;
    }

    // The values on both sides of a cut between bins.
    void place(size_t which, const BinCut& coarse, Cut& cut) const {
        const Numbers& numbers = this->numbers(which);
        const size_t at = static_cast<size_t>(columns_[which]);
        int next = coarse.last + 1;
        while (counter_.listed(bins(which) + static_cast<size_t>(next) * words_) == 0) ++next;
        cut.below = -std::numeric_limits<double>::infinity();
        cut.above = std::numeric_limits<double>::infinity();
        const uint8_t* codes = coded_.column(at);
        for (const uint32_t row : rows_) {
            const int code = codes[row];
            if (code == coarse.last) cut.below = std::max(cut.below, numbers[row]);
            if (code == next) cut.above = std::min(cut.above, numbers[row]);
        }
    }

private:
    struct Inside {
        double value;
        int32_t bin;
        uint32_t at;
    };

    const CodedColumn& column(size_t which) const { return coded_.columns()[static_cast<size_t>(columns_[which])]; }
    const Numbers& numbers(size_t which) const { return table_.columns[column(which).column].numbers; }
    const Word* bins(size_t which) const { return histogram_ + static_cast<size_t>(column(which).start) * words_; }

    // Marks the bins worth looking into and keeps what lies below each. Returns how many rows they hold.
    int64_t open_bins(const Yardstick& node, Scale<Counter>& scale, const CodedColumn& column, const Word* bin,
                      double to_beat, std::array<int16_t, 256>& open, std::vector<Words<Counter>>& before) const {
        const double least = to_beat - node.rounding;
        Words<Counter> low = no_words(counter_);
        int64_t low_rows = 0, inside = 0;
        for (int b = 0; b < column.bins; ++b, bin += words_) {
            const int64_t listed = counter_.listed(bin);
            if (listed == 0) continue;
            if (listed >= 2 && scale.bound(low.data(), bin, least) >= least) {
                open[static_cast<size_t>(b)] = static_cast<int16_t>(before.size());
                before.push_back(low);
                inside += listed;
            }
            for (size_t w = 0; w < words_; ++w) low[w] += bin[w];
            low_rows += counter_.rows(bin);
            if (low_rows == scale.known_rows()) break;
        }
        return inside;
    }

    std::vector<Inside> rows_inside(size_t which, const std::array<int16_t, 256>& open, int64_t count) const {
        const Numbers numbers = this->numbers(which);
        const size_t at = static_cast<size_t>(columns_[which]);
        std::vector<Inside> inside;
        inside.reserve(static_cast<size_t>(count));
        const uint32_t* row = rows_.data();
        const uint8_t* codes = coded_.column(at);
        for (size_t i = 0; i < rows_.size(); ++i) {
            const int bin = codes[row[i]];
            if (open[static_cast<size_t>(bin)] >= 0) inside.push_back({0, bin, static_cast<uint32_t>(i)});
        }
        for (size_t i = 0; i < inside.size(); ++i) {
            call_early(numbers.address(row[inside[std::min(i + look_ahead, inside.size() - 1)].at]));
            inside[i].value = numbers[row[inside[i].at]];
        }
        std::sort(inside.begin(), inside.end(), [](const Inside& a, const Inside& b) { return a.value < b.value; });
        return inside;
    }

    const Counter& counter_;
    const Table& table_;
    const CodedTable& coded_;
    std::span<const int> columns_;
    std::span<const uint32_t> rows_;
    std::span<const Item> items_;
    const Word* histogram_;
    bool places_missing_;
    size_t words_;
    Words<Counter> total_;
    std::atomic<int64_t>* zoomed_rows_;
};

// Adds rows to a histogram of `words` each bin; at most `narrow_rows` of them if it is narrow.
template <class Counter, class Word>
void count_rows(const Counter& counter, const CodedTable& coded, std::span<const uint32_t> rows,
                std::span<const typename Counter::Item> items, size_t words, Word* histogram) {
    constexpr size_t near = 40960; // bytes of histogram that stay in the nearest cache
    const std::vector<CodedColumn>& columns = coded.columns();
    std::vector<size_t> start;
    for (const CodedColumn& column : columns) start.push_back(static_cast<size_t>(column.start) * words);
    start.push_back(static_cast<size_t>(coded.bins()) * words);
    const uint32_t* row = rows.data();
    const typename Counter::Item* item = items.data();
    for (size_t first = 0; first < columns.size();) {
        size_t last = first + 1;
        while (last < columns.size() && (start[last + 1] - start[first]) * sizeof(Word) <= near) ++last;
        for (size_t i = 0; i < rows.size(); ++i) {
            call_early(coded.row(row[std::min(i + look_ahead, rows.size() - 1)]) + first);
            const uint8_t* code = coded.row(row[i]);
            const typename Counter::Item added = item[i];
            for (size_t c = first; c < last; ++c) counter.add(histogram + start[c] + code[c] * words, added);
        }
        first = last;
    }
}

} // namespace tw

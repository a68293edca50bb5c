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
#include "inside.hpp"

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
    double highest = nothing; // merit of any cut between bins, also of those whose sides are too small
    bool several = false;     // known rows lie in more than one bin
};

// A cut, and what lies below it: nothing where it is not placed, for it lies between bins.
template <class Counter>
struct PlacedCut {
    Cut cut;
    Words<Counter> low{};
};

// A bin worth looking into: what lies below it, and where its rows stand among those of all such bins.
template <class Counter>
struct OpenBin {
    int bin;
    size_t first;
    int64_t rows;
    Words<Counter> below;
};

// What a histogram alone can tell: cuts between bins, and which bins could hide a better one.
template <class Counter>
class CoarseSweep {
public:
    using Word = typename Counter::Word;

    CoarseSweep(const Counter& counter, const std::vector<CodedColumn>& coded, std::span<const int> columns,
                const Word* histogram, bool places_missing)
        : counter_(counter),
          coded_columns_(coded),
          columns_(columns),
          histogram_(histogram),
          places_missing_(places_missing),
          words_(static_cast<size_t>(counter.words())),
          total_(no_words(counter)) {
        const CodedColumn& first = coded[0];
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
        for (int b = 0; b < column.bins; ++b, bin += words_) {
            if (counter_.listed(bin) == 0) continue;
            for (size_t w = 0; w < words_; ++w) low[w] += bin[w];
            low_rows += counter_.rows(bin);
            if (low_rows == scale.known_rows()) break;
            coarse.several = true;
            const double merit = scale.of(low.data(), low_rows, Divide{});
            coarse.highest = std::max(coarse.highest, merit > nothing ? merit : scale.at_end(low.data()));
            if (!node.beats(merit, coarse.merit)) continue;
            coarse.merit = merit;
            coarse.last = b;
            coarse.low_rows = low_rows;
        }
        Cut cut;
        cut.merit = coarse.merit;
        cut.low_rows = coarse.low_rows;
        cut.gaps = scale.gaps();
        // Known rows of one bin may still differ; whoever looks into it settles that.
        cut.constant =
            !coarse.several && (column.exact || scale.known_rows() < 2) && !(scale.gaps() && places_missing_);
        if (const double apart = scale.of_missing(); node.beats(apart, cut.merit)) {
            cut.merit = apart;
            cut.low_rows = 0;
        }
        return cut;
    }

    // The bins where a cut of merit `least` could hide, if no cut between bins has more than `highest`; `open` gives
    // the place of each of them.
    std::vector<OpenBin<Counter>> open_bins(Scale<Counter>& scale, size_t which, double least, double highest,
                                            std::array<int16_t, 256>& open) const {
        std::vector<OpenBin<Counter>> found;
        size_t first = 0;
        const std::span<const Word> all(bins(which), static_cast<size_t>(column(which).bins) * words_);
        find_open(counter_, scale, all, no_words(counter_), least, highest, [&](size_t b, const Words<Counter>& below) {
            open[b] = static_cast<int16_t>(found.size());
            const int64_t rows = counter_.listed(&all[b * words_]);
            found.push_back({static_cast<int>(b), first, rows, below});
            first += static_cast<size_t>(rows);
        });
        return found;
    }

    // What the bins up to this one hold.
    Words<Counter> up_to(size_t which, int last) const {
        Words<Counter> low = no_words(counter_);
        const Word* bin = bins(which);
        for (size_t cell = 0; cell < static_cast<size_t>(last + 1) * words_; ++cell) low[cell % words_] += bin[cell];
        return low;
    }

    const CodedColumn& column(size_t which) const { return coded_columns_[static_cast<size_t>(columns_[which])]; }
    const Word* bins(size_t which) const { return histogram_ + static_cast<size_t>(column(which).start) * words_; }

protected:
    const Counter& counter_;
    const std::vector<CodedColumn>& coded_columns_;
    std::span<const int> columns_;
    const Word* histogram_;
    bool places_missing_;
    size_t words_;
    Words<Counter> total_;
};

// The same with the rows at hand.
template <class Counter>
class Sweep : public CoarseSweep<Counter> {
    using Coarse = CoarseSweep<Counter>;
    using Coarse::columns_;
    using Coarse::counter_;
    using Coarse::words_;

public:
    using Word = typename Counter::Word;
    using Item = typename Counter::Item;
    using RowInside = typename Inside<Counter>::Row;
    using Coarse::bins;
    using Coarse::column;

    Sweep(const Counter& counter, const Table& table, const CodedTable& coded, std::span<const int> columns,
          std::span<const uint32_t> rows, std::span<const Item> items, const Word* histogram, bool places_missing,
          Account* account = nullptr)
        : Coarse(counter, coded.columns(), columns, histogram, places_missing),
          table_(table),
          coded_(coded),
          rows_(rows),
          items_(items),
          zoomed_rows_(account ? &account->zoomed_rows : nullptr) {}

    // Looks inside the bins where a cut as good as `bar()` could hide, and gives the better of that and the coarse cut,
    // with what lies below it. What one bin holds, or what others find meanwhile, may close the next.
    template <class Bar>
    PlacedCut<Counter> zoom(const Yardstick& node, size_t which, const Cut& coarse_cut, const BinCut& coarse,
                            const Bar& bar) const {
        const CodedColumn& column = this->column(which);
        if (column.exact) return {coarse_cut};
        Scale<Counter> scale = Coarse::scale(node, which);
        std::array<int16_t, 256> open;
        open.fill(-1);
        const std::vector<OpenBin<Counter>> bins =
            Coarse::open_bins(scale, which, bar() - node.rounding, coarse.highest, open);
        if (bins.empty()) return {coarse_cut};
        std::vector<RowInside> rows = rows_inside(which, open, bins);
        Inside<Counter> inside(counter_, node, scale);
        Cut finer;
        Words<Counter> low = no_words(counter_);
        finer.gaps = scale.gaps();
        int finer_bin = 256;
        for (const OpenBin<Counter>& bin : bins) {
            const double least = std::max(bar(), finer.merit) - node.rounding;
            const Word* held = this->bins(which) + static_cast<size_t>(bin.bin) * words_;
            if (scale.bound(bin.below.data(), held, least) < least) continue;
            const std::span<RowInside> own(&rows[bin.first], static_cast<size_t>(bin.rows));
            if (inside.improve(own, bin.below, least, finer, low)) finer_bin = bin.bin;
            if (!coarse.several && !(scale.gaps() && this->places_missing_)) finer.constant = all_equal(own);
            note_zoomed(bin.rows);
        }
        if (!coarse_cut.found() && !finer.found()) return {finer, low};
        // Of two equal cuts the lower; a cut inside a bin is lower than the cut at the bin's end.
        const bool finer_is_lower = coarse_cut.low_rows == 0 || finer_bin <= coarse.last;
        const bool take =
            finer_is_lower ? !node.beats(coarse_cut.merit, finer.merit) : node.beats(finer.merit, coarse_cut.merit);
        return finer.found() && take ? PlacedCut<Counter>{finer, low} : PlacedCut<Counter>{coarse_cut};
    }

    bool places_missing() const { return this->places_missing_; }
    void note_zoomed(int64_t rows) const {
        if (zoomed_rows_) *zoomed_rows_ += rows;
    }

    // The rungs of a column's ladder that these rows stand on, rising.
    std::vector<uint32_t> rungs(size_t which, const Ladder& ladder) const {
        const CodedColumn& column = this->column(which);
        if (!column.exact) return rungs_taken(ladder, coded_, static_cast<size_t>(columns_[which]), rows_);
        std::vector<uint32_t> taken;
        for (int b = 0; b < column.bins; ++b) {
            if (counter_.listed(bins(which) + static_cast<size_t>(b) * words_) > 0) {
                taken.push_back(static_cast<uint32_t>(b));
            }
        }
        return taken;
    }

    // The values on both sides of a cut between bins.
    void place(size_t which, const BinCut& coarse, Cut& cut) const {
        const Numbers& numbers = this->numbers(which);
        const CodedColumn& column = this->column(which);
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
        cut.below = column.within(coarse.last, cut.below);
        cut.above = column.within(next, cut.above);
    }

    // The rows in open bins, bin after bin. Their values lie far apart: each is called early and read some finds later.
    std::vector<RowInside> rows_inside(size_t which, const std::array<int16_t, 256>& open,
                                       const std::vector<OpenBin<Counter>>& bins) const {
        const uint8_t* codes = coded_.column(static_cast<size_t>(columns_[which]));
        const Numbers numbers = this->numbers(which);
        const CodedColumn& column = this->column(which);
        std::vector<size_t> next;
        for (const OpenBin<Counter>& bin : bins) next.push_back(bin.first);
        std::vector<RowInside> inside(bins.back().first + static_cast<size_t>(bins.back().rows));
        const auto take = [&](size_t at) {
            const uint32_t row = rows_[at];
            const int code = codes[row];
            inside[next[static_cast<size_t>(open[code])]++] = {column.known(code, numbers[row]), items_[at]};
        };
        std::array<size_t, look_ahead> called;
        size_t finds = 0;
        for (size_t i = 0; i < rows_.size(); ++i) {
            if (open[codes[rows_[i]]] < 0) continue;
            call_early(numbers.address(rows_[i]));
            size_t& place = called[finds % look_ahead];
            if (finds >= look_ahead) take(place);
            place = i;
            ++finds;
        }
        for (size_t find = finds - std::min(finds, look_ahead); find < finds; ++find) take(called[find % look_ahead]);
        return inside;
    }

private:
    const Numbers& numbers(size_t which) const { return table_.columns[column(which).column].numbers; }
    static bool all_equal(std::span<const RowInside> rows) {
        return std::all_of(rows.begin(), rows.end(), [&](const RowInside& row) { return row.value == rows[0].value; });
    }

    const Table& table_;
    const CodedTable& coded_;
    std::span<const uint32_t> rows_;
    std::span<const Item> items_;
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

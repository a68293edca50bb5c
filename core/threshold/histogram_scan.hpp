// The best cut of a binned column at one node, from its histogram and, where needed, its rows.
//
// Only bins that could hold a better cut than `to_beat` are refined.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "binning/binned_table.hpp"
#include "threshold/bin_scan.hpp"
#include "threshold/cut.hpp"

namespace tw {

inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#endif
}
constexpr size_t prefetch_distance = 16; // rows whose codes are called into cache early

// A cut between bins: everything up to bin `last` is low.
struct BinCut {
    double gain = no_gain;
    int last = -1;
    int64_t low_rows = 0;
    double highest = no_gain; // gain of any cut between bins, also of those whose sides are too small
    bool several = false;     // known rows lie in more than one bin
};

// A cut, and what lies below it: nothing where it is not placed, for it lies between bins.
template <CutCounter Counter>
struct LocatedCut {
    Cut cut;
    Words<Counter> low{};
};

// A bin worth looking into: what lies below it, and where its rows stand among those of all such bins.
template <CutCounter Counter>
struct OpenBin {
    int bin;
    size_t first;
    int64_t rows;
    Words<Counter> below;
};

// What a histogram alone can tell: cuts between bins, and which bins could hide a better one.
template <CutCounter Counter>
class HistogramScan {
public:
    using Word = typename Counter::Word;

    HistogramScan(const Counter& counter, const std::vector<ColumnBins>& binned, std::span<const int> columns,
                  const Word* histogram, bool tries_missing)
        : counter_(counter),
          column_bins_(binned),
          columns_(columns),
          histogram_(histogram),
          tries_missing_(tries_missing),
          words_(static_cast<size_t>(counter.words())),
          total_(zero_words(counter)) {
        const ColumnBins& first = binned[0];
        const size_t cells = static_cast<size_t>(first.bins + (first.has_missing ? 1 : 0)) * words_;
        for (size_t cell = 0; cell < cells; ++cell) total_[cell % words_] += histogram[cell];
    }

    const Words<Counter>& total() const { return total_; }

    CutScorer<Counter> scorer(const CutRules& rules, size_t scan_column) const {
        const ColumnBins& column = this->column(scan_column);
        const Word* missing =
            column.has_missing ? bins(scan_column) + static_cast<size_t>(column.bins) * words_ : nullptr;
        return CutScorer<Counter>(counter_, rules, total_.data(), missing, tries_missing_);
    }

    // The best cut between bins.
    Cut scan_bin_edges(const CutRules& rules, size_t scan_column, BinCut& coarse) const {
        const ColumnBins& column = this->column(scan_column);
        const Word* bin = bins(scan_column);
        CutScorer<Counter> scorer = this->scorer(rules, scan_column);
        Words<Counter> low = zero_words(counter_);
        int64_t low_rows = 0;
        for (int b = 0; b < column.bins; ++b, bin += words_) {
            if (counter_.listed(bin) == 0) continue;
            for (size_t w = 0; w < words_; ++w) low[w] += bin[w];
            low_rows += counter_.rows(bin);
            if (low_rows == scorer.known_rows()) break;
            coarse.several = true;
            const double gain = scorer.gain(low.data(), low_rows, ExactDivision{});
            coarse.highest = std::max(coarse.highest, gain > no_gain ? gain : scorer.gain_at_edge(low.data()));
            if (!rules.beats(gain, coarse.gain)) continue;
            coarse.gain = gain;
            coarse.last = b;
            coarse.low_rows = low_rows;
        }
        Cut cut;
        cut.gain = coarse.gain;
        cut.low_rows = coarse.low_rows;
        cut.has_missing = scorer.has_missing();
        // Known rows of one bin may still differ; whoever looks into it settles that.
        cut.constant =
            !coarse.several && (column.exact || scorer.known_rows() < 2) && !(scorer.has_missing() && tries_missing_);
        if (const double apart = scorer.gain_of_missing(); rules.beats(apart, cut.gain)) {
            cut.gain = apart;
            cut.low_rows = 0;
        }
        return cut;
    }

    // The bins where a cut of gain `min_gain` could hide, if no cut between bins has more than `highest`; `open` gives
    // the place of each of them.
    std::vector<OpenBin<Counter>> open_bins(CutScorer<Counter>& scorer, size_t scan_column, double min_gain,
                                            double highest, std::array<int16_t, 256>& open) const {
        std::vector<OpenBin<Counter>> found;
        size_t first = 0;
        const std::span<const Word> all(bins(scan_column), static_cast<size_t>(column(scan_column).bins) * words_);
        find_open_bins(counter_, scorer, all, zero_words(counter_), min_gain, highest,
                       [&](size_t b, const Words<Counter>& below) {
                           open[b] = static_cast<int16_t>(found.size());
                           const int64_t rows = counter_.listed(&all[b * words_]);
                           found.push_back({static_cast<int>(b), first, rows, below});
                           first += static_cast<size_t>(rows);
                       });
        return found;
    }

    // What the bins up to this one hold.
    Words<Counter> up_to(size_t scan_column, int last) const {
        Words<Counter> low = zero_words(counter_);
        const Word* bin = bins(scan_column);
        for (size_t cell = 0; cell < static_cast<size_t>(last + 1) * words_; ++cell) low[cell % words_] += bin[cell];
        return low;
    }

    const ColumnBins& column(size_t scan_column) const {
        return column_bins_[static_cast<size_t>(columns_[scan_column])];
    }
    const Word* bins(size_t scan_column) const {
        return histogram_ + static_cast<size_t>(column(scan_column).start) * words_;
    }

protected:
    const Counter& counter_;
    const std::vector<ColumnBins>& column_bins_;
    std::span<const int> columns_;
    const Word* histogram_;
    bool tries_missing_;
    size_t words_;
    Words<Counter> total_;
};

// The same with the rows at hand.
template <CutCounter Counter>
class RefiningScan : public HistogramScan<Counter> {
    using Coarse = HistogramScan<Counter>;
    using Coarse::columns_;
    using Coarse::counter_;
    using Coarse::words_;

public:
    using Word = typename Counter::Word;
    using Item = typename Counter::Item;
    using BinRow = typename BinScan<Counter>::Row;
    using Coarse::bins;
    using Coarse::column;

    RefiningScan(const Counter& counter, const Table& table, const BinnedTable& binned, std::span<const int> columns,
                 std::span<const uint32_t> rows, std::span<const Item> items, const Word* histogram, bool tries_missing,
                 Profile* profile = nullptr)
        : Coarse(counter, binned.columns(), columns, histogram, tries_missing),
          table_(table),
          binned_(binned),
          rows_(rows),
          items_(items),
          refined_rows_(profile ? &profile->refined_rows : nullptr) {}

    // Looks inside the bins where a cut as good as `to_beat()` could hide, and gives the better of that and the coarse
    // cut, with what lies below it. What one bin holds, or what others find meanwhile, may close the next.
    template <class ToBeat>
    LocatedCut<Counter> refine(const CutRules& rules, size_t scan_column, const Cut& coarse_cut, const BinCut& coarse,
                               const ToBeat& to_beat) const {
        const ColumnBins& column = this->column(scan_column);
        if (column.exact) return {coarse_cut};
        CutScorer<Counter> scorer = Coarse::scorer(rules, scan_column);
        std::array<int16_t, 256> open;
        open.fill(-1);
        const std::vector<OpenBin<Counter>> bins =
            Coarse::open_bins(scorer, scan_column, to_beat() - rules.tolerance, coarse.highest, open);
        if (bins.empty()) return {coarse_cut};
        std::vector<BinRow> rows = rows_in_bins(scan_column, open, bins);
        BinScan<Counter> bin_scan(counter_, rules, scorer);
        Cut finer;
        Words<Counter> low = zero_words(counter_);
        finer.has_missing = scorer.has_missing();
        int finer_bin = 256;
        for (const OpenBin<Counter>& bin : bins) {
            const double min_gain = std::max(to_beat(), finer.gain) - rules.tolerance;
            const Word* node_rows = this->bins(scan_column) + static_cast<size_t>(bin.bin) * words_;
            if (scorer.bound(bin.below.data(), node_rows, min_gain) < min_gain) continue;
            const std::span<BinRow> own(&rows[bin.first], static_cast<size_t>(bin.rows));
            if (bin_scan.improve(own, bin.below, min_gain, finer, low)) finer_bin = bin.bin;
            if (!coarse.several && !(scorer.has_missing() && this->tries_missing_)) finer.constant = all_equal(own);
            note_refined(bin.rows);
        }
        if (!coarse_cut.found() && !finer.found()) return {finer, low};
        // Of two equal cuts the lower; a cut inside a bin is lower than the cut at the bin's end.
        const bool finer_is_lower = coarse_cut.low_rows == 0 || finer_bin <= coarse.last;
        const bool take =
            finer_is_lower ? !rules.beats(coarse_cut.gain, finer.gain) : rules.beats(finer.gain, coarse_cut.gain);
        return finer.found() && take ? LocatedCut<Counter>{finer, low} : LocatedCut<Counter>{coarse_cut};
    }

    bool tries_missing() const { return this->tries_missing_; }
    void note_refined(int64_t rows) const {
        if (refined_rows_) *refined_rows_ += rows;
    }

    // The ranks of a column's value ranks that these rows stand on, rising.
    std::vector<uint32_t> ranks_present(size_t scan_column, const ValueRanks& ranks) const {
        const ColumnBins& column = this->column(scan_column);
        if (!column.exact) return tw::ranks_present(ranks, binned_, static_cast<size_t>(columns_[scan_column]), rows_);
        std::vector<uint32_t> taken;
        for (int b = 0; b < column.bins; ++b) {
            if (counter_.listed(bins(scan_column) + static_cast<size_t>(b) * words_) > 0) {
                taken.push_back(static_cast<uint32_t>(b));
            }
        }
        return taken;
    }

    // The values on both sides of a cut between bins.
    void locate(size_t scan_column, const BinCut& coarse, Cut& cut) const {
        const Numbers& numbers = this->numbers(scan_column);
        const ColumnBins& column = this->column(scan_column);
        const size_t at = static_cast<size_t>(columns_[scan_column]);
        int next = coarse.last + 1;
        while (counter_.listed(bins(scan_column) + static_cast<size_t>(next) * words_) == 0) ++next;
        cut.below = -std::numeric_limits<double>::infinity();
        cut.above = std::numeric_limits<double>::infinity();
        const uint8_t* bin_of = binned_.column(at);
        for (const uint32_t row : rows_) {
            const int code = bin_of[row];
            if (code == coarse.last) cut.below = std::max(cut.below, numbers[row]);
            if (code == next) cut.above = std::min(cut.above, numbers[row]);
        }
        cut.below = column.within(coarse.last, cut.below);
        cut.above = column.within(next, cut.above);
    }

    // The rows in open bins, bin after bin. Their values lie far apart: each is called early and read some finds later.
    std::vector<BinRow> rows_in_bins(size_t scan_column, const std::array<int16_t, 256>& open,
                                     const std::vector<OpenBin<Counter>>& bins) const {
        const uint8_t* bin_of = binned_.column(static_cast<size_t>(columns_[scan_column]));
        const Numbers numbers = this->numbers(scan_column);
        const ColumnBins& column = this->column(scan_column);
        std::vector<size_t> next;
        for (const OpenBin<Counter>& bin : bins) next.push_back(bin.first);
        std::vector<BinRow> bin_scan(bins.back().first + static_cast<size_t>(bins.back().rows));
        const auto take = [&](size_t at) {
            const uint32_t row = rows_[at];
            const int code = bin_of[row];
            bin_scan[next[static_cast<size_t>(open[code])]++] = {column.known(code, numbers[row]), items_[at]};
        };
        std::array<size_t, prefetch_distance> called;
        size_t finds = 0;
        for (size_t i = 0; i < rows_.size(); ++i) {
            if (open[bin_of[rows_[i]]] < 0) continue;
            prefetch(numbers.address(rows_[i]));
            size_t& locate = called[finds % prefetch_distance];
            if (finds >= prefetch_distance) take(locate);
            locate = i;
            ++finds;
        }
        for (size_t find = finds - std::min(finds, prefetch_distance); find < finds; ++find)
            take(called[find % prefetch_distance]);
        return bin_scan;
    }

private:
    const Numbers& numbers(size_t scan_column) const { return table_.columns[column(scan_column).column].numbers; }
    static bool all_equal(std::span<const BinRow> rows) {
        return std::all_of(rows.begin(), rows.end(), [&](const BinRow& row) { return row.value == rows[0].value; });
    }

    const Table& table_;
    const BinnedTable& binned_;
    std::span<const uint32_t> rows_;
    std::span<const Item> items_;
    std::atomic<int64_t>* refined_rows_;
};

// Adds rows to a histogram of `words` each bin; at most `max_narrow_rows` of them if it is narrow.
template <CutCounter Counter, class Word>
void count_rows(const Counter& counter, const BinnedTable& binned, std::span<const uint32_t> rows,
                std::span<const typename Counter::Item> items, size_t words, Word* histogram) {
    constexpr size_t l1_bytes = 40960; // bytes of histogram that stay in the nearest cache
    const std::vector<ColumnBins>& columns = binned.columns();
    std::vector<size_t> start;
    for (const ColumnBins& column : columns) start.push_back(static_cast<size_t>(column.start) * words);
    start.push_back(static_cast<size_t>(binned.bins()) * words);
    const uint32_t* row = rows.data();
    const typename Counter::Item* item = items.data();
    for (size_t first = 0; first < columns.size();) {
        size_t last = first + 1;
        while (last < columns.size() && (start[last + 1] - start[first]) * sizeof(Word) <= l1_bytes) ++last;
        for (size_t i = 0; i < rows.size(); ++i) {
            prefetch(binned.row(row[std::min(i + prefetch_distance, rows.size() - 1)]) + first);
            const uint8_t* code = binned.row(row[i]);
            const typename Counter::Item added = item[i];
            for (size_t c = first; c < last; ++c) counter.add(histogram + start[c] + code[c] * words, added);
        }
        first = last;
    }
}

} // namespace tw

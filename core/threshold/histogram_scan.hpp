// The best cut of a binned column at one node: from its histogram (HistogramScan) and, inside the bins that could hold
// a better cut, from its rows (BinRefiner).
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
constexpr size_t prefetch_distance = 16; // rows whose bins are prefetched

// A cut between bins: everything up to bin `last` is low. Without rows below it: known values against missing ones.
struct EdgeCut {
    int last = -1;
    int64_t low_rows = 0;
};
// The cuts of a column as its histogram shows them.
struct EdgeScan {
    FirstOfBest<EdgeCut> best;
    double highest = no_gain; // gain of any cut between bins, also of those whose sides are too small
    bool several = false;     // known rows lie in more than one bin
    bool has_missing = false;
    bool constant = false;
};

// A cut, and what lies below it unless it lies between bins (HistogramScan::up_to).
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

// Cuts between bins, and which bins could hide a better one: from the histogram alone.
template <CutCounter Counter>
class HistogramScan {
public:
    using Word = typename Counter::Word;

    HistogramScan(const Counter& counter, const SearchColumns& columns, const Word* histogram, bool tries_missing)
        : counter_(counter),
          columns_(columns),
          histogram_(histogram),
          tries_missing_(tries_missing),
          words_(static_cast<size_t>(counter.words())),
          total_(zero_words(counter)) {
        const size_t cells = static_cast<size_t>(columns.first_cells()) * words_;
        for (size_t cell = 0; cell < cells; ++cell) total_[cell % words_] += histogram[cell];
    }

    const Words<Counter>& total() const { return total_; }

    CutScorer<Counter> scorer(const CutRules& rules, ScanColumn scan_column) const {
        const ColumnBins& column = this->column(scan_column);
        const Word* missing =
            column.has_missing ? bins(scan_column) + static_cast<size_t>(column.bins) * words_ : nullptr;
        return CutScorer<Counter>(counter_, rules, total_.data(), missing, tries_missing_);
    }

    // The cuts between bins.
    EdgeScan scan_bin_edges(const CutRules& rules, ScanColumn scan_column) const {
        const ColumnBins& column = this->column(scan_column);
        const Word* bin = bins(scan_column);
        CutScorer<Counter> scorer = this->scorer(rules, scan_column);
        EdgeScan edges;
        Words<Counter> low = zero_words(counter_);
        int64_t low_rows = 0;
        for (int b = 0; b < column.bins; ++b, bin += words_) {
            if (counter_.listed(bin) == 0) continue;
            for (size_t w = 0; w < words_; ++w) low[w] += bin[w];
            low_rows += counter_.rows(bin);
            if (low_rows == scorer.known_rows()) break;
            edges.several = true;
            const double gain = scorer.gain(low.data(), low_rows, ExactDivision{});
            edges.highest = std::max(edges.highest, gain > no_gain ? gain : scorer.gain_at_edge(low.data()));
            rules.ties.offer(edges.best, gain, {b, low_rows});
        }
        edges.has_missing = scorer.has_missing();
        // Known rows of one bin may still differ; whoever looks into it settles that.
        edges.constant = scorer.known_rows() == 0 || (!edges.several && (column.exact || scorer.known_rows() < 2) &&
                                                      !(scorer.has_missing() && tries_missing_));
        rules.ties.offer(edges.best, scorer.gain_of_missing(), {});
        return edges;
    }

    // The column's cut: the lowest of the best, between bins or inside one. `inner`: the best of those inside.
    LocatedCut<Counter> best_cut(const CutRules& rules, ScanColumn scan_column, const EdgeScan& edges,
                                 const FirstOfBest<InnerCut<Counter>>& inner) const {
        LocatedCut<Counter> found;
        found.cut.has_missing = edges.has_missing;
        found.cut.constant = edges.constant;
        const double least = rules.ties.least(std::max(edges.best.most(), inner.most()));
        const auto* edge = edges.best.first_from(least);
        const auto* inside = inner.first_from(least);
        const double edge_at = edge && edge->item.low_rows > 0
                                   ? column(scan_column).end[static_cast<size_t>(edge->item.last)]
                                   : std::numeric_limits<double>::infinity();
        if (inside && (!edge || inside->item.at < edge_at)) {
            const InnerCut<Counter>& item = inside->item;
            found.cut.gain = inside->score;
            found.cut.low_rows = item.low_rows;
            found.cut.at = item.at;
            found.cut.below = item.below;
            found.cut.above = item.above;
            found.low = item.low;
        } else if (edge) {
            found.cut.gain = edge->score;
            found.cut.low_rows = edge->item.low_rows;
            found.cut.at = edge_at;
            found.cut.last = edge->item.last;
        }
        return found;
    }

    // The bins where a cut of gain `min_gain` could hide, if no cut between bins has more than `highest`; `open` gives
    // the index of each of them.
    std::vector<OpenBin<Counter>> open_bins(CutScorer<Counter>& scorer, ScanColumn scan_column, double min_gain,
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
    Words<Counter> up_to(ScanColumn scan_column, int last) const {
        Words<Counter> low = zero_words(counter_);
        const Word* bin = bins(scan_column);
        for (size_t cell = 0; cell < static_cast<size_t>(last + 1) * words_; ++cell) low[cell % words_] += bin[cell];
        return low;
    }

    const ColumnBins& column(ScanColumn scan_column) const { return columns_.column(scan_column); }
    const Word* bins(ScanColumn scan_column) const {
        return histogram_ + static_cast<size_t>(column(scan_column).start) * words_;
    }
    const Counter& counter() const { return counter_; }
    const SearchColumns& columns() const { return columns_; }
    bool tries_missing() const { return tries_missing_; }

private:
    const Counter& counter_;
    const SearchColumns& columns_;
    const Word* histogram_;
    bool tries_missing_;
    size_t words_;
    Words<Counter> total_;
};

// Looks inside bins, with the rows at hand.
template <CutCounter Counter>
class BinRefiner {
public:
    using Word = typename Counter::Word;
    using Item = typename Counter::Item;
    using BinRow = typename BinScan<Counter>::Row;

    BinRefiner(const HistogramScan<Counter>& scan, std::span<const uint32_t> rows, std::span<const Item> items)
        : scan_(scan),
          columns_(scan.columns()),
          counter_(scan.counter()),
          words_(static_cast<size_t>(counter_.words())),
          rows_(rows),
          items_(items) {}

    const HistogramScan<Counter>& scan() const { return scan_; }

    // Looks inside the bins where a cut as good as `to_beat()` could hide, and returns the column's cut. What one bin
    // holds, or what others find meanwhile, may close the next.
    template <class ToBeat>
    LocatedCut<Counter> refine(const CutRules& rules, ScanColumn scan_column, const EdgeScan& edges,
                               const ToBeat& to_beat) const {
        FirstOfBest<InnerCut<Counter>> inner;
        if (columns_.column(scan_column).exact) return scan_.best_cut(rules, scan_column, edges, inner);
        CutScorer<Counter> scorer = scan_.scorer(rules, scan_column);
        std::array<int16_t, 256> open;
        open.fill(-1);
        const std::vector<OpenBin<Counter>> bins =
            scan_.open_bins(scorer, scan_column, rules.least_wanted(to_beat()), edges.highest, open);
        if (bins.empty()) return scan_.best_cut(rules, scan_column, edges, inner);
        std::vector<BinRow> rows = rows_in_bins(scan_column, open, bins);
        BinScan<Counter> bin_scan(counter_, rules, scorer);
        bool constant = edges.constant;
        for (const OpenBin<Counter>& bin : bins) {
            const double min_gain = rules.least_wanted(std::max(to_beat(), inner.most()));
            const Word* node_rows = scan_.bins(scan_column) + static_cast<size_t>(bin.bin) * words_;
            if (scorer.bound(bin.below.data(), node_rows, min_gain) < min_gain) continue;
            const std::span<BinRow> own(&rows[bin.first], static_cast<size_t>(bin.rows));
            bin_scan.offer_cuts(own, bin.below, min_gain, inner);
            if (!edges.several && !(scorer.has_missing() && scan_.tries_missing())) constant = all_equal(own);
            note_refined(bin.rows);
        }
        LocatedCut<Counter> found = scan_.best_cut(rules, scan_column, edges, inner);
        found.cut.constant = constant;
        return found;
    }

    void note_refined(int64_t rows) const {
        if (columns_.profile) columns_.profile->refined_rows += rows;
    }

    // The ranks of the values that occur here, rising.
    std::vector<uint32_t> ranks_present(ScanColumn scan_column) const {
        const ColumnBins& column = columns_.column(scan_column);
        if (!column.exact) {
            return tw::ranks_present(columns_.ranks(scan_column), columns_.binned, columns_.by_histogram[scan_column],
                                     rows_);
        }
        std::vector<uint32_t> taken;
        for (int b = 0; b < column.bins; ++b) {
            if (counter_.listed(bins(scan_column) + static_cast<size_t>(b) * words_) > 0) {
                taken.push_back(static_cast<uint32_t>(b));
            }
        }
        return taken;
    }

    // The values on both sides of a cut between bins.
    void locate(ScanColumn scan_column, Cut& cut) const {
        const Numbers& numbers = columns_.numbers(scan_column);
        const ColumnBins& column = columns_.column(scan_column);
        const int last = cut.last;
        int next = last + 1;
        while (counter_.listed(bins(scan_column) + static_cast<size_t>(next) * words_) == 0) ++next;
        cut.below = -std::numeric_limits<double>::infinity();
        cut.above = std::numeric_limits<double>::infinity();
        const uint8_t* bin_of = columns_.bin_of_row(scan_column);
        for (const uint32_t row : rows_) {
            const int code = bin_of[row];
            if (code == last) cut.below = std::max(cut.below, numbers[row]);
            if (code == next) cut.above = std::min(cut.above, numbers[row]);
        }
        cut.below = column.within(last, cut.below);
        cut.above = column.within(next, cut.above);
    }

    // Whether all known values here are one.
    bool is_one_value(ScanColumn scan_column) const {
        const Numbers& numbers = columns_.numbers(scan_column);
        double first = std::numeric_limits<double>::quiet_NaN();
        for (const uint32_t row : rows_) {
            const double x = numbers[row];
            if (x != x) continue;
            if (first != first) first = x;
            if (x != first) return false;
        }
        return true;
    }

    // The rows in open bins, bin after bin. Their values lie far apart: each is called early and read some finds later.
    std::vector<BinRow> rows_in_bins(ScanColumn scan_column, const std::array<int16_t, 256>& open,
                                     const std::vector<OpenBin<Counter>>& bins) const {
        const uint8_t* bin_of = columns_.bin_of_row(scan_column);
        const Numbers numbers = columns_.numbers(scan_column);
        const ColumnBins& column = columns_.column(scan_column);
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
    static bool all_equal(std::span<const BinRow> rows) {
        return std::all_of(rows.begin(), rows.end(), [&](const BinRow& row) { return row.value == rows[0].value; });
    }
    const Word* bins(ScanColumn scan_column) const { return scan_.bins(scan_column); }

    const HistogramScan<Counter>& scan_;
    const SearchColumns& columns_;
    const Counter& counter_;
    size_t words_;
    std::span<const uint32_t> rows_;
    std::span<const Item> items_;
};

// Adds rows to a histogram of `words` each bin or level, at most `max_narrow_rows` of them if it is narrow. `coded` has
// the codes of each row; `cells` are those of all its columns.
template <CutCounter Counter, class Coded, class Word>
void count_codes(const Counter& counter, const Coded& coded, int cells, std::span<const uint32_t> rows,
                 std::span<const typename Counter::Item> items, size_t words, Word* histogram) {
    constexpr size_t l1_bytes = 40960; // bytes of histogram that stay in the nearest cache
    std::vector<size_t> start;
    for (const auto& column : coded.columns()) start.push_back(static_cast<size_t>(column.start) * words);
    const size_t columns = start.size();
    start.push_back(static_cast<size_t>(cells) * words);
    const uint32_t* row = rows.data();
    const typename Counter::Item* item = items.data();
    for (size_t first = 0; first < columns;) {
        size_t last = first + 1;
        while (last < columns && (start[last + 1] - start[first]) * sizeof(Word) <= l1_bytes) ++last;
        for (size_t i = 0; i < rows.size(); ++i) {
            prefetch(coded.row(row[std::min(i + prefetch_distance, rows.size() - 1)]) + first);
            const auto* code = coded.row(row[i]);
            const typename Counter::Item added = item[i];
            for (size_t c = first; c < last; ++c) counter.add(histogram + start[c] + code[c] * words, added);
        }
        first = last;
    }
}

template <CutCounter Counter, class Word>
void count_rows(const Counter& counter, const BinnedTable& binned, std::span<const uint32_t> rows,
                std::span<const typename Counter::Item> items, size_t words, Word* histogram) {
    count_codes(counter, binned, binned.bins(), rows, items, words, histogram);
}

} // namespace tw

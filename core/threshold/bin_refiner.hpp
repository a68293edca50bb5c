// The best cut of a binned column at one node: from its histogram and, inside the bins that could hold a better cut,
// from its rows.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "threshold/histogram_scan.hpp"

namespace tw {

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
    std::span<const uint32_t> rows() const { return rows_; }
    std::span<const Item> items() const { return items_; } // what each of the rows adds

    // Looks inside the bins where a cut as good as `to_beat()` could hide, and returns the column's cut. What one bin
    // holds, or what others find meanwhile, may close the next.
    template <class ToBeat>
    LocatedCut<Counter> refine(const CutRules& rules, ScanColumn scan_column, EdgeScan& edges,
                               const ToBeat& to_beat) const {
        FirstOfBest<InnerCut<Counter>> inner;
        const double least = rules.least_wanted(to_beat());
        if (edges.rough ? edges.most < least : columns_.column(scan_column).exact) {
            return scan_.best_cut(rules, scan_column, edges, inner);
        }
        CutScorer<Counter> scorer = scan_.scorer(rules, scan_column);
        std::array<int16_t, 256> open;
        open.fill(-1);
        std::vector<OpenBin<Counter>> bins = edges.rough
                                                 ? scan_.look_closer(rules, scorer, scan_column, least, edges, open)
                                                 : scan_.open_bins(scorer, scan_column, least, edges.highest, open);
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

    // The ranks of the values that occur here.
    RankBits ranks_present(ScanColumn scan_column) const {
        const ColumnBins& column = columns_.column(scan_column);
        if (!column.exact) {
            return tw::ranks_present(columns_.ranks(scan_column), columns_.binned, columns_.by_histogram[scan_column],
                                     rows_);
        }
        RankBits present(words_for(static_cast<size_t>(column.bins)), 0);
        for (int b = 0; b < column.bins; ++b) {
            if (counter_.listed(bins(scan_column) + static_cast<size_t>(b) * words_) > 0) {
                set_bit(present, static_cast<size_t>(b));
            }
        }
        return present;
    }

    // The values on both sides of a cut between bins.
    void locate(ScanColumn scan_column, Cut& cut) const {
        const Numbers& numbers = columns_.numbers(scan_column);
        const ColumnBins& column = columns_.column(scan_column);
        const int last = cut.last;
        int next = last + 1;
        while (counter_.listed(bins(scan_column) + static_cast<size_t>(next) * words_) == 0) ++next;
        if (column.exact && static_cast<size_t>(next) < column.end.size()) { // the last bin's value is not kept
            cut.below = column.end[static_cast<size_t>(last)];
            cut.above = column.end[static_cast<size_t>(next)];
            return;
        }
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

    // The rows in open bins, bin after bin; a row that is in the sample several times is one, so that `rows` of a bin
    // may fall. Their values lie far apart: those of a block of rows are called before they are read.
    std::vector<BinRow> rows_in_bins(ScanColumn scan_column, const std::array<int16_t, 256>& open,
                                     std::vector<OpenBin<Counter>>& bins) const {
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
        constexpr size_t block = 256;
        std::array<size_t, block> found; // places of rows in open bins, listed without a branch: any row may be one
        for (size_t begin = 0; begin < rows_.size(); begin += block) {
            const size_t end = std::min(rows_.size(), begin + block);
            size_t finds = 0;
            for (size_t at = begin; at < end; ++at) {
                found[finds] = at;
                finds += static_cast<size_t>(open[bin_of[rows_[at]]] >= 0);
            }
            for (size_t i = 0; i < finds; ++i) prefetch(numbers.address(rows_[found[i]]));
            for (size_t i = 0; i < finds; ++i) take(found[i]);
        }
        for (size_t b = 0; b < bins.size(); ++b) bins[b].rows = static_cast<int64_t>(next[b] - bins[b].first);
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

} // namespace tw

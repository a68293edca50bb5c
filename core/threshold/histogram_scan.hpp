// The cuts between bins of a column at one node, from its histogram, and the bins that could hold a better one.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "binning/binned_table.hpp"
#include "binning/prefetch.hpp"
#include "threshold/bin_scan.hpp"
#include "threshold/cut.hpp"
#include "threshold/edge_estimates.hpp"

namespace tw {

// A cut between bins: everything up to bin `last` is low. Without rows below it: known values against missing ones.
struct EdgeCut {
    int last = -1;
    int64_t low_rows = 0;
};
// The cuts of a column as its histogram shows them.
struct EdgeScan {
    FirstOfBest<EdgeCut> best;
    double highest = no_gain; // gain of any cut between bins, also of those whose sides are too small
    bool rough = false;       // only one cut was scored; who needs another looks closer (HistogramScan::look_closer)
    double most =
        std::numeric_limits<double>::infinity(); // then: no cut of the column has more, inside bins or between
    GroupGains most_of_group;                    // the same for each group of bins
    std::vector<double> most_of_bin; // the gain that no cut inside a bin exceeds, where known from rows (MedianScan)
    bool several = false;            // known rows lie in more than one bin
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

    // `total`: what all rows add.
    HistogramScan(const Counter& counter, const SearchColumns& columns, const Word* histogram, bool tries_missing,
                  Words<Counter> total)
        : counter_(counter),
          columns_(columns),
          histogram_(histogram),
          tries_missing_(tries_missing),
          words_(static_cast<size_t>(counter.words())),
          total_(std::move(total)) {}
    // The same, where the histogram has a column.
    HistogramScan(const Counter& counter, const SearchColumns& columns, const Word* histogram, bool tries_missing)
        : HistogramScan(counter, columns, histogram, tries_missing, zero_words(counter)) {
        add_bins(histogram, columns.first_cells(), total_);
    }

    const Words<Counter>& total() const { return total_; }

    CutScorer<Counter> scorer(const CutRules& rules, ScanColumn scan_column) const {
        const ColumnBins& column = this->column(scan_column);
        const Word* missing =
            column.has_missing ? bins(scan_column) + static_cast<size_t>(column.bins) * words_ : nullptr;
        return CutScorer<Counter>(counter_, rules, total_.data(), missing, tries_missing_);
    }

    // The cuts between bins. `roughly`: only columns with one of the best cuts matter, so not all need be scored.
    EdgeScan scan_bin_edges(const CutRules& rules, ScanColumn scan_column, bool roughly) const {
        const ColumnBins& column = this->column(scan_column);
        CutScorer<Counter> scorer = this->scorer(rules, scan_column);
        const bool estimates = roughly && EstimatesGains<Counter> && column.bins >= min_bins_for_groups &&
                               !rules.ties.in_order && !(scorer.has_missing() && tries_missing_);
        EdgeScan edges = estimates ? score_one(rules, scan_column, scorer) : score_all(rules, scan_column, scorer);
        note_rows(scorer, scan_column, edges);
        rules.ties.offer(edges.best, scorer.gain_of_missing(), {});
        return edges;
    }

    // Whether some rows are missing, and whether the known ones are one value.
    void note_rows(const CutScorer<Counter>& scorer, ScanColumn scan_column, EdgeScan& edges) const {
        edges.has_missing = scorer.has_missing();
        // Known rows of one bin may still differ; the scan of the bin decides.
        edges.constant =
            scorer.known_rows() == 0 || (!edges.several && (column(scan_column).exact || scorer.known_rows() < 2) &&
                                         !(scorer.has_missing() && tries_missing_));
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

    // Scores the cuts between bins of a column that was scanned roughly and returns the bins where a cut of gain
    // `min_gain` could hide, as `open_bins`; cuts of less gain may be left out.
    std::vector<OpenBin<Counter>> look_closer(const CutRules& rules, CutScorer<Counter>& scorer, ScanColumn scan_column,
                                              double min_gain, EdgeScan& edges, std::array<int16_t, 256>& open) const {
        std::vector<OpenBin<Counter>> found;
        if constexpr (EstimatesGains<Counter>) {
            edges.best = {};
            const size_t all = static_cast<size_t>(column(scan_column).bins);
            const Word* bin = bins(scan_column);
            Words<Counter> low = zero_words(counter_);
            const auto add = [&](size_t b) {
                for (size_t w = 0; w < words_; ++w) low[w] += bin[b * words_ + w];
            };
            size_t place = 0;
            for (size_t begin = 0; begin < all; begin += bins_per_group) {
                const size_t end = std::min(all, begin + bins_per_group);
                const bool closed = edges.most_of_group[begin / bins_per_group] < min_gain;
                for (size_t b = begin; b < end; ++b) {
                    const int64_t rows = closed ? 0 : counter_.listed(bin + b * words_);
                    if (rows >= 2 && !column(scan_column).exact &&
                        scorer.bound(low.data(), bin + b * words_, min_gain) >= min_gain) {
                        open[b] = static_cast<int16_t>(found.size());
                        found.push_back({static_cast<int>(b), place, rows, low});
                        place += static_cast<size_t>(rows);
                    }
                    add(b);
                    if (rows == 0) continue;
                    const int64_t low_rows = counter_.rows(low.data());
                    if (low_rows == scorer.known_rows()) return found;
                    const double gain = scorer.gain(low.data(), low_rows, ExactDivision{});
                    rules.ties.offer(edges.best, gain, {static_cast<int>(b), low_rows});
                }
            }
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
        add_bins(bins(scan_column), last + 1, low);
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
    static constexpr int min_bins_for_groups = 32;

    void add_bins(const Word* bin, int number, Words<Counter>& sum) const {
        for (int b = 0; b < number; ++b) {
            for (Word& word : sum) word += *bin++;
        }
    }

    // Every cut between bins.
    EdgeScan score_all(const CutRules& rules, ScanColumn scan_column, CutScorer<Counter>& scorer) const {
        EdgeScan edges;
        const Word* bin = bins(scan_column);
        Words<Counter> low = zero_words(counter_);
        int64_t low_rows = 0;
        for (int b = 0; b < column(scan_column).bins; ++b, bin += words_) {
            if (counter_.listed(bin) == 0) continue;
            for (size_t w = 0; w < words_; ++w) low[w] += bin[w];
            low_rows += counter_.rows(bin);
            if (low_rows == scorer.known_rows()) break;
            edges.several = true;
            const double gain = scorer.gain(low.data(), low_rows, ExactDivision{});
            edges.highest = std::max(edges.highest, gain > no_gain ? gain : scorer.gain_at_edge(low.data()));
            rules.ties.offer(edges.best, gain, {b, low_rows});
        }
        return edges;
    }

    // The cut that is best between groups of bins.
    EdgeScan score_one(const CutRules& rules, ScanColumn scan_column, CutScorer<Counter>& scorer) const {
        EdgeScan edges;
        if constexpr (EstimatesGains<Counter>) {
            const int all = column(scan_column).bins;
            const Word* bin = bins(scan_column);
            const auto is_empty = [&](int b) { return counter_.listed(bin + static_cast<size_t>(b) * words_) == 0; };
            const EdgeEstimates<Counter> estimates(counter_, rules, scorer, bin, static_cast<size_t>(all));
            int first = 0;
            while (first < all && is_empty(first)) ++first;
            edges.several = first < all && counter_.rows(bin + first * words_) < scorer.known_rows();
            edges.rough = true;
            edges.most = estimates.most();
            estimates.write_most(edges.most_of_group);
            const size_t best = estimates.best(std::max(static_cast<double>(rules.min_rows), scorer.min_weight()));
            if (best == estimates.groups()) return edges;
            int last = std::min(all, static_cast<int>((best + 1) * bins_per_group)) - 1;
            while (is_empty(last)) --last;
            const Words<Counter> low = up_to(scan_column, last);
            const int64_t low_rows = counter_.rows(low.data());
            rules.ties.offer(edges.best, scorer.gain(low.data(), low_rows, ExactDivision{}), {last, low_rows});
        }
        return edges;
    }

    const Counter& counter_;
    const SearchColumns& columns_;
    const Word* histogram_;
    bool tries_missing_;
    size_t words_;
    Words<Counter> total_;
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

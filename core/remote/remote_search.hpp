// The threshold search over remote rows: merged histograms first, then ever finer counts inside the bins that could
// hold a better cut.
//
// Bins with many rows are requested in cells, of which again only the promising ones are refined, so messages do not
// grow with the number of rows.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <optional>
#include <type_traits>

#include "remote/protocol.hpp"
#include "threshold/histogram_scan.hpp"

namespace tw {

// The work on one node.
template <CutCounter Counter>
struct RemoteSearch {
    // A cut inside a bin: after which key, and how good. `below` and `above` where they are known.
    struct Point {
        uint64_t key;
        double gain;
        int64_t low_rows;
        double below = 0, above = 0;
        Words<Counter> low;
    };

    int node = 0;
    int surrogate = -1; // which of the splits to imitate, -1: none
    std::optional<HistogramScan<Counter>> scan;
    CutRules rules;
    std::vector<double> to_beat; // per column
    std::vector<BinCut> coarse;
    std::vector<Cut> cuts;
    std::vector<std::vector<Point>> points; // per column
    std::vector<double> at;                 // the number after which each column is cut
    std::vector<Words<Counter>> low;        // what lies below
};

template <CutCounter Counter>
class RemoteRefiner {
public:
    using Word = typename Counter::Word;
    using Search = RemoteSearch<Counter>;
    using AskRanges = std::function<std::vector<Cells>(std::vector<KeyRange>)>;

    RemoteRefiner(const Counter& counter, const std::vector<ColumnBins>& binned, std::span<const int> by_histogram,
                  bool tries_missing)
        : counter_(counter), binned_(binned), by_histogram_(by_histogram), tries_missing_(tries_missing) {}

    // Cuts between bins; the search's node and cut rules are set.
    void scan_bin_edges(const Word* histogram, Search& search) const {
        search.scan.emplace(counter_, binned_, by_histogram_, histogram, tries_missing_);
        search.coarse.resize(by_histogram_.size());
        search.points.resize(by_histogram_.size());
        search.at.resize(by_histogram_.size());
        search.low.resize(by_histogram_.size(), zero_words(counter_));
        for (size_t scan_column = 0; scan_column < by_histogram_.size(); ++scan_column) {
            search.cuts.push_back(search.scan->scan_bin_edges(search.rules, scan_column, search.coarse[scan_column]));
        }
    }

    // Looks into bins, and into their cells, until nothing is left that could hide a cut better than `to_beat`.
    void refine(std::vector<Search>& searches, const AskRanges& request_cells, ThreadPool& pool) const {
        std::vector<std::vector<Open>> opened(searches.size());
        pool.run(static_cast<int64_t>(searches.size()),
                 [&](int64_t n) { open_bins(searches[n], static_cast<size_t>(n), opened[n]); });
        while (true) {
            std::vector<Open> open;
            for (std::vector<Open>& some : opened) {
                open.insert(open.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
                some.clear();
            }
            if (open.empty()) break;
            set_cells(open);
            std::vector<KeyRange> ranges;
            for (const Open& one : open) ranges.push_back(one.range);
            std::vector<Cells> cells = request_cells(std::move(ranges));
            // Ranges of one search stand together and are one thread's work.
            std::vector<size_t> start{0};
            for (size_t i = 1; i < open.size(); ++i) {
                if (open[i].search != open[i - 1].search) start.push_back(i);
            }
            start.push_back(open.size());
            pool.run(static_cast<int64_t>(start.size()) - 1, [&](int64_t s) {
                for (size_t i = start[s]; i < start[s + 1]; ++i) {
                    scan_cells(searches[open[i].search], open[i], cells[i], opened[open[i].search]);
                }
            });
        }
        pool.run(static_cast<int64_t>(searches.size()), [&](int64_t n) { pick_best(searches[n]); });
    }

private:
    using Point = typename Search::Point;

    static constexpr int64_t max_rows_by_value = 1 << 18; // so many in all bins together are told value by value
    static constexpr int64_t max_bin_rows_by_value = 256; // or so many in one bin
    static constexpr int cell_bits = 6;

    // A range that is being looked into: what lies below it, and how many rows it holds.
    struct Open {
        size_t search, scan_column;
        KeyRange range;
        int64_t rows;
        Words<Counter> below;
    };

    const ColumnBins& column(size_t scan_column) const {
        return binned_[static_cast<size_t>(by_histogram_[scan_column])];
    }

    void open_bins(const Search& search, size_t number, std::vector<Open>& opened) const {
        for (size_t scan_column = 0; scan_column < by_histogram_.size(); ++scan_column) {
            const ColumnBins& column = this->column(scan_column);
            if (column.exact) continue;
            CutScorer<Counter> scorer = search.scan->scorer(search.rules, scan_column);
            std::array<int16_t, 256> open;
            open.fill(-1);
            for (const OpenBin<Counter>& bin : search.scan->open_bins(scorer, scan_column, search.to_beat[scan_column],
                                                                      search.coarse[scan_column].highest, open)) {
                const size_t b = static_cast<size_t>(bin.bin);
                using Limits = std::numeric_limits<double>;
                const uint64_t first = b == 0 ? key_of(Limits::lowest()) : key_of(column.end[b - 1]) + 1;
                const uint64_t last = key_of(b < column.end.size() ? column.end[b] : Limits::max());
                const KeyRange range{search.node, by_histogram_[scan_column], first, last, 0, search.surrogate};
                opened.push_back({number, scan_column, range, bin.rows, bin.below});
            }
        }
    }

    // Few rows are told value by value, many in cells.
    static void set_cells(std::vector<Open>& open) {
        int64_t rows = 0;
        for (const Open& one : open) rows += one.rows;
        for (Open& one : open) {
            const int width = static_cast<int>(std::bit_width(one.range.last - one.range.first));
            const bool few = rows <= max_rows_by_value || one.rows <= max_bin_rows_by_value;
            one.range.shift = few ? 0 : std::max(0, width - cell_bits);
        }
    }

    void scan_cells(Search& search, const Open& open, Cells& cells, std::vector<Open>& opened) const {
        CutScorer<Counter> scorer = search.scan->scorer(search.rules, open.scan_column);
        const size_t words = static_cast<size_t>(counter_.words());
        const Word* counts = reinterpret_cast<const Word*>(cells.counts.template of<Word>().data());
        const double min_gain = search.to_beat[open.scan_column];
        const bool exact = open.range.shift == 0;
        const uint64_t keys = uint64_t{1} << open.range.shift;
        Words<Counter> low = open.below;
        std::vector<Point>& points = search.points[open.scan_column];
        if (exact && cells.cell.size() == 1 && open.rows == scorer.known_rows() &&
            !(scorer.has_missing() && tries_missing_)) {
            search.cuts[open.scan_column].constant = true;
        }
        for (size_t i = 0; i < cells.cell.size(); ++i, counts += words) {
            const uint64_t first = open.range.first + (cells.cell[i] << open.range.shift);
            const uint64_t last = std::min(open.range.last, first + (keys - 1));
            if (!exact && counter_.listed(counts) >= 2 && scorer.bound(low.data(), counts, min_gain) >= min_gain) {
                KeyRange range = open.range;
                range.first = first;
                range.last = last;
                opened.push_back({open.search, open.scan_column, range, counter_.listed(counts), low});
            }
            for (size_t w = 0; w < words; ++w) low[w] += counts[w];
            if (i + 1 == cells.cell.size()) break; // the cut after the last lies between bins, or between cells
            const int64_t low_rows = counter_.rows(low.data());
            const double gain = scorer.gain(low.data(), low_rows, ExactDivision{});
            if (!(gain > no_gain) || gain < min_gain) continue;
            Point& point = points.emplace_back(Point{last, gain, low_rows, 0, 0, low});
            if (exact) {
                point.below = number_of(first);
                point.above = number_of(open.range.first + cells.cell[i + 1]);
            }
        }
    }

    // The better of the best cut between bins and the best inside one: of equals the lowest.
    void pick_best(Search& search) const {
        for (size_t scan_column = 0; scan_column < search.cuts.size(); ++scan_column) {
            Cut& cut = search.cuts[scan_column];
            if (cut.low_rows > 0) {
                search.at[scan_column] = column(scan_column).end[static_cast<size_t>(search.coarse[scan_column].last)];
                search.low[scan_column] = search.scan->up_to(scan_column, search.coarse[scan_column].last);
            }
            std::vector<Point>& points = search.points[scan_column];
            std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.key < b.key; });
            const Point* best = nullptr;
            for (const Point& point : points) {
                if (search.rules.beats(point.gain, best ? best->gain : no_gain)) best = &point;
            }
            if (!best) continue;
            const bool is_lower = cut.low_rows == 0 || number_of(best->key) < search.at[scan_column];
            const bool take =
                is_lower ? !search.rules.beats(cut.gain, best->gain) : search.rules.beats(best->gain, cut.gain);
            if (!take) continue;
            cut.gain = best->gain;
            cut.low_rows = best->low_rows;
            cut.below = best->below;
            cut.above = best->above;
            search.at[scan_column] = number_of(best->key);
            search.low[scan_column] = best->low;
        }
    }

    const Counter& counter_;
    const std::vector<ColumnBins>& binned_;
    std::span<const int> by_histogram_;
    bool tries_missing_;
};

} // namespace tw

// Cuts of coded columns whose rows lie elsewhere: from merged histograms, and from ever finer looks into the bins that
// could hide a better one.
//
// Comes in: nodes with their histograms, and a way to ask for the cells of ranges. Goes out: for every column the cut
// an exhaustive search would find. Always holds: where bins with many rows must be looked into they are asked for in
// cells, of which again only those are looked into that could hide a better cut; so what is sent does not grow with the
// rows.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <optional>
#include <type_traits>

#include "question.hpp"
#include "sweep.hpp"

namespace tw {

// The work on one node.
template <class Counter>
struct PartsSearch {
    // A cut inside a bin: after which key, and how good. `below` and `above` where they are known.
    struct Point {
        uint64_t key;
        double merit;
        int64_t low_rows;
        double below = 0, above = 0;
        Words<Counter> low;
    };

    int node = 0;
    int asked = -1; // which of the splits to imitate, -1: none
    std::optional<CoarseSweep<Counter>> sweep;
    Yardstick yard;
    std::vector<double> to_beat; // per column
    std::vector<BinCut> coarse;
    std::vector<Cut> cuts;
    std::vector<std::vector<Point>> points; // per column
    std::vector<double> at;                 // the number after which each column is cut
    std::vector<Words<Counter>> low;        // what lies below
};

template <class Counter>
class PartsZoom {
public:
    using Word = typename Counter::Word;
    using Search = PartsSearch<Counter>;
    using AskRanges = std::function<std::vector<Cells>(std::vector<Range>)>;

    PartsZoom(const Counter& counter, const std::vector<CodedColumn>& coded, std::span<const int> swept,
              bool places_missing)
        : counter_(counter), coded_(coded), swept_(swept), places_missing_(places_missing) {}

    // Cuts between bins; the search's node and yardstick are set.
    void cut_between(const Word* histogram, Search& search) const {
        search.sweep.emplace(counter_, coded_, swept_, histogram, places_missing_);
        search.coarse.resize(swept_.size());
        search.points.resize(swept_.size());
        search.at.resize(swept_.size());
        search.low.resize(swept_.size(), no_words(counter_));
        for (size_t which = 0; which < swept_.size(); ++which) {
            search.cuts.push_back(search.sweep->cut_between(search.yard, which, search.coarse[which]));
        }
    }

    // Looks into bins, and into their cells, until nothing is left that could hide a cut better than `to_beat`.
    void zoom(std::vector<Search>& searches, const AskRanges& ask, Pool& pool) const {
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
            std::vector<Range> ranges;
            for (const Open& one : open) ranges.push_back(one.range);
            std::vector<Cells> cells = ask(std::move(ranges));
            // Ranges of one search stand together and are one thread's work.
            std::vector<size_t> start{0};
            for (size_t i = 1; i < open.size(); ++i) {
                if (open[i].search != open[i - 1].search) start.push_back(i);
            }
            start.push_back(open.size());
            pool.run(static_cast<int64_t>(start.size()) - 1, [&](int64_t s) {
                for (size_t i = start[s]; i < start[s + 1]; ++i) {
                    look_into(searches[open[i].search], open[i], cells[i], opened[open[i].search]);
                }
            });
        }
        pool.run(static_cast<int64_t>(searches.size()), [&](int64_t n) { settle(searches[n]); });
    }

private:
    using Point = typename Search::Point;

    static constexpr int64_t few_rows = 1 << 18; // so many in all bins together are told value by value
    static constexpr int64_t few_in_bin = 256;   // or so many in one bin
    static constexpr int cell_bits = 6;

    // A range that is being looked into: what lies below it, and how many rows it holds.
    struct Open {
        size_t search, which;
        Range range;
        int64_t rows;
        Words<Counter> below;
    };

    const CodedColumn& column(size_t which) const { return coded_[static_cast<size_t>(swept_[which])]; }

    void open_bins(const Search& search, size_t number, std::vector<Open>& opened) const {
        for (size_t which = 0; which < swept_.size(); ++which) {
            const CodedColumn& column = this->column(which);
            if (column.exact) continue;
            Scale<Counter> scale = search.sweep->scale(search.yard, which);
            std::array<int16_t, 256> open;
            open.fill(-1);
            for (const OpenBin<Counter>& bin :
                 search.sweep->open_bins(scale, which, search.to_beat[which], search.coarse[which].highest, open)) {
                const size_t b = static_cast<size_t>(bin.bin);
                using Limits = std::numeric_limits<double>;
                const uint64_t first = b == 0 ? key_of(Limits::lowest()) : key_of(column.end[b - 1]) + 1;
                const uint64_t last = key_of(b < column.end.size() ? column.end[b] : Limits::max());
                const Range range{search.node, swept_[which], first, last, 0, search.asked};
                opened.push_back({number, which, range, bin.rows, bin.below});
            }
        }
    }

    // Few rows are told value by value, many in cells.
    static void set_cells(std::vector<Open>& open) {
        int64_t rows = 0;
        for (const Open& one : open) rows += one.rows;
        for (Open& one : open) {
            const int width = static_cast<int>(std::bit_width(one.range.last - one.range.first));
            const bool few = rows <= few_rows || one.rows <= few_in_bin;
            one.range.shift = few ? 0 : std::max(0, width - cell_bits);
        }
    }

    void look_into(Search& search, const Open& open, Cells& cells, std::vector<Open>& opened) const {
        Scale<Counter> scale = search.sweep->scale(search.yard, open.which);
        const size_t words = static_cast<size_t>(counter_.words());
        const Word* counts = reinterpret_cast<const Word*>(cells.counts.template of<Word>().data());
        const double least = search.to_beat[open.which];
        const bool exact = open.range.shift == 0;
        const uint64_t keys = uint64_t{1} << open.range.shift;
        Words<Counter> low = open.below;
        std::vector<Point>& points = search.points[open.which];
        if (exact && cells.cell.size() == 1 && open.rows == scale.known_rows() && !(scale.gaps() && places_missing_)) {
            search.cuts[open.which].constant = true;
        }
        for (size_t i = 0; i < cells.cell.size(); ++i, counts += words) {
            const uint64_t first = open.range.first + (cells.cell[i] << open.range.shift);
            const uint64_t last = std::min(open.range.last, first + (keys - 1));
            if (!exact && counter_.listed(counts) >= 2 && scale.bound(low.data(), counts, least) >= least) {
                Range range = open.range;
                range.first = first;
                range.last = last;
                opened.push_back({open.search, open.which, range, counter_.listed(counts), low});
            }
            for (size_t w = 0; w < words; ++w) low[w] += counts[w];
            if (i + 1 == cells.cell.size()) break; // the cut after the last lies between bins, or between cells
            const int64_t low_rows = counter_.rows(low.data());
            const double merit = scale.of(low.data(), low_rows, Divide{});
            if (!(merit > nothing) || merit < least) continue;
            Point& point = points.emplace_back(Point{last, merit, low_rows, 0, 0, low});
            if (exact) {
                point.below = number_of(first);
                point.above = number_of(open.range.first + cells.cell[i + 1]);
            }
        }
    }

    // The better of the best cut between bins and the best inside one: of equals the lowest.
    void settle(Search& search) const {
        for (size_t which = 0; which < search.cuts.size(); ++which) {
            Cut& cut = search.cuts[which];
            if (cut.low_rows > 0) {
                search.at[which] = column(which).end[static_cast<size_t>(search.coarse[which].last)];
                search.low[which] = search.sweep->up_to(which, search.coarse[which].last);
            }
            std::vector<Point>& points = search.points[which];
            std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.key < b.key; });
            const Point* best = nullptr;
            for (const Point& point : points) {
                if (search.yard.beats(point.merit, best ? best->merit : nothing)) best = &point;
            }
            if (!best) continue;
            const bool is_lower = cut.low_rows == 0 || number_of(best->key) < search.at[which];
            const bool take =
                is_lower ? !search.yard.beats(cut.merit, best->merit) : search.yard.beats(best->merit, cut.merit);
            if (!take) continue;
            cut.merit = best->merit;
            cut.low_rows = best->low_rows;
            cut.below = best->below;
            cut.above = best->above;
            search.at[which] = number_of(best->key);
            search.low[which] = best->low;
        }
    }

    const Counter& counter_;
    const std::vector<CodedColumn>& coded_;
    std::span<const int> swept_;
    bool places_missing_;
};

} // namespace tw

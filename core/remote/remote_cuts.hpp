// The cuts of nodes whose rows are remote: ever finer counts inside the bins that could hold a better cut.
//
// Bins with many rows are requested in cells, of which again only the promising ones are refined, so messages do not
// grow with the number of rows.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "remote/protocol.hpp"
#include "threshold/search.hpp"

namespace tw {

template <CutCounter Counter>
class RemoteCuts final : public CutSource<Counter> {
public:
    using Word = typename Counter::Word;
    using Send = std::function<Reply(const Request&)>;

    // `followed`: the splits that surrogates follow, one per search; empty: cuts are searched by the target.
    RemoteCuts(const SearchColumns& columns, const Counter& counter, Send send, std::vector<ChildCounts> followed = {})
        : columns_(columns), counter_(counter), send_(std::move(send)), followed_(std::move(followed)) {}

    void refine(NodeSearches<Counter>& searches, ThreadPool& pool) override {
        inner_.assign(searches.size(), InnerCuts(columns_.scanned()));
        std::vector<std::vector<Open>> opened(searches.size());
        pool.run(static_cast<int64_t>(searches.size()), [&](int64_t n) {
            set_cuts(searches[n], static_cast<size_t>(n));
            open_bins(searches[n], static_cast<size_t>(n), opened[n]);
        });
        for (const NodeSearch<Counter>& search : searches) add_likely_edges(search);
        while (true) {
            std::vector<Open> open;
            for (std::vector<Open>& some : opened) {
                open.insert(open.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
                some.clear();
            }
            if (open.empty()) break;
            set_cells(open);
            for (size_t n = 0; n < searches.size(); ++n) add_likely_cell_edge(searches[n], inner_[n]);
            std::vector<Cells> cells = request_cells(open);
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
        pool.run(static_cast<int64_t>(searches.size()),
                 [&](int64_t n) { set_cuts(searches[n], static_cast<size_t>(n)); });
    }

    void locate(NodeSearches<Counter>& searches, const std::vector<CutOfNode>& cuts, ThreadPool&) override {
        Request request;
        std::vector<Cut*> requested;
        for (const auto& [n, scan_column] : cuts) {
            Cut& cut = searches[n].cuts[scan_column].cut;
            const CutAt at{searches[n].node, columns_.column(scan_column).column, cut.at};
            const auto known =
                std::find_if(edges_.begin(), edges_.end(), [&](const Edge& edge) { return edge.cut == at; });
            if (known != edges_.end() && known->known) {
                cut.below = known->values.below;
                cut.above = known->values.above;
                continue;
            }
            request.cuts.push_back(at);
            requested.push_back(&cut);
        }
        if (requested.empty()) return;
        const Reply reply = send_(request);
        for (size_t i = 0; i < requested.size(); ++i) {
            requested[i]->below = reply.cuts[i].below;
            requested[i]->above = reply.cuts[i].above;
        }
    }

private:
    static constexpr int64_t max_rows_by_value = 1 << 18; // so many in all bins together are sent value by value
    static constexpr int64_t max_bin_rows_by_value = 256; // or so many in one bin
    static constexpr int cell_bits = 6;

    // A range that is being looked into: what lies below it, and how many rows it holds.
    struct Open {
        size_t search;
        ScanColumn scan_column;
        KeyRange range;
        int64_t rows;
        Words<Counter> below;
    };
    struct Inner {
        double gain;
        InnerCut<Counter> cut;
    };
    using InnerCuts = IndexedVector<ScanColumn, std::vector<Inner>>; // cuts inside bins
    // The values next to a cut, once they are known.
    struct Edge {
        CutAt cut;
        bool known = false;
        CutEdges values = {};
    };

    void open_bins(const NodeSearch<Counter>& search, size_t number, std::vector<Open>& opened) const {
        for (const ScanColumn scan_column : columns_.scan_columns()) {
            const ColumnBins& column = columns_.column(scan_column);
            if (column.exact) continue;
            CutScorer<Counter> scorer = search.scan->scorer(search.rules, scan_column);
            std::array<int16_t, 256> open;
            open.fill(-1);
            for (const OpenBin<Counter>& bin : search.scan->open_bins(
                     scorer, scan_column, min_gain(search, scan_column), search.edges[scan_column].highest, open)) {
                const size_t b = static_cast<size_t>(bin.bin);
                using Limits = std::numeric_limits<double>;
                const uint64_t first = b == 0 ? key_of(Limits::lowest()) : key_of(column.end[b - 1]) + 1;
                const uint64_t last = key_of(b < column.end.size() ? column.end[b] : Limits::max());
                const int followed = followed_.empty() ? -1 : static_cast<int>(number);
                const KeyRange range{search.node, columns_.by_histogram[scan_column], first, last, 0, followed};
                opened.push_back({number, scan_column, range, bin.rows, bin.below});
            }
        }
    }
    static double min_gain(const NodeSearch<Counter>& search, ScanColumn scan_column) {
        return search.rules.least_wanted(search.gain_to_beat(scan_column));
    }

    // Few rows are sent value by value, many in cells.
    static void set_cells(std::vector<Open>& open) {
        int64_t rows = 0;
        for (const Open& one : open) rows += one.rows;
        for (Open& one : open) {
            const int width = static_cast<int>(std::bit_width(one.range.last - one.range.first));
            const bool few = rows <= max_rows_by_value || one.rows <= max_bin_rows_by_value;
            one.range.shift = few ? 0 : std::max(0, width - cell_bits);
        }
    }

    // The values next to likely cuts come along.
    std::vector<Cells> request_cells(const std::vector<Open>& open) {
        Request request;
        for (const Open& one : open) request.ranges.push_back(one.range);
        request.surrogate_histograms = followed_;
        std::vector<Edge*> requested;
        for (Edge& edge : edges_) {
            if (edge.known) continue;
            request.cuts.push_back(edge.cut);
            requested.push_back(&edge);
        }
        Reply reply = send_(request);
        for (size_t i = 0; i < requested.size(); ++i) {
            requested[i]->values = reply.cuts[i];
            requested[i]->known = true;
        }
        return std::move(reply.ranges);
    }

    // Where rivals are kept, too many cuts are likely.
    void add_likely_edges(const NodeSearch<Counter>& search) {
        if (!search.best.is_one()) return;
        const IndexedVector<ScanColumn, double> gains = search.gains();
        const double best = gains.empty() ? no_gain : *std::max_element(gains.begin(), gains.end());
        for (const ScanColumn i : gains.indices()) {
            const Cut& cut = search.cuts[i].cut;
            if (cut.low_rows > 0 && cut.gain >= search.rules.least_wanted(best)) {
                edges_.push_back({{search.node, columns_.column(i).column, cut.at}});
            }
        }
    }
    void add_likely_cell_edge(const NodeSearch<Counter>& search, const InnerCuts& inner) {
        if (!search.best.is_one()) return;
        const Inner* best = nullptr;
        ScanColumn column;
        for (const ScanColumn i : inner.indices()) {
            for (const Inner& one : inner[i]) {
                if (best && !(one.gain > best->gain)) continue;
                best = &one;
                column = i;
            }
        }
        if (!best || best->cut.below < best->cut.above) return;
        edges_.push_back({{search.node, columns_.column(column).column, best->cut.at}});
    }

    void scan_cells(NodeSearch<Counter>& search, const Open& open, Cells& cells, std::vector<Open>& opened) {
        CutScorer<Counter> scorer = search.scan->scorer(search.rules, open.scan_column);
        const size_t words = static_cast<size_t>(counter_.words());
        const Word* counts = reinterpret_cast<const Word*>(cells.counts.template of<Word>().data());
        const double least = min_gain(search, open.scan_column);
        const bool exact = open.range.shift == 0;
        const uint64_t keys = uint64_t{1} << open.range.shift;
        Words<Counter> low = open.below;
        std::vector<Inner>& inner = inner_[open.search][open.scan_column];
        if (exact && cells.cell.size() == 1 && open.rows == scorer.known_rows() &&
            !(scorer.has_missing() && search.scan->tries_missing())) {
            search.edges[open.scan_column].constant = true;
        }
        for (size_t i = 0; i < cells.cell.size(); ++i, counts += words) {
            const uint64_t first = open.range.first + (cells.cell[i] << open.range.shift);
            const uint64_t last = std::min(open.range.last, first + (keys - 1));
            if (!exact && counter_.listed(counts) >= 2 && scorer.bound(low.data(), counts, least) >= least) {
                KeyRange range = open.range;
                range.first = first;
                range.last = last;
                opened.push_back({open.search, open.scan_column, range, counter_.listed(counts), low});
            }
            for (size_t w = 0; w < words; ++w) low[w] += counts[w];
            if (i + 1 == cells.cell.size()) break; // the cut after the last lies between bins, or between cells
            const int64_t low_rows = counter_.rows(low.data());
            const double gain = scorer.gain(low.data(), low_rows, ExactDivision{});
            if (!(gain > no_gain) || gain < least) continue;
            InnerCut<Counter>& cut = inner.emplace_back(Inner{gain, {number_of(last), low_rows, 0, 0, low}}).cut;
            if (exact) {
                cut.below = number_of(first);
                cut.above = number_of(open.range.first + cells.cell[i + 1]);
            }
        }
    }

    void set_cuts(NodeSearch<Counter>& search, size_t number) {
        for (const ScanColumn scan_column : columns_.scan_columns()) {
            std::vector<Inner>& inner = inner_[number][scan_column];
            std::sort(inner.begin(), inner.end(), [](const Inner& a, const Inner& b) { return a.cut.at < b.cut.at; });
            FirstOfBest<InnerCut<Counter>> best;
            for (const Inner& one : inner) search.rules.ties.offer(best, one.gain, one.cut);
            search.cuts[scan_column] =
                search.scan->best_cut(search.rules, scan_column, search.edges[scan_column], best);
        }
    }

    const SearchColumns& columns_;
    const Counter& counter_;
    Send send_;
    std::vector<ChildCounts> followed_;
    std::vector<InnerCuts> inner_; // per search
    std::vector<Edge> edges_;
};

} // namespace tw

// Rows in parts whose numbers are coded: cuts from merged histograms, and from ever finer looks into the bins that
// could hide a better one.
//
// Comes in: what RowsParts knows. Goes out: the same candidates as rows_coded finds. Always holds: where bins with many
// rows must be looked into they are asked for in cells, of which again only those are looked into that could hide a
// better cut; so what is sent does not grow with the rows.
#pragma once

#include <array>
#include <bit>
#include <limits>

#include "cut.hpp"
#include "histograms.hpp"
#include "rows_parts.hpp"
#include "sweep.hpp"

namespace tw {

template <class Counter>
class RowsPartsCoded final : public RowsParts {
public:
    using Word = typename Counter::Word;

    RowsPartsCoded(const PartsGround& ground, const Recipe& recipe, const PartsSettings& settings, AskParts ask,
                   const Counter& counter)
        : RowsParts(ground, recipe, settings, std::move(ask)),
          coded_(ground.shape, ground.plan.coded, {}, {}),
          look_{source(), coded_, recipe, counter, {}, {}, 0, Inverses(0), nullptr} {
        set_swept(look_);
        histograms_.reserve(1);
    }

    void reserve(int nodes) override {
        RowsParts::reserve(nodes);
        histograms_.reserve(static_cast<size_t>(nodes));
    }
    void divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates, int first,
                Pool& pool) override {
        if (split.children() == 2) histograms_.divided(node, first, rows_of(node));
        RowsParts::divide(node, node_key, split, surrogates, first, pool);
    }

    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<Ask>& asks,
                                                   Pool& pool) override {
        std::vector<int> nodes;
        for (const Ask& ask : asks) nodes.push_back(ask.node);
        count(nodes, pool);
        std::vector<Search> searches(asks.size());
        pool.run(static_cast<int64_t>(asks.size()), [&](int64_t n) { begin(task, asks[n], searches[n]); });
        zoom(searches, pool);
        std::vector<std::vector<Candidate>> gathered(asks.size());
        if (!look_.gathered.empty()) gathered = counted(task, asks, look_.gathered, pool);
        std::vector<std::vector<Candidate>> found = tell(task, searches, std::move(gathered), pool);
        histograms_.keep_only(nodes);
        return found;
    }

private:
    static constexpr int64_t few_rows = 1 << 18; // so many in all bins together are told value by value
    static constexpr int64_t few_in_bin = 256;   // or so many in one bin
    static constexpr int cell_bits = 6;
    static constexpr size_t most_bytes = 1 << 26; // of histograms in one answer

    // A cut inside a bin: after which number, and how good. `below` and `above` where they are known.
    struct Point {
        uint64_t key;
        double merit;
        int64_t low_rows;
        double below = 0, above = 0;
    };
    // A range that is being looked into: what lies below it, and how many rows it holds.
    struct Open {
        size_t search, which;
        Range range;
        int64_t rows;
        Words<Counter> below;
    };
    // The work on one node's candidates.
    struct Search {
        const Ask* ask = nullptr;
        std::optional<CoarseSweep<Counter>> sweep;
        Yardstick yard;
        double best = nothing;
        std::vector<BinCut> coarse;
        std::vector<Cut> cuts;
        std::vector<std::vector<Point>> points; // per column
        std::vector<double> at;                 // where each column's cut lies
    };

    void count(const std::vector<int>& nodes, Pool& pool) {
        const std::vector<int> counted = histograms_.to_count(nodes, [&](int node) { return rows_of(node); });
        const size_t bytes = static_cast<size_t>(coded_.bins() * look_.counter.words()) * sizeof(Word);
        const size_t together = std::max<size_t>(1, most_bytes / std::max<size_t>(1, bytes));
        for (size_t first = 0; first < counted.size(); first += together) {
            Question question;
            const size_t last = std::min(counted.size(), first + together);
            question.histograms.assign(counted.begin() + static_cast<std::ptrdiff_t>(first),
                                       counted.begin() + static_cast<std::ptrdiff_t>(last));
            Answer answer = ask(question);
            for (size_t i = 0; i < question.histograms.size(); ++i) {
                const auto& counts = answer.histograms[i].template of<Word>();
                auto& own = histograms_.make(question.histograms[i], counts.size());
                std::copy(counts.begin(), counts.end(), own.begin());
            }
        }
        histograms_.subtract(pool);
    }

    // Cuts between bins.
    void begin(const Task& task, const Ask& ask, Search& search) {
        search.ask = &ask;
        search.sweep.emplace(look_.counter, coded_.columns(), look_.swept, histograms_.of(ask.node).data(),
                             scores_missing(recipe_.missing));
        search.yard = yardstick(task, look_.counter, ask.facts, span_at(ask.node));
        const size_t columns = look_.swept.size();
        search.coarse.resize(columns);
        search.points.resize(columns);
        for (size_t which = 0; which < columns; ++which) {
            search.cuts.push_back(search.sweep->cut_between(search.yard, which, search.coarse[which]));
        }
        search.best = bar(task, search.cuts);
    }

    // What the targets of a node span, from its total.
    Span span_at(int node) const {
        const Measure& measure = ground_.measure;
        if (measure.n_classes > 0) return {};
        const Total total = this->total(node);
        const Bin all = total.all.bin(0);
        const auto scaled = [&](double y) {
            return static_cast<double>(std::llround((y - measure.offset) / measure.target_unit));
        };
        const Sum size = std::max<Sum>(1, measure.even ? static_cast<Sum>(all.rows) : all.stat[0]);
        return {scaled(total.low), scaled(total.high), static_cast<int64_t>(all.stat[1] / size)};
    }

    double to_beat(const Search& search, size_t which) const {
        const bool rivals = recipe_.rivals > 0 || tells_all(recipe_);
        return (rivals ? std::max(search.best, search.cuts[which].merit) : search.best) - search.yard.rounding;
    }

    // Looks into bins, and into their cells, until nothing is left that could hide a better cut.
    void zoom(std::vector<Search>& searches, Pool& pool) {
        std::vector<std::vector<Open>> opened(searches.size());
        pool.run(static_cast<int64_t>(searches.size()), [&](int64_t n) { open_bins(searches[n], n, opened[n]); });
        while (true) {
            std::vector<Open> open;
            for (std::vector<Open>& some : opened) {
                open.insert(open.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
                some.clear();
            }
            if (open.empty()) break;
            set_cells(open);
            Question question;
            for (const Open& one : open) question.ranges.push_back(one.range);
            Answer answer = ask(question);
            // Ranges of one search stand together and are one thread's work.
            std::vector<size_t> start{0};
            for (size_t i = 1; i < open.size(); ++i) {
                if (open[i].search != open[i - 1].search) start.push_back(i);
            }
            start.push_back(open.size());
            pool.run(static_cast<int64_t>(start.size()) - 1, [&](int64_t s) {
                for (size_t i = start[s]; i < start[s + 1]; ++i) {
                    look_into(searches[open[i].search], open[i], answer.ranges[i], opened[open[i].search]);
                }
            });
        }
        pool.run(static_cast<int64_t>(searches.size()), [&](int64_t n) { settle_cuts(searches[n]); });
    }

    void open_bins(const Search& search, int64_t number, std::vector<Open>& opened) const {
        for (size_t which = 0; which < look_.swept.size(); ++which) {
            const CodedColumn& column = look_.column(which);
            if (column.exact) continue;
            Scale<Counter> scale = search.sweep->scale(search.yard, which);
            std::array<int16_t, 256> open;
            open.fill(-1);
            for (const OpenBin<Counter>& bin :
                 search.sweep->open_bins(scale, which, to_beat(search, which), search.coarse[which].highest, open)) {
                const size_t b = static_cast<size_t>(bin.bin);
                const uint64_t first =
                    b == 0 ? key_of(std::numeric_limits<double>::lowest()) : key_of(column.end[b - 1]) + 1;
                const uint64_t last =
                    key_of(b < column.end.size() ? column.end[b] : std::numeric_limits<double>::max());
                const Range range{search.ask->node, look_.swept[which], first, last, 0};
                opened.push_back({static_cast<size_t>(number), which, range, bin.rows, bin.below});
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
        const Counter& counter = look_.counter;
        Scale<Counter> scale = search.sweep->scale(search.yard, open.which);
        const size_t words = static_cast<size_t>(counter.words());
        const Word* counts = reinterpret_cast<const Word*>(cells.counts.template of<Word>().data());
        const double least = to_beat(search, open.which);
        const bool exact = open.range.shift == 0;
        const uint64_t keys = uint64_t{1} << open.range.shift;
        Words<Counter> low = open.below;
        std::vector<Point>& points = search.points[open.which];
        for (size_t i = 0; i < cells.cell.size(); ++i, counts += words) {
            const uint64_t first = open.range.first + (cells.cell[i] << open.range.shift);
            const uint64_t last = std::min(open.range.last, first + (keys - 1));
            if (!exact && counter.listed(counts) >= 2 && scale.bound(low.data(), counts, least) >= least) {
                const Range range{open.range.node, open.range.place, first, last, 0};
                opened.push_back({open.search, open.which, range, counter.listed(counts), low});
            }
            for (size_t w = 0; w < words; ++w) low[w] += counts[w];
            if (i + 1 == cells.cell.size()) break; // the cut after the last lies between bins, or between cells
            const int64_t low_rows = counter.rows(low.data());
            Point point{last, scale.of(low.data(), low_rows, Divide{}), low_rows};
            if (exact) {
                point.below = number_of(first);
                point.above = number_of(open.range.first + cells.cell[i + 1]);
            }
            if (point.merit > nothing) points.push_back(point);
        }
    }

    // The better of the best cut between bins and the best inside one: of equals the lowest.
    void settle_cuts(Search& search) const {
        search.at.resize(search.cuts.size());
        for (size_t which = 0; which < search.cuts.size(); ++which) {
            Cut& cut = search.cuts[which];
            if (cut.low_rows > 0)
                search.at[which] = look_.column(which).end[static_cast<size_t>(search.coarse[which].last)];
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
        }
    }

    // Cuts worth it become candidates; what the cut itself does not tell is asked for.
    std::vector<std::vector<Candidate>> tell(const Task& task, std::vector<Search>& searches,
                                             std::vector<std::vector<Candidate>> gathered, Pool& pool) {
        std::vector<std::vector<Candidate>> found(searches.size());
        std::vector<std::vector<Telling>> told(searches.size());
        Question question;
        std::vector<std::vector<int64_t>> answer_of(searches.size()); // per telling, -1: not asked
        for (size_t n = 0; n < searches.size(); ++n) {
            Search& search = searches[n];
            told[n] = tellings(look_, worth_telling(task, search.yard, search.cuts));
            for (const Telling& each : told[n]) {
                answer_of[n].push_back(-1);
                if (each.which < 0) continue;
                const Cut& cut = search.cuts[static_cast<size_t>(each.which)];
                const bool counted = needs_rows(task, look_, each, search.cuts);
                if (!counted && (cut.low_rows == 0 || cut.placed())) continue;
                answer_of[n].back() = static_cast<int64_t>(question.cuts.size());
                question.cuts.push_back({search.ask->node, each.column, cut.low_rows > 0, counted,
                                         search.at[static_cast<size_t>(each.which)]});
            }
        }
        const Answer answer = question.cuts.empty() ? Answer{} : ask(question);
        pool.run(static_cast<int64_t>(searches.size()), [&](int64_t n) {
            Search& search = searches[n];
            size_t next_gathered = 0;
            for (size_t i = 0; i < told[n].size(); ++i) {
                const Telling& each = told[n][i];
                if (each.which < 0) {
                    found[n].push_back(std::move(gathered[n][next_gathered++]));
                    continue;
                }
                Cut& cut = search.cuts[static_cast<size_t>(each.which)];
                const int64_t place = answer_of[n][i];
                if (place >= 0) {
                    cut.below = answer.cuts[static_cast<size_t>(place)].below;
                    cut.above = answer.cuts[static_cast<size_t>(place)].above;
                }
                found[n].push_back(
                    needs_rows(task, look_, each, search.cuts)
                        ? rated_cut(task, source(), search.ask->facts, each.column, cut, answer.cuts[place])
                        : candidate_of(task, look_.counter, search.ask->facts, each.column, cut));
            }
        });
        return found;
    }

    CodedTable coded_;
    Ground<Counter> look_;
    Histograms<Word> histograms_;
};

} // namespace tw

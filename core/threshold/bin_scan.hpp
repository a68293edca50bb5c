// The best cut between the rows of one bin, as if they were sorted.
//
// Many rows are counted into cells first, and only rows of cells that could hold a cut as good as `min_gain` are
// sorted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "threshold/cut.hpp"

namespace tw {

// Calls `found(b, low)` for each of the bins where a cut of gain `min_gain` could hide, if no cut between bins has more
// than `highest`; `low` is what lies below the bin.
template <CutCounter Counter, class Found>
void find_open_bins(const Counter& counter, CutScorer<Counter>& scorer, std::span<const typename Counter::Word> bins,
                    Words<Counter> low, double min_gain, double highest, const Found& found) {
    const size_t words = static_cast<size_t>(counter.words());
    const double needed = scorer.leeway_needed(min_gain, highest);
    for (size_t b = 0; b * words < bins.size(); ++b) {
        const typename Counter::Word* bin = &bins[b * words];
        const int64_t listed = counter.listed(bin);
        if (listed == 0) continue;
        if (listed >= 2 && !scorer.leeway(low.data(), bin).falls_short(needed) &&
            scorer.bound(low.data(), bin, min_gain) >= min_gain) {
            found(b, low);
        }
        for (size_t w = 0; w < words; ++w) low[w] += bin[w];
    }
}

// A cut inside a bin, and what lies below it. `below` and `above` where they are known.
template <CutCounter Counter>
struct InnerCut {
    double at = 0; // the number after which the column is cut
    int64_t low_rows = 0;
    double below = 0, above = 0;
    Words<Counter> low{};
};

// Sorted alike for all counters of one item, so it is no part of what depends on the counter.
template <class Item>
struct ValueAndItem {
    double value;
    Item item;

    static bool is_lower(const ValueAndItem& a, const ValueAndItem& b) { return a.value < b.value; }
};
template <class Item>
void sort_by_value(std::span<ValueAndItem<Item>> rows) {
    std::sort(rows.begin(), rows.end(), ValueAndItem<Item>::is_lower);
}

template <CutCounter Counter>
class BinScan {
public:
    using Word = typename Counter::Word;
    using Row = ValueAndItem<typename Counter::Item>;

    BinScan(const Counter& counter, const CutRules& rules, CutScorer<Counter>& scorer)
        : counter_(counter), rules_(rules), scorer_(scorer), words_(static_cast<size_t>(counter.words())) {}

    using Best = FirstOfBest<InnerCut<Counter>>;

    // Offers the cuts inside, from the lowest to the highest; those of less gain than `min_gain` may be left out. The
    // rows are put in another order.
    void offer_cuts(std::span<Row> rows, const Words<Counter>& below, double min_gain, Best& best) {
        if (rows.size() >= min_rows_for_cells) {
            const auto [first, last] = std::minmax_element(rows.begin(), rows.end(), Row::is_lower);
            const size_t cells = std::min(max_cells, rows.size() / rows_per_cell);
            const double start = first->value, per_value = static_cast<double>(cells - 1) / (last->value - start);
            if (start == last->value) return;
            if (std::isfinite(last->value - start) && std::isfinite(per_value)) {
                return offer_by_cells(rows, below, min_gain, best, cells, [start, per_value](double x) {
                    return static_cast<size_t>((x - start) * per_value);
                });
            }
        }
        sort_by_value(rows);
        scan(rows, below, best);
    }

private:
    static constexpr size_t min_rows_for_cells = 96, rows_per_cell = 8, max_cells = 256;

    // `cell_of` keeps the order of values.
    template <class CellOf>
    void offer_by_cells(std::span<Row> rows, const Words<Counter>& below, double min_gain, Best& best, size_t cells,
                        const CellOf& cell_of) {
        counts_.assign(cells * words_, Word{0});
        for (const Row& row : rows) counter_.add(&counts_[cell_of(row.value) * words_], row.item);
        // What lies below each cell; cuts between cells are cuts, and the best of them is to be beaten, too.
        std::vector<Words<Counter>> starts;
        starts.reserve(cells + 1);
        starts.push_back(below);
        double highest = scorer_.gain_at_edge(below.data());
        std::vector<double> after(cells, no_gain); // the gain of the cut after each cell
        for (size_t cell = 0; cell < cells; ++cell) {
            Words<Counter>& low = starts.emplace_back(starts.back());
            if (counter_.listed(&counts_[cell * words_]) == 0) continue;
            for (size_t w = 0; w < words_; ++w) low[w] += counts_[cell * words_ + w];
            const double gain = scorer_.gain(low.data(), counter_.rows(low.data()), ExactDivision{});
            highest = std::max(highest, gain > no_gain ? gain : scorer_.gain_at_edge(low.data()));
            if (cell + 1 == cells) break;
            after[cell] = gain;
            min_gain = std::max(min_gain, rules_.ties.least(gain));
        }
        // A cut between two cells is met where both are sorted: next to open ones, and wherever it is good itself.
        std::vector<uint8_t> sorted(cells, 0);
        const auto take = [&](size_t cell, size_t step) {
            const auto empty = [&](size_t c) { return counter_.listed(&counts_[c * words_]) == 0; };
            do cell += step;
            while (cell < cells && empty(cell));
            if (cell < cells) sorted[cell] = 1;
        };
        for (size_t cell = 0; cell < cells; ++cell) {
            if (after[cell] < min_gain) continue;
            sorted[cell] = 1;
            take(cell, 1);
        }
        find_open_bins(counter_, scorer_, std::span<const Word>(counts_), below, min_gain, highest,
                       [&](size_t cell, const Words<Counter>&) {
                           sorted[cell] = 1;
                           take(cell, 1);
                           take(cell, ~size_t{0});
                       });
        const auto end =
            std::partition(rows.begin(), rows.end(), [&](const Row& row) { return sorted[cell_of(row.value)] != 0; });
        sort_by_value(std::span<Row>(rows.begin(), end));
        // Ranges of neighbouring cells, one by one.
        for (auto first = rows.begin(); first != end;) {
            size_t cell = cell_of(first->value);
            const Words<Counter>& low = starts[cell];
            while (cell < cells && (sorted[cell] != 0 || counter_.listed(&counts_[cell * words_]) == 0)) ++cell;
            const auto last = std::find_if(first, end, [&](const Row& row) { return cell_of(row.value) >= cell; });
            scan(std::span<const Row>(first, last), low, best);
            first = last;
        }
    }

    // Tries every cut between sorted rows.
    void scan(std::span<const Row> rows, Words<Counter> low, Best& best) {
        for (size_t i = 0; i + 1 < rows.size(); ++i) {
            counter_.add(low.data(), rows[i].item);
            const double at = rows[i].value, next = rows[i + 1].value;
            if (next == at) continue;
            const int64_t low_rows = counter_.rows(low.data());
            const double gain = scorer_.gain(low.data(), low_rows, ExactDivision{});
            if (gain > best.most()) rules_.ties.offer(best, gain, {at, low_rows, at, next, low});
        }
    }

    const Counter& counter_;
    const CutRules& rules_;
    CutScorer<Counter>& scorer_;
    size_t words_;
    std::vector<Word> counts_;
};

} // namespace tw

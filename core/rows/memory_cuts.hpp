// The cuts of nodes whose rows are in memory.
#pragma once

#include <algorithm>
#include <vector>

#include "threshold/median_scan.hpp"
#include "threshold/ordered_scan.hpp"
#include "threshold/search.hpp"

namespace tw {

// The most promising columns first: they close bins of the others.
inline std::vector<ScanColumn> by_falling_gain(const IndexedVector<ScanColumn, double>& gains) {
    std::vector<ScanColumn> order = gains.indices().list();
    std::stable_sort(order.begin(), order.end(), [&](ScanColumn a, ScanColumn b) { return gains[a] > gains[b]; });
    return order;
}

template <CutCounter Counter>
class MemoryCuts final : public CutSource<Counter> {
public:
    using Item = typename Counter::Item;

    explicit MemoryCuts(const SearchColumns& columns) : columns_(columns) {}

    // The rows of the next search, and what each of them adds.
    void add(const NodeSearch<Counter>& search, std::span<const uint32_t> rows, std::span<const Item> items) {
        nodes_.push_back({rows, items});
        refiners_.emplace_back(*search.scan, rows, items);
    }

    void refine(NodeSearches<Counter>& searches, ThreadPool& pool) override {
        const size_t columns = columns_.scanned();
        std::vector<std::vector<ScanColumn>> order;
        for (const NodeSearch<Counter>& search : searches) order.push_back(by_falling_gain(search.edge_gains()));
        pool.run(static_cast<int64_t>(searches.size() * columns), [&](int64_t i) {
            const ProfileTimer watch(columns_.profile, &Profile::refining);
            const size_t n = static_cast<size_t>(i) / columns;
            refine_column(searches[n], n, order[n][static_cast<size_t>(i) % columns]);
        });
    }

    void locate(NodeSearches<Counter>& searches, const std::vector<CutOfNode>& cuts, ThreadPool& pool) override {
        pool.run(static_cast<int64_t>(cuts.size()), [&](int64_t i) {
            const auto [n, scan_column] = cuts[static_cast<size_t>(i)];
            refiners_[n].locate(scan_column, searches[n].cuts[scan_column].cut);
        });
    }

    Histogram count_sides(size_t search, TableColumn column, const Cut& cut) const override {
        if constexpr (TargetCounter<Counter>) {
            const std::vector<Entry> entries = entries_of(nodes_[search].rows, nodes_[search].items);
            return histogram_of_sides(columns_.training, entries, column.value, values_beside(cut));
        } else {
            return CutSource<Counter>::count_sides(search, column, cut);
        }
    }

    // Whether all rows of a search that know the column have one value, and nothing else is to be tried.
    bool is_constant(const NodeSearch<Counter>& search, size_t number, ScanColumn scan_column) const {
        if (search.rules.ordered) return search.cuts[scan_column].cut.constant;
        const EdgeScan& edges = search.edges[scan_column];
        if (edges.constant || edges.several || columns_.column(scan_column).exact) return edges.constant;
        return !(edges.has_missing && search.scan->tries_missing()) && refiners_[number].is_one_value(scan_column);
    }

    EdgeScan scan_bin_edges(const NodeSearches<Counter>& searches, size_t number, ScanColumn scan_column,
                            bool roughly) const override {
        if constexpr (ScoresRows<Counter>) {
            return median_scan(searches[number], number, scan_column).scan_bin_edges();
        } else {
            return CutSource<Counter>::scan_bin_edges(searches, number, scan_column, roughly);
        }
    }

private:
    struct Node {
        std::span<const uint32_t> rows;
        std::span<const Item> items;
    };

    void refine_column(NodeSearch<Counter>& search, size_t number, ScanColumn scan_column) const {
        const BinRefiner<Counter>& refiner = refiners_[number];
        const auto to_beat = [&] { return search.gain_to_beat(scan_column); };
        const double known = search.edges[scan_column].best.most();
        // Rows listed once are never searched in order of values, nor are surrogates.
        if constexpr (TargetCounter<Counter> && !ScoresRows<Counter> && !RepeatedItem<Item>) {
            if (search.rules.ordered) {
                return search.set_cut(scan_column, OrderedScan<Counter>(refiner, search.rules, scan_column).find(),
                                      known);
            }
        }
        if (search.to_beat[scan_column] == std::numeric_limits<double>::infinity()) return;
        EdgeScan& edges = search.edges[scan_column];
        if constexpr (ScoresRows<Counter>) {
            search.set_cut(scan_column, median_scan(search, number, scan_column).refine(edges, to_beat), known);
        } else {
            search.set_cut(scan_column, refiner.refine(search.rules, scan_column, edges, to_beat), known);
        }
    }

    MedianScan<Counter> median_scan(const NodeSearch<Counter>& search, size_t number, ScanColumn scan_column) const {
        return {*search.scan, search.rules, scan_column, nodes_[number].rows, nodes_[number].items};
    }

    const SearchColumns& columns_;
    std::vector<Node> nodes_; // one per search
    std::vector<BinRefiner<Counter>> refiners_;
};

} // namespace tw

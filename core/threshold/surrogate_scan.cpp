#include "threshold/surrogate_scan.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

namespace tw {
namespace {

constexpr int64_t min_rows = 2; // rows each side must rest on, as in split/surrogate.cpp

bool is_split_column(const SearchColumns& columns, const Split& split, ScanColumn scan_column) {
    return columns.column(scan_column).column.value == split.column;
}

// Only as many as are kept need to be exact, and only those that agree more often than the majority.
void set_gains_to_beat(const Task& task, const SearchColumns& columns, const Split& split,
                       NodeSearch<SurrogateCounter>& search) {
    const IndexedVector<ScanColumn, double> gains = search.edge_gains();
    IndexedVector<ScanColumn, double> reference;
    std::vector<double> reached;
    for (const ScanColumn i : gains.indices()) {
        reference.push_back(search.scan->scorer(search.rules, i).reference());
        if (!is_split_column(columns, split, i)) reached.push_back(gains[i] + reference[i]);
    }
    std::sort(reached.begin(), reached.end(), std::greater<>());
    const Words<SurrogateCounter>& total = search.scan->total();
    const size_t kept = static_cast<size_t>(task.recipe.max_surrogates);
    const double agreement = std::max(static_cast<double>(std::max(total[3], total[4])) + 0.5,
                                      kept < reached.size() ? reached[kept] : no_gain);
    for (const ScanColumn i : gains.indices()) {
        search.to_beat[i] = is_split_column(columns, split, i) ? std::numeric_limits<double>::infinity()
                                                               : std::max(agreement - reference[i], gains[i]);
    }
}

// The cut as two bins, counted by child as binning/value_histogram.hpp does.
Histogram two_bin_histogram(int column, const Words<SurrogateCounter>& total, const AgreeingCut& agreeing) {
    const auto& [cut, low, missing] = agreeing;
    Histogram histogram;
    histogram.column = column;
    histogram.width = 4;
    histogram.at = {cut.below, cut.above};
    for (int side = 0; side < 3; ++side) {
        Sum* sums = histogram.append();
        const auto word = [&](size_t w) {
            return side == 0 ? low[w] : side == 2 ? missing[w] : total[w] - low[w] - missing[w];
        };
        for (size_t child = 0; child < 2; ++child) {
            sums[child] = word(3 + child);
            sums[2 + child] = word(1 + child);
        }
        histogram.rows.back() = word(1) + word(2);
    }
    return histogram;
}

} // namespace

bool can_scan_surrogates(const SearchColumns& columns, const Split& split) {
    return split.children() == 2 && columns.scanned() > 0;
}

CutRules surrogate_cut_rules() {
    CutRules rules;
    rules.min_rows = min_rows;
    return rules;
}

std::vector<SurrogateCounter::Item> surrogate_items(const TrainingTable& training, const Split& split,
                                                    std::span<const Entry> entries) {
    std::vector<SurrogateCounter::Item> items;
    items.reserve(entries.size());
    for (const Entry& entry : entries) {
        const int child = route(split, training.table.columns[split.column], entry.row);
        items.push_back({child < 0 ? SurrogateCounter::unknown_child : child, entry.weight});
    }
    return items;
}

std::vector<Entry> whole_rows(const Measure& measure, std::span<const uint32_t> rows) {
    std::vector<Entry> entries;
    entries.reserve(rows.size());
    for (const uint32_t row : rows) entries.push_back({row, measure.weight_of(row)});
    return entries;
}

Histogram child_histogram_of_cells(const LevelColumn& column, const SurrogateCounter::Word* cells) {
    Histogram histogram;
    histogram.column = column.column.value;
    histogram.width = 4;
    for (int code = 0; code <= column.levels; ++code, cells += SurrogateCounter::fixed) {
        if (cells[0] == 0 && code < column.levels) continue;
        if (code < column.levels) histogram.at.push_back(code);
        Sum* sums = histogram.append();
        for (int child = 0; child < 2; ++child) {
            sums[child] = cells[3 + child];
            sums[2 + child] = cells[1 + child];
        }
        histogram.rows.back() = cells[1] + cells[2];
    }
    return histogram;
}

std::vector<Surrogate> to_surrogates(const Task& task, const SearchColumns& columns, const Split& split,
                                     const Words<SurrogateCounter>& total,
                                     const IndexedVector<ScanColumn, AgreeingCut>& cuts,
                                     std::span<const Histogram> by_value) {
    const std::vector<ColumnFacts>& facts = columns.training.facts;
    const double unit = task.measure.weight_unit;
    const std::vector<double> sent{static_cast<double>(total[3]) * unit, static_cast<double>(total[4]) * unit};
    std::vector<std::optional<Surrogate>> of_column(facts.size());
    const auto add = [&](int column, const Histogram& histogram) {
        const size_t index = static_cast<size_t>(column);
        of_column[index] = best_surrogate(task, facts[index], histogram, split, sent);
    };
    for (const ScanColumn i : cuts.indices()) {
        const int column = columns.column(i).column.value;
        if (column != split.column && cuts[i].cut.low_rows > 0) add(column, two_bin_histogram(column, total, cuts[i]));
    }
    for (size_t i = 0; i < by_value.size(); ++i) {
        const int column = columns.by_value[i].value;
        if (column != split.column) add(column, by_value[i]);
    }
    std::vector<Surrogate> found;
    for (std::optional<Surrogate>& one : of_column) {
        if (one) found.push_back(std::move(*one));
    }
    return found;
}

std::vector<std::vector<Surrogate>> find_surrogates(const Task& task, const SearchColumns& columns,
                                                    std::span<const ChosenSplit> chosen,
                                                    NodeSearches<SurrogateCounter>& searches,
                                                    std::span<const Histogram> by_value,
                                                    CutSource<SurrogateCounter>& source, ThreadPool& pool) {
    const auto split_of = [&](const NodeSearch<SurrogateCounter>& search) -> const Split& {
        return *chosen[static_cast<size_t>(&search - searches.data())].split;
    };
    find_cuts(
        columns, searches,
        [&](NodeSearch<SurrogateCounter>& search) { set_gains_to_beat(task, columns, split_of(search), search); },
        source, pool);
    std::vector<CutOfNode> not_located;
    for (size_t n = 0; n < searches.size(); ++n) {
        for (const ScanColumn i : columns.scan_columns()) {
            const Cut& cut = searches[n].cuts[i].cut;
            if (cut.low_rows > 0 && !cut.located()) not_located.push_back({n, i});
        }
    }
    source.locate(searches, not_located, pool);
    std::vector<std::vector<Surrogate>> found(searches.size());
    pool.run(static_cast<int64_t>(searches.size()), [&](int64_t n) {
        const NodeSearch<SurrogateCounter>& search = searches[static_cast<size_t>(n)];
        IndexedVector<ScanColumn, AgreeingCut> cuts;
        for (const ScanColumn i : columns.scan_columns()) {
            cuts.push_back({search.cuts[i].cut, search.low(i), search.scan->scorer(search.rules, i).missing()});
        }
        const size_t first = static_cast<size_t>(n) * columns.by_value.size();
        found[static_cast<size_t>(n)] = to_surrogates(task, columns, split_of(search), search.scan->total(), cuts,
                                                      by_value.subspan(first, columns.by_value.size()));
    });
    return found;
}

} // namespace tw

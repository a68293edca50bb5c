#include "threshold/surrogate_scan.hpp"

#include <algorithm>
#include <functional>

namespace tw {
namespace {

constexpr int64_t min_rows = 2; // rows each side must rest on, as in split/surrogate.cpp

// The cut as two buckets, counted by child as binning/value_histogram.hpp does.
Histogram two_bin_histogram(const TrainingTable& training, const SurrogateScan& scan, int column, const Cut& cut) {
    Histogram histogram;
    histogram.column = column;
    histogram.width = 4;
    histogram.at = {cut.below, cut.above};
    for (int i = 0; i < 3; ++i) histogram.append();
    for (size_t i = 0; i < scan.items.size(); ++i) {
        const SurrogateCounter::Item& item = scan.items[i];
        if (item.child == SurrogateCounter::unknown_child) continue;
        const double x = training.value(column, scan.entries[i].row);
        const size_t side = x != x ? 2 : x > cut.below ? 1 : 0;
        histogram.stats[side * 4 + static_cast<size_t>(item.child)] += item.weight;
        histogram.stats[side * 4 + 2 + static_cast<size_t>(item.child)] += 1;
        ++histogram.rows[side];
    }
    return histogram;
}

} // namespace

CutRules surrogate_cut_rules() {
    CutRules rules;
    rules.tolerance = 0.5; // weights are whole units
    rules.min_rows = min_rows;
    return rules;
}

double surrogate_gain_to_beat(const Task& task, double majority, std::vector<double> reached) {
    std::sort(reached.begin(), reached.end(), std::greater<>());
    const size_t kept = static_cast<size_t>(task.recipe.max_surrogates);
    return std::max(majority + 0.5, kept < reached.size() ? reached[kept] : no_gain);
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

SurrogateScan::SurrogateScan(const TrainingTable& training, const Split& split_to_follow,
                             std::span<const uint32_t> rows, std::span<const int> by_histogram)
    : split(split_to_follow), possible(split_to_follow.children() == 2 && !by_histogram.empty()) {
    entries.reserve(rows.size());
    for (const uint32_t row : rows) entries.push_back({row, training.measure.weight_of(row)});
    if (!possible) return;
    int64_t weight[3] = {0, 0, 0};
    items = surrogate_items(training, split, entries);
    for (const SurrogateCounter::Item& item : items) weight[item.child] += item.weight;
    majority = static_cast<double>(std::max(weight[0], weight[1]));
    rules = surrogate_cut_rules();
}

std::vector<Surrogate> SurrogateScan::to_surrogates(const Task& task, const TrainingTable& training,
                                                    std::span<const int> by_histogram, const BinnedTable& binned,
                                                    const std::vector<Cut>& cuts, ThreadPool& pool) const {
    const std::vector<double> sent = weight_sent(task, split, child_histogram(training, entries, split.column, split));
    const size_t columns = training.facts.size();
    std::vector<const Cut*> cut_of(columns, nullptr);
    std::vector<bool> is_by_histogram(columns, false);
    for (size_t i = 0; i < by_histogram.size(); ++i) {
        const size_t column = static_cast<size_t>(binned.columns()[static_cast<size_t>(by_histogram[i])].column);
        is_by_histogram[column] = true;
        if (cuts[i].low_rows > 0) cut_of[column] = &cuts[i];
    }
    std::vector<std::optional<Surrogate>> found(columns);
    pool.run(static_cast<int64_t>(columns), [&](int64_t i) {
        const int column = static_cast<int>(i);
        if (column == split.column || (is_by_histogram[i] && !cut_of[i])) return;
        found[i] = best_surrogate(task, training.facts[i],
                                  is_by_histogram[i] ? two_bin_histogram(training, *this, column, *cut_of[i])
                                                     : child_histogram(training, entries, column, split),
                                  split, sent);
    });
    std::vector<Surrogate> result;
    for (auto& surrogate : found) {
        if (surrogate) result.push_back(std::move(*surrogate));
    }
    return result;
}

} // namespace tw

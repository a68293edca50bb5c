#include "imitate.hpp"

#include <algorithm>
#include <functional>

namespace tw {
namespace {

constexpr int64_t least_rows = 2; // rows each side must rest on, as in surrogate.cpp

// The cut as two buckets, counted by child as gather.hpp does.
Buckets two_buckets(const Source& source, const ImitationTask& imitated, int column, const Cut& cut) {
    Buckets buckets;
    buckets.column = column;
    buckets.width = 4;
    buckets.at = {cut.below, cut.above};
    for (int i = 0; i < 3; ++i) buckets.append();
    for (size_t i = 0; i < imitated.items.size(); ++i) {
        const Imitation::Item& item = imitated.items[i];
        if (item.child == Imitation::no_child) continue;
        const double x = source.value(column, imitated.entries[i].row);
        const size_t side = x != x ? 2 : x > cut.below ? 1 : 0;
        buckets.stats[side * 4 + static_cast<size_t>(item.child)] += item.weight;
        buckets.stats[side * 4 + 2 + static_cast<size_t>(item.child)] += 1;
        ++buckets.rows[side];
    }
    return buckets;
}

} // namespace

Yardstick imitation_yard() {
    Yardstick yard;
    yard.rounding = 0.5; // weights are whole units
    yard.least = least_rows;
    return yard;
}

double imitation_bar(const Task& task, double majority, std::vector<double> reached) {
    std::sort(reached.begin(), reached.end(), std::greater<>());
    const size_t kept = static_cast<size_t>(task.recipe.max_surrogates);
    return std::max(majority + 0.5, kept < reached.size() ? reached[kept] : nothing);
}

std::vector<Imitation::Item> imitation_items(const Source& source, const Split& split, std::span<const Entry> entries) {
    std::vector<Imitation::Item> items;
    items.reserve(entries.size());
    for (const Entry& entry : entries) {
        const int child = route(split, source.table.columns[split.column], entry.row);
        items.push_back({child < 0 ? Imitation::no_child : child, entry.weight});
    }
    return items;
}

ImitationTask::ImitationTask(const Source& source, const Split& asked, std::span<const uint32_t> rows,
                             std::span<const int> swept)
    : split(asked), possible(asked.children() == 2 && !swept.empty()) {
    entries.reserve(rows.size());
    for (const uint32_t row : rows) entries.push_back({row, source.measure.weight_of(row)});
    if (!possible) return;
    int64_t weight[3] = {0, 0, 0};
    items = imitation_items(source, split, entries);
    for (const Imitation::Item& item : items) weight[item.child] += item.weight;
    majority = static_cast<double>(std::max(weight[0], weight[1]));
    yard = imitation_yard();
}

std::vector<Surrogate> ImitationTask::tell(const Task& task, const Source& source, std::span<const int> swept,
                                           const CodedTable& coded, const std::vector<Cut>& cuts, Pool& pool) const {
    const std::vector<double> sent = weight_sent(task, split, count_children(source, entries, split.column, split));
    const size_t columns = source.facts.size();
    std::vector<const Cut*> cut_of(columns, nullptr);
    std::vector<bool> is_swept(columns, false);
    for (size_t i = 0; i < swept.size(); ++i) {
        const size_t column = static_cast<size_t>(coded.columns()[static_cast<size_t>(swept[i])].column);
        is_swept[column] = true;
        if (cuts[i].low_rows > 0) cut_of[column] = &cuts[i];
    }
    std::vector<std::optional<Surrogate>> found(columns);
    pool.run(static_cast<int64_t>(columns), [&](int64_t i) {
        const int column = static_cast<int>(i);
        if (column == split.column || (is_swept[i] && !cut_of[i])) return;
        found[i] = best_surrogate(task, source.facts[i],
                                  is_swept[i] ? two_buckets(source, *this, column, *cut_of[i])
                                              : count_children(source, entries, column, split),
                                  split, sent);
    });
    std::vector<Surrogate> result;
    for (auto& surrogate : found) {
        if (surrogate) result.push_back(std::move(*surrogate));
    }
    return result;
}

} // namespace tw

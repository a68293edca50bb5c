#include "rows/exhaustive_rows.hpp"

#include <algorithm>
#include <cmath>

#include "rows/row_router.hpp"

namespace tw {
ExhaustiveRows::ExhaustiveRows(const Table& table, const Recipe& recipe, const Measure& measure, ThreadPool& pool)
    : rows_(training_rows(table, recipe, measure, &pool)),
      training_(training_table(table, recipe, measure, rows_, pool)) {
    std::vector<Entry> all;
    all.reserve(rows_.size());
    for (const uint32_t row : rows_) all.push_back({row, measure.weight_of(row)});
    entries_.push_back(std::move(all));
    LargeVector<uint32_t>().swap(rows_);
}

ExhaustiveRows::ExhaustiveRows(TrainingTable training, std::vector<Entry> entries) : training_(std::move(training)) {
    entries_.push_back(std::move(entries));
}

std::vector<std::vector<Candidate>> ExhaustiveRows::candidates(const Task& task,
                                                               const std::vector<OpenNode>& open_nodes,
                                                               ThreadPool& pool) {
    const int64_t width = columns();
    std::vector<std::vector<Candidate>> found(open_nodes.size(), std::vector<Candidate>(width));
    pool.run(static_cast<int64_t>(open_nodes.size()) * width, [&](int64_t i) {
        const OpenNode& open_node = open_nodes[i / width];
        const int column = static_cast<int>(i % width);
        Candidate& candidate = found[i / width][column];
        if (training_.facts[column].allowed) {
            candidate = best_candidate(task, open_node.facts, training_.facts[column],
                                       target_histogram(training_, entries_[open_node.node], column));
        }
        candidate.column = column;
    });
    return found;
}

std::vector<std::vector<Surrogate>> ExhaustiveRows::surrogates(const Task& task, const std::vector<ChosenSplit>& chosen,
                                                               ThreadPool& pool) {
    std::vector<std::vector<Surrogate>> found;
    for (const auto& [node, split] : chosen) {
        found.push_back(surrogates_by_value(task, training_, entries_[node], *split, pool));
    }
    return found;
}

std::vector<Surrogate> surrogates_by_value(const Task& task, const TrainingTable& training,
                                           std::span<const Entry> entries, const Split& split, ThreadPool& pool) {
    const std::vector<double> sent = weight_sent(task, split, child_histogram(training, entries, split.column, split));
    std::vector<std::optional<Surrogate>> found(training.facts.size());
    pool.run(static_cast<int64_t>(found.size()), [&](int64_t i) {
        const int column = static_cast<int>(i);
        if (column == split.column || !training.facts[i].allowed) return;
        found[i] =
            best_surrogate(task, training.facts[i], child_histogram(training, entries, column, split), split, sent);
    });
    std::vector<Surrogate> result;
    for (auto& surrogate : found) {
        if (surrogate) result.push_back(std::move(*surrogate));
    }
    return result;
}

void ExhaustiveRows::partition(std::vector<NodeSplit> splits, int64_t, ThreadPool& pool) {
    entries_.resize(nodes_after(splits));
    partition_each(splits, pool, [&](const NodeSplit& at) {
        route_entries(training_.table.columns, at.key, at.split, at.surrogates, entries_[at.node],
                      [&](int child, const Entry& entry) { entries_[at.first + child].push_back(entry); });
        std::vector<Entry>().swap(entries_[at.node]);
    });
}

} // namespace tw

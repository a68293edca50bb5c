#include "rows/histogram_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "binning/training_table.hpp"
#include "rows/exhaustive_rows.hpp"
#include "rows/histogram_surrogates.hpp"
#include "rows/level_scan.hpp"
#include "rows/memory_cuts.hpp"
#include "rows/row_router.hpp"
#include "rows/sorted_rows.hpp"

namespace tw {
namespace {

// So few rows are better ordered than counted: more where a histogram is large.
template <TargetCounter Counter>
int64_t sorted_row_limit(int cells, const Counter& counter) {
    return std::clamp<int64_t>(static_cast<int64_t>(cells) * counter.words() / 64, 512, max_sorted_rows);
}

// An order serves all levels below. Where few are to come and cuts between bins are estimated, so few rows are better
// ordered: 3, 6, 12 of 16 with one, two, three levels.
template <TargetCounter Counter>
int64_t rows_worth_sorting(const SearchContext<Counter>& context, int64_t levels) {
    const int64_t most = context.max_sorted_rows;
    const bool estimates = EstimatesGains<Counter> && !context.plan.keeps_all_columns;
    if (!estimates || context.plan.ordered || levels > 3) return most;
    return most * 3 * (int64_t{1} << std::max<int64_t>(levels, 1)) / 32;
}

// Whether nothing of the search looks at the rows of a sample one by one.
bool can_list_rows_once(const Recipe& recipe, const SearchPlan& plan) {
    const bool wants_surrogates = recipe.missing == Missing::surrogates && recipe.max_surrogates > 0;
    return !wants_surrogates && recipe.numeric != Numeric::quantile_binned && !plan.ordered && !plan.counts_sides;
}

std::vector<ValueRanks> rank_columns(const Table& table, const BinnedTable& binned, const SearchPlan& plan,
                                     double min_gap, Profile* profile, ThreadPool& pool) {
    if (!plan.needs_ranks) return {};
    std::vector<ValueRanks> value_ranks(binned.columns().size());
    pool.run(static_cast<int64_t>(value_ranks.size()), [&](int64_t i) {
        const ProfileTimer watch(profile, &Profile::binning);
        value_ranks[i] = rank_values(table, binned, BinnedColumn(i), min_gap);
    });
    return value_ranks;
}

// Cuts that are scored from rows need them by rising target, of equals by number; partitioning keeps the order.
template <TargetCounter Counter>
LargeVector<uint32_t> rows_to_search(LargeVector<uint32_t> rows, const Measure& measure) {
    if constexpr (ScoresRows<Counter>) {
        std::vector<size_t> next(measure.rank_value.size() + 1, 0);
        for (const uint32_t row : rows) ++next[measure.rank[row] + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        LargeVector<uint32_t> sorted(rows.size());
        for (const uint32_t row : rows) sorted[next[measure.rank[row]]++] = row;
        return sorted;
    }
    return rows;
}

} // namespace

template <TargetCounter Counter>
TreeData<Counter>::TreeData(const Table& table, const Recipe& recipe, const Measure& measure,
                            std::shared_ptr<const BinnedTable> bins, const SearchPlan& plan, const Counter& counter,
                            Profile* profile, ThreadPool& pool)
    : binned(std::move(bins)),
      partition(make_partition<typename Counter::Item>(
          rows_to_search<Counter>(training_rows(table, recipe, measure, &pool, RepeatedItem<typename Counter::Item>),
                                  measure),
          [&](uint32_t row) { return counter.item(row); }, pool)),
      levels(plan.counts_levels ? LevelTable(table, pool) : LevelTable()),
      value_ranks(rank_columns(table, *binned, plan, recipe.threshold.min_gap, profile, pool)),
      training(training_table(table, recipe, measure, partition->row, pool, known_values())),
      context(SearchColumns(training, *binned, plan, value_ranks, profile, &levels), recipe, counter,
              sorted_row_limit(binned->bins() + levels.cells(), counter)) {}

template <TargetCounter Counter>
DistinctOf TreeData<Counter>::known_values() const {
    if (value_ranks.empty()) return nullptr;
    return [this](TableColumn column) {
        const BinnedColumn index = binned->index_of(column);
        return values_present(value_ranks[index.offset()], *binned, index, partition->row);
    };
}

template <TargetCounter Counter>
HistogramRows<Counter>::HistogramRows(std::shared_ptr<TreeData<Counter>> tree_data, NodeRows<Item> all,
                                      int64_t max_sorted_rows, int64_t max_detached_rows)
    : tree_data_(std::move(tree_data)),
      context_(tree_data_->context),
      max_sorted_rows_(max_sorted_rows),
      max_detached_rows_(max_detached_rows),
      node_rows_{std::move(all)} {
    histograms_.reserve(1);
}

template <TargetCounter Counter>
std::vector<MakeRows> HistogramRows<Counter>::detach(std::span<const int> nodes) {
    std::vector<MakeRows> makers;
    for (const int node : nodes) makers.push_back([this, node] { return detached(node); });
    return makers;
}

template <TargetCounter Counter>
std::unique_ptr<RowStore> HistogramRows<Counter>::detached(int node) const {
    if (static_cast<int64_t>(size(node)) > max_sorted_rows_) {
        return std::make_unique<HistogramRows>(tree_data_, node_rows_[node], max_sorted_rows_, 0);
    }
    return std::make_unique<SortedRows<Counter>>(context_, rows(node), items(node));
}

// --- counting ---

// Rows of a node that are counted together.
struct CountBlock {
    int node;
    size_t begin, end;
    size_t size() const { return end - begin; }
};

// Blocks of at most so many rows of whole nodes, so divided that threads end together: equal ones of a node, the
// largest first.
std::vector<CountBlock> count_blocks(const std::vector<CountBlock>& whole, size_t most, int threads) {
    constexpr size_t worth_sharing = 8192; // of fewer rows, adding the blocks up takes too much of the time
    const size_t n_threads = static_cast<size_t>(threads);
    size_t total = 0;
    for (const CountBlock& each : whole) total += each.size();
    const size_t at_once = std::min(most, std::max(worth_sharing, (total + n_threads - 1) / n_threads));
    std::vector<CountBlock> blocks;
    for (const CountBlock& each : whole) {
        const size_t size = each.size();
        size_t pieces = (size + at_once - 1) / at_once;
        if (pieces > n_threads) pieces = (pieces + n_threads - 1) / n_threads * n_threads;
        for (size_t i = 0; i < pieces; ++i) blocks.push_back({each.node, size * i / pieces, size * (i + 1) / pieces});
    }
    std::ranges::stable_sort(blocks, std::greater<>(), &CountBlock::size);
    return blocks;
}

// Histograms of these nodes, row by row.
template <TargetCounter Counter>
void HistogramRows<Counter>::count(const std::vector<int>& nodes, ThreadPool& pool) {
    using Narrow = typename Counter::Narrow;
    const Counter& counter = context_.counter;
    const size_t words = static_cast<size_t>(counter.words()), narrow = static_cast<size_t>(counter.narrow_words());
    const LevelTable& levels = *context_.levels;
    const size_t cells = static_cast<size_t>(context_.cells()), bins = static_cast<size_t>(context_.binned.bins());
    std::vector<CountBlock> whole;
    for (const int node : nodes) {
        histograms_.make(node, cells * words);
        whole.push_back({node, 0, size(node)});
    }
    const std::vector<CountBlock> blocks =
        count_blocks(whole, static_cast<size_t>(max_narrow_entries(counter)), pool.threads());
    constexpr size_t max_counts_per_bin = 8; // fewer are counted sooner than narrow bins are made and added up
    std::mutex adding;
    pool.run(static_cast<int64_t>(blocks.size()), [&](int64_t p) {
        const ProfileTimer watch(context_.profile, &Profile::histograms);
        const auto& [node, begin, end] = blocks[p];
        const auto rows = this->rows(node).subspan(begin, end - begin);
        const auto items = this->items(node).subspan(begin, end - begin);
        const auto count_into = [&](auto* histogram, size_t per_cell) {
            count_rows(counter, context_.binned, rows, items, per_cell, histogram);
            count_codes(counter, levels, levels.cells(), rows, items, per_cell, histogram + bins * per_cell);
        };
        const size_t columns = context_.binned.columns().size() + levels.columns().size();
        const bool few = std::is_same_v<Narrow, Word> || rows.size() * columns <= max_counts_per_bin * cells;
        if (few && rows.size() == size(node)) {
            return count_into(histograms_.of(node).data(), words);
        }
        std::vector<Narrow> own(cells * narrow, Narrow{0});
        count_into(own.data(), narrow);
        const std::lock_guard<std::mutex> lock(adding);
        Word* sum = histograms_.of(node).data();
        for (size_t cell = 0; cell < cells; ++cell) counter.widen(sum + cell * words, &own[cell * narrow]);
    });
}

// --- choosing ---

template <TargetCounter Counter>
std::vector<std::vector<Candidate>> HistogramRows<Counter>::candidates(const Task& task,
                                                                       const std::vector<OpenNode>& open_nodes,
                                                                       ThreadPool& pool) {
    std::vector<std::vector<Candidate>> found(open_nodes.size());
    std::vector<OpenNode> large;
    std::vector<size_t> position; // of each large node among all
    std::vector<int> nodes;
    for (size_t i = 0; i < open_nodes.size(); ++i) {
        // Where leaves are limited, nodes come one by one, small ones too.
        if (static_cast<int64_t>(size(open_nodes[i].node)) <= max_sorted_rows_) {
            found[i] = detached(open_nodes[i].node)->candidates(task, {{0, open_nodes[i].facts}}, pool)[0];
            continue;
        }
        large.push_back(open_nodes[i]);
        position.push_back(i);
        nodes.push_back(open_nodes[i].node);
    }
    count(histograms_.to_count(nodes, [&](int node) { return size(node); }), pool);
    {
        const ProfileTimer watch(context_.profile, &Profile::histograms);
        histograms_.subtract(pool);
    }
    NodeSearches<Counter> searches(large.size());
    pool.run(static_cast<int64_t>(large.size()), [&](int64_t n) {
        const auto& [node, facts] = large[n];
        searches[n].node = node;
        searches[n].rules = cut_rules(task, context_, facts, target_range_of<Item>(items(node)));
        searches[n].scan.emplace(context_.counter, context_, histograms_.of(node).data(), context_.plan.tries_missing);
        if (context_.profile) context_.profile->counted_rows += static_cast<int64_t>(size(node) * context_.scanned());
    });
    MemoryCuts<Counter> source(context_);
    for (const NodeSearch<Counter>& search : searches) source.add(search, rows(search.node), items(search.node));
    std::vector<std::vector<Candidate>> by_value; // where columns are drawn, made before
    if (context_.plan.draws_columns) by_value = candidates_by_value(task, large, pool);
    if (context_.plan.scans_levels) scan_levels(searches, pool);
    const auto draw = [&](NodeSearch<Counter>& search) {
        const size_t n = static_cast<size_t>(&search - searches.data());
        if (!context_.plan.draws_columns) return;
        leave_out_undrawn(task, context_, large[n].facts, search, by_value[n],
                          [&](ScanColumn column) { return source.is_constant(search, n, column); });
    };
    find_cuts(
        context_, searches,
        [&](NodeSearch<Counter>& search) {
            draw(search);
            set_split_gains_to_beat(task, context_.plan, search);
        },
        source, pool, !context_.plan.keeps_all_columns);
    if (context_.plan.ordered) std::for_each(searches.begin(), searches.end(), draw);
    std::vector<std::vector<Candidate>> of_large = to_candidates(
        task, context_, large, searches,
        [&](size_t n, size_t i) {
            return by_value.empty() ? candidate_at(task, large[n], context_.by_value[i]) : std::move(by_value[n][i]);
        },
        source, pool);
    for (size_t n = 0; n < large.size(); ++n) found[position[n]] = std::move(of_large[n]);
    histograms_.keep_only(nodes);
    return found;
}

// The gains of columns of levels, where all of them are counted.
template <TargetCounter Counter>
void HistogramRows<Counter>::scan_levels(NodeSearches<Counter>& searches, ThreadPool& pool) {
    const std::vector<TableColumn>& columns = context_.by_value;
    if (std::ranges::any_of(columns, [&](TableColumn column) { return !context_.counted(column); })) return;
    // Scores of targets next to the smallest numbers are zero where gains are not: all columns are compared by them.
    if (!std::isnormal(context_.counter.unit())) return;
    for (NodeSearch<Counter>& search : searches) search.level_gains.assign(columns.size(), no_gain);
    pool.run(static_cast<int64_t>(searches.size() * columns.size()), [&](int64_t i) {
        const ProfileTimer watch(context_.profile, &Profile::edge_scan);
        NodeSearch<Counter>& search = searches[static_cast<size_t>(i) / columns.size()];
        const size_t c = static_cast<size_t>(i) % columns.size();
        const LevelColumn& column = *context_.counted(columns[c]);
        search.level_gains[c] = LevelScan<Counter>().best_gain_of_cells(context_, search.rules, search.scan->total(),
                                                                        column, cells_of(search.node, column));
    });
}

// A column's candidate at a large node: from its histogram, if it is counted there with all a candidate needs.
template <TargetCounter Counter>
Candidate HistogramRows<Counter>::candidate_at(const Task& task, const OpenNode& open_node, TableColumn column) {
    const auto& [node, facts] = open_node;
    const LevelColumn* counted = context_.counted(column);
    if (!counted || context_.plan.counts_sides) {
        return candidate_by_value(task, training(), facts, column, entries_of(rows(node), items(node)));
    }
    Candidate candidate =
        best_candidate(task, facts, training().facts[column.offset()],
                       histogram_of_cells(context_.counter, training().measure, *counted, cells_of(node, *counted)));
    candidate.column = column.value;
    return candidate;
}

template <TargetCounter Counter>
std::vector<std::vector<Candidate>> HistogramRows<Counter>::candidates_by_value(const Task& task,
                                                                                const std::vector<OpenNode>& open_nodes,
                                                                                ThreadPool& pool) {
    const std::vector<TableColumn>& columns = context_.by_value;
    std::vector<std::vector<Candidate>> found(open_nodes.size(), std::vector<Candidate>(columns.size()));
    pool.run(static_cast<int64_t>(open_nodes.size() * columns.size()), [&](int64_t i) {
        const size_t n = static_cast<size_t>(i) / columns.size(), c = static_cast<size_t>(i) % columns.size();
        found[n][c] = candidate_at(task, open_nodes[n], columns[c]);
    });
    return found;
}

template <TargetCounter Counter>
std::vector<std::vector<Surrogate>> HistogramRows<Counter>::surrogates(const Task& task,
                                                                       const std::vector<ChosenSplit>& chosen,
                                                                       ThreadPool& pool) {
    std::vector<std::vector<Surrogate>> found;
    for (const ChosenSplit& one : chosen) found.push_back(surrogates_of(task, one, pool));
    return found;
}

template <TargetCounter Counter>
std::vector<Surrogate> HistogramRows<Counter>::surrogates_of(const Task& task, const ChosenSplit& chosen,
                                                             ThreadPool& pool) {
    const int node = chosen.node;
    if (static_cast<int64_t>(size(node)) <= max_sorted_rows_) {
        return detached(node)->surrogates(task, {{0, chosen.split}}, pool)[0];
    }
    return surrogates_by_histogram(task, context_, chosen, rows(node), pool);
}

// --- partitioning ---

// So that threads end together.
static void put_largest_first(std::vector<NodeSplit>& splits, const std::function<size_t(int)>& rows) {
    std::ranges::stable_sort(splits, std::greater<>(), [&](const NodeSplit& at) { return rows(at.node); });
}

template <TargetCounter Counter>
void HistogramRows<Counter>::partition(std::vector<NodeSplit> splits, int64_t levels, ThreadPool& pool) {
    max_sorted_rows_ = rows_worth_sorting(context_, levels);
    node_rows_.resize(nodes_after(splits));
    histograms_.reserve(node_rows_.size());
    put_largest_first(splits, [&](int node) { return size(node); });
    partition_each(splits, pool, [&](const NodeSplit& at) { partition_node(at, pool); });
}

template <TargetCounter Counter>
void HistogramRows<Counter>::partition_node(const NodeSplit& at, ThreadPool& pool) {
    const ProfileTimer watch(context_.profile, &Profile::partitioning);
    const RowRouter router(context_.binned, training().table.columns, at.split, at.surrogates, at.key);
    const size_t rows = size(at.node);
    PartitionedRows<Item> partitioned = partition_rows(node_rows_[at.node], router, at.split, pool);
    node_rows_[at.node].partition.reset();
    std::move(partitioned.children.begin(), partitioned.children.end(), node_rows_.begin() + at.first);
    if (at.split.children() == 2 && !partitioned.fractional) histograms_.add_children(at.node, at.first, rows);
}

std::unique_ptr<RowStore> histogram_rows(const Table& table, const Recipe& recipe, const Measure& measure,
                                         std::shared_ptr<const BinnedTable> binned, Profile* profile,
                                         ThreadPool& pool) {
    std::unique_ptr<RowStore> rows;
    if (!plan_search(recipe, table.columns, measure, {}, RowPlace::memory).uses_histograms()) return rows;
    if (!binned) {
        const ProfileTimer watch(profile, &Profile::binning);
        binned = std::make_shared<const BinnedTable>(table, pool);
    }
    std::vector<bool> has_missing(table.columns.size(), false);
    for (const ColumnBins& column : binned->columns()) has_missing[column.column.offset()] = column.has_missing;
    const SearchPlan plan = plan_search(recipe, table.columns, measure, has_missing, RowPlace::memory);
    const auto make = [&](const auto& counter) {
        using Counter = std::decay_t<decltype(counter)>;
        auto tree_data =
            std::make_shared<TreeData<Counter>>(table, recipe, measure, binned, plan, counter, profile, pool);
        const NodeRows<typename Counter::Item> all{tree_data->partition, {0, tree_data->partition->row.size()}};
        const int64_t max_detached_rows = static_cast<int64_t>(all.range.size()) / (8 * pool.threads());
        rows = std::make_unique<HistogramRows<Counter>>(tree_data, all, tree_data->context.max_sorted_rows,
                                                        max_detached_rows);
    };
    const Criterion criterion = counted_criterion(recipe.criterion);
    if (!can_list_rows_once(recipe, plan) || !with_repeated_counter(criterion, measure, make)) {
        with_counter_of_rows(criterion, measure, make);
    }
    return rows;
}

} // namespace tw

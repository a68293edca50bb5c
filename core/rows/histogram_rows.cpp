#include "rows/histogram_rows.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "binning/training_table.hpp"
#include "rows/exhaustive_rows.hpp"
#include "rows/row_router.hpp"
#include "rows/sorted_rows.hpp"
#include "threshold/ordered_scan.hpp"
#include "threshold/surrogate_scan.hpp"

namespace tw {
namespace {

// So few rows are better ordered than counted: more where a histogram is large.
template <TargetCounter Counter>
int64_t sorted_row_limit(const BinnedTable& binned, const Counter& counter) {
    return std::clamp<int64_t>(static_cast<int64_t>(binned.bins()) * counter.words() / 64, 512, max_sorted_rows);
}

std::vector<ValueRanks> rank_columns(const Table& table, const BinnedTable& binned, const Recipe& recipe,
                                     Profile* profile, ThreadPool& pool) {
    if (!needs_ordered_scan(recipe) && !recipe.threshold.observed) return {};
    std::vector<ValueRanks> value_ranks(binned.columns().size());
    pool.run(static_cast<int64_t>(value_ranks.size()), [&](int64_t position) {
        const ProfileTimer watch(profile, &Profile::binning);
        value_ranks[position] = rank_values(table, binned, static_cast<size_t>(position));
    });
    return value_ranks;
}

// The known values of a column, rising.
std::vector<double> values_present(const std::vector<ValueRanks>& value_ranks, const BinnedTable& binned, int column,
                                   std::span<const uint32_t> rows) {
    const size_t position = static_cast<size_t>(binned.index_of(column));
    std::vector<double> values;
    for (const uint32_t rank : ranks_present(value_ranks[position], binned, position, rows)) {
        values.push_back(value_ranks[position].value[rank] + 0.0); // -0 and 0 are one value
    }
    return values;
}

} // namespace

template <TargetCounter Counter>
TreeData<Counter>::TreeData(const Table& table, const Recipe& recipe, const Measure& measure,
                            std::shared_ptr<const BinnedTable> codes, const Counter& counter, Profile* profile,
                            ThreadPool& pool)
    : binned(std::move(codes)),
      partition(make_partition<typename Counter::Item>(
          training_rows(table, recipe, measure), [&](uint32_t row) { return counter.item(row); }, pool)),
      value_ranks(rank_columns(table, *binned, recipe, profile, pool)),
      training(
          training_table(table, recipe, measure, partition->row, pool,
                         [this](int column) { return values_present(value_ranks, *binned, column, partition->row); })),
      context{training,
              *binned,
              recipe,
              counter,
              {},
              {},
              sorted_row_limit(*binned, counter),
              ReciprocalTable(sorted_row_limit(*binned, counter)),
              value_ranks,
              profile} {
    plan_columns(context);
}

// The work on one node's candidates.
template <TargetCounter Counter>
struct HistogramRows<Counter>::NodeSearch {
    const OpenNode* open_node = nullptr;
    std::optional<RefiningScan<Counter>> scan;
    CutRules rules;
    std::vector<BinCut> coarse;
    std::vector<Cut> cuts;
    std::vector<Words<Counter>> low; // what lies below each cut
    std::vector<int> order;          // columns, the most promising first
    std::atomic<double> best{no_gain};
    std::vector<CandidateColumn> kept;
    std::vector<Entry> entries; // if anything is told that needs rows
};

template <TargetCounter Counter>
HistogramRows<Counter>::HistogramRows(std::shared_ptr<TreeData<Counter>> tree_data, NodeRows<Item> all,
                                      int64_t max_detached_rows)
    : tree_data_(std::move(tree_data)),
      context_(tree_data_->context),
      max_detached_rows_(max_detached_rows),
      node_rows_{std::move(all)} {
    histograms_.reserve(1);
}

template <TargetCounter Counter>
void HistogramRows<Counter>::reserve(int nodes) {
    node_rows_.resize(std::max<size_t>(node_rows_.size(), nodes));
    histograms_.reserve(node_rows_.size());
}

template <TargetCounter Counter>
std::unique_ptr<RowStore> HistogramRows<Counter>::detach(int node) {
    if (static_cast<int64_t>(size(node)) > context_.max_sorted_rows) {
        return std::make_unique<HistogramRows>(tree_data_, node_rows_[node], context_.max_sorted_rows);
    }
    return std::make_unique<SortedRows<Counter>>(context_, rows(node), items(node));
}

// --- counting ---

// Histograms of these nodes, row by row.
template <TargetCounter Counter>
void HistogramRows<Counter>::count(const std::vector<int>& nodes, ThreadPool& pool) {
    using Narrow = typename Counter::Narrow;
    struct Block {
        int node;
        size_t begin, end;
    };
    const Counter& counter = context_.counter;
    const size_t words = static_cast<size_t>(counter.words()), narrow = static_cast<size_t>(counter.narrow_words());
    const size_t bins = static_cast<size_t>(context_.binned.bins());
    std::vector<Block> blocks;
    for (const int node : nodes) {
        histograms_.make(node, bins * words);
        for (size_t at = 0; at < size(node); at += max_narrow_rows) {
            blocks.push_back({node, at, std::min<size_t>(size(node), at + max_narrow_rows)});
        }
    }
    std::mutex adding;
    pool.run(static_cast<int64_t>(blocks.size()), [&](int64_t p) {
        const ProfileTimer watch(context_.profile, &Profile::histograms);
        const auto& [node, begin, end] = blocks[p];
        std::vector<Narrow> own(bins * narrow, Narrow{0});
        count_rows(counter, context_.binned, rows(node).subspan(begin, end - begin),
                   items(node).subspan(begin, end - begin), narrow, own.data());
        const std::lock_guard<std::mutex> lock(adding);
        Word* sum = histograms_.of(node).data();
        for (size_t bin = 0; bin < bins; ++bin) counter.widen(sum + bin * words, &own[bin * narrow]);
    });
}

// --- choosing ---

template <TargetCounter Counter>
std::vector<std::vector<Candidate>> HistogramRows<Counter>::candidates(const Task& task,
                                                                       const std::vector<OpenNode>& open_nodes,
                                                                       ThreadPool& pool) {
    std::vector<std::vector<Candidate>> found(open_nodes.size());
    // Where leaves are limited, nodes come one by one, small ones too.
    std::vector<size_t> large;
    std::vector<int> nodes;
    for (size_t i = 0; i < open_nodes.size(); ++i) {
        if (static_cast<int64_t>(size(open_nodes[i].node)) <= context_.max_sorted_rows) {
            found[i] = detach(open_nodes[i].node)->candidates(task, {{0, open_nodes[i].facts}}, pool)[0];
        } else {
            large.push_back(i);
            nodes.push_back(open_nodes[i].node);
        }
    }
    count(histograms_.to_count(nodes, [&](int node) { return size(node); }), pool);
    {
        const ProfileTimer watch(context_.profile, &Profile::histograms);
        histograms_.subtract(pool);
    }
    const size_t columns = context_.by_histogram.size();
    std::vector<NodeSearch> searches(large.size());
    pool.run(static_cast<int64_t>(large.size()), [&](int64_t n) {
        NodeSearch& search = searches[n];
        search.open_node = &open_nodes[large[n]];
        const int node = search.open_node->node;
        search.scan.emplace(context_.counter, training().table, context_.binned, context_.by_histogram, rows(node),
                            items(node), histograms_.of(node).data(), scores_missing(context_.recipe.missing),
                            context_.profile);
        if (context_.profile) context_.profile->counted_rows += static_cast<int64_t>(rows(node).size() * columns);
        search.rules = cut_rules(task, context_.counter, search.open_node->facts, target_range_of<Item>(items(node)));
        search.coarse.resize(columns);
        search.cuts.resize(columns);
        search.low.resize(columns);
    });
    if (needs_ordered_scan(context_.recipe)) {
        find_ordered_cuts(searches, pool);
    } else {
        find_cuts(task, searches, pool);
    }
    // What is told of one node is many tasks: near the root there is one node, and many threads wait.
    std::vector<std::pair<size_t, size_t>> tasks; // search, converting
    for (size_t n = 0; n < searches.size(); ++n) {
        NodeSearch& search = searches[n];
        search.kept = candidate_columns(context_, competitive_columns(task, search.rules, search.cuts));
        for (size_t i = 0; i < search.kept.size(); ++i) tasks.emplace_back(n, i);
        found[large[n]].resize(search.kept.size());
    }
    pool.run(static_cast<int64_t>(searches.size()), [&](int64_t n) {
        NodeSearch& search = searches[n];
        const auto needs_rows = [&](const CandidateColumn& each) {
            return each.scan_column < 0 || needs_squares(task);
        };
        if (!std::any_of(search.kept.begin(), search.kept.end(), needs_rows)) return;
        search.entries = entries_of(rows(search.open_node->node), items(search.open_node->node));
    });
    pool.run(static_cast<int64_t>(tasks.size()), [&](int64_t t) {
        const auto [n, i] = tasks[t];
        found[large[n]][i] = to_candidate(task, searches[n], searches[n].kept[i]);
    });
    histograms_.keep_only(nodes);
    return found;
}

// Between bins first; then inside the bins where a better cut could hide.
template <TargetCounter Counter>
void HistogramRows<Counter>::find_cuts(const Task& task, std::vector<NodeSearch>& searches, ThreadPool& pool) {
    const size_t columns = context_.by_histogram.size();
    const int64_t all = static_cast<int64_t>(searches.size() * columns);
    pool.run(all, [&](int64_t i) {
        NodeSearch& search = searches[i / columns];
        const size_t scan_column = static_cast<size_t>(i) % columns;
        const ProfileTimer watch(context_.profile, &Profile::edge_scan);
        search.cuts[scan_column] = search.scan->scan_bin_edges(search.rules, scan_column, search.coarse[scan_column]);
    });
    for (NodeSearch& search : searches) {
        for (size_t scan_column = 0; scan_column < columns; ++scan_column)
            search.order.push_back(static_cast<int>(scan_column));
        std::stable_sort(search.order.begin(), search.order.end(),
                         [&](int a, int b) { return search.cuts[a].gain > search.cuts[b].gain; });
        search.best = gain_to_beat(task, search.cuts);
    }
    const bool rivals = context_.recipe.rivals > 0 || keeps_all_columns(context_.recipe);
    pool.run(all, [&](int64_t i) {
        NodeSearch& search = searches[i / columns];
        const size_t scan_column = static_cast<size_t>(search.order[static_cast<size_t>(i) % columns]);
        const ProfileTimer watch(context_.profile, &Profile::refining);
        const Cut coarse = search.cuts[scan_column];
        // Rivals are told exactly, so a column that may be one must also be beaten by its own best cut. Without rivals
        // the best found so far will do: who finds it, and when, changes the work and not the winner.
        const auto to_beat = [&] {
            const double best = search.best.load(std::memory_order_relaxed);
            return rivals ? std::max(best, coarse.gain) : best;
        };
        LocatedCut<Counter> found =
            search.scan->refine(search.rules, scan_column, coarse, search.coarse[scan_column], to_beat);
        const double gain = found.cut.gain;
        search.cuts[scan_column] = found.cut;
        search.low[scan_column] = std::move(found.low);
        double known = search.best.load(std::memory_order_relaxed);
        while (!rivals && known < gain && !search.best.compare_exchange_weak(known, gain)) {
        }
    });
}

template <TargetCounter Counter>
void HistogramRows<Counter>::find_ordered_cuts(std::vector<NodeSearch>& searches, ThreadPool& pool) {
    const size_t columns = context_.by_histogram.size();
    pool.run(static_cast<int64_t>(searches.size() * columns), [&](int64_t i) {
        NodeSearch& search = searches[i / columns];
        const size_t scan_column = static_cast<size_t>(i) % columns;
        const ProfileTimer watch(context_.profile, &Profile::refining);
        const ValueRanks& ranks = context_.value_ranks[static_cast<size_t>(context_.by_histogram[scan_column])];
        LocatedCut<Counter> found =
            OrderedScan(*search.scan, context_.counter, search.rules, scan_column, ranks).find();
        search.cuts[scan_column] = found.cut;
        search.low[scan_column] = std::move(found.low);
    });
}

template <TargetCounter Counter>
Candidate HistogramRows<Counter>::to_candidate(const Task& task, NodeSearch& search,
                                               const CandidateColumn& candidate_column) const {
    const NodeFacts& facts = search.open_node->facts;
    const auto [number, column] = candidate_column;
    if (number < 0) return candidate_by_value(task, training(), facts, column, search.entries);
    const size_t scan_column = static_cast<size_t>(number);
    Cut& cut = search.cuts[scan_column];
    if (cut.low_rows > 0 && !cut.located()) {
        search.scan->locate(scan_column, search.coarse[scan_column], cut);
        search.low[scan_column] = search.scan->up_to(scan_column, search.coarse[scan_column].last);
    }
    const CutScorer<Counter> scorer = search.scan->scorer(search.rules, scan_column);
    const Words<Counter>&known = scorer.known(), &low = search.low[scan_column];
    if (!needs_rating(task, context_, cut))
        return cut_to_candidate(task, context_.counter, facts, column, cut, known, low);
    const Sides sides = needs_squares(task)
                            ? count_cut_sides(training(), search.entries, column, cut.low_rows > 0, cut.below)
                            : sides_of(context_.counter, training().measure, known, scorer.missing(), cut, low);
    return cut_to_rated_candidate(task, training(), facts, column, cut, sides);
}

// The same search, with the child of each row as what is looked for.
template <TargetCounter Counter>
std::vector<Surrogate> HistogramRows<Counter>::surrogates(const Task& task, int node, const Split& split,
                                                          ThreadPool& pool) {
    if (static_cast<int64_t>(size(node)) <= context_.max_sorted_rows) {
        return detach(node)->surrogates(task, 0, split, pool);
    }
    const SurrogateScan surrogate_scan(training(), split, rows(node), context_.by_histogram);
    if (!surrogate_scan.possible) return surrogates_by_value(task, training(), surrogate_scan.entries, split, pool);
    const SurrogateCounter counter;
    std::vector<int64_t> histogram(static_cast<size_t>(context_.binned.bins()) * counter.words(), 0);
    count_rows(counter, context_.binned, rows(node), std::span<const SurrogateCounter::Item>(surrogate_scan.items),
               static_cast<size_t>(counter.words()), histogram.data());
    const RefiningScan<SurrogateCounter> scan(counter, training().table, context_.binned, context_.by_histogram,
                                              rows(node), surrogate_scan.items, histogram.data(), false);
    const size_t columns = context_.by_histogram.size();
    std::vector<BinCut> coarse(columns);
    std::vector<Cut> cuts(columns);
    std::vector<double> reference(columns), reached;
    pool.run(static_cast<int64_t>(columns), [&](int64_t i) {
        const size_t scan_column = static_cast<size_t>(i);
        reference[scan_column] = scan.scorer(surrogate_scan.rules, scan_column).reference();
        cuts[scan_column] = scan.scan_bin_edges(surrogate_scan.rules, scan_column, coarse[scan_column]);
    });
    for (size_t scan_column = 0; scan_column < columns; ++scan_column) {
        if (context_.column(scan_column).column != split.column)
            reached.push_back(cuts[scan_column].gain + reference[scan_column]);
    }
    const double gain_to_beat = surrogate_gain_to_beat(task, surrogate_scan.majority, std::move(reached));
    pool.run(static_cast<int64_t>(columns), [&](int64_t i) {
        const size_t scan_column = static_cast<size_t>(i);
        if (context_.column(scan_column).column == split.column) return;
        const double to_beat = std::max(gain_to_beat - reference[scan_column], cuts[scan_column].gain);
        cuts[scan_column] = scan.refine(surrogate_scan.rules, scan_column, cuts[scan_column], coarse[scan_column],
                                        [to_beat] { return to_beat; })
                                .cut;
        if (cuts[scan_column].low_rows > 0 && !cuts[scan_column].located())
            scan.locate(scan_column, coarse[scan_column], cuts[scan_column]);
    });
    return surrogate_scan.to_surrogates(task, training(), context_.by_histogram, context_.binned, cuts, pool);
}

// --- dividing ---

template <TargetCounter Counter>
void HistogramRows<Counter>::partition(int node, uint64_t node_key, const Split& split,
                                       const std::vector<Split>& surrogates, int first, ThreadPool& pool) {
    const ProfileTimer watch(context_.profile, &Profile::partitioning);
    const RowRouter router(context_.binned, training().table.columns, split, surrogates, node_key);
    const size_t rows = size(node);
    PartitionedRows<Item> partitioned = partition_rows(node_rows_[node], router, split, pool);
    node_rows_[node].partition.reset();
    std::move(partitioned.children.begin(), partitioned.children.end(), node_rows_.begin() + first);
    if (split.children() == 2 && !partitioned.fractional) histograms_.add_children(node, first, rows);
}

// --- who is served ---

namespace {

// Whether a recipe can look for the cuts of a table's numbers by their codes.
bool suits_histograms(const Table& table, const Recipe& recipe) {
    if (recipe.numeric != Numeric::threshold || recipe.branching == Branching::merge) return false;
    if (recipe.stopping.max_features < static_cast<int>(table.columns.size())) return false;
    // Where missing values are tried on both sides, cuts are not counted one by one.
    if (scores_missing(recipe.missing) && (recipe.threshold.cut_penalty || recipe.tie_tolerance > 0)) return false;
    return std::any_of(table.columns.begin(), table.columns.end(),
                       [](const Column& column) { return column.kind == Kind::number; });
}

} // namespace

std::unique_ptr<RowStore> histogram_rows(const Table& table, const Recipe& recipe, const Measure& measure,
                                         std::shared_ptr<const BinnedTable> binned, Profile* profile,
                                         ThreadPool& pool) {
    std::unique_ptr<RowStore> rows;
    if (!suits_histograms(table, recipe)) return rows;
    with_counter(counted_criterion(recipe.criterion), measure, [&](const auto& counter) {
        using Counter = std::decay_t<decltype(counter)>;
        if (!binned) {
            const ProfileTimer watch(profile, &Profile::binning);
            binned = std::make_shared<const BinnedTable>(table, pool);
        }
        auto tree_data = std::make_shared<TreeData<Counter>>(table, recipe, measure, binned, counter, profile, pool);
        const NodeRows<typename Counter::Item> all{tree_data->partition, {0, tree_data->partition->row.size()}};
        const int64_t max_detached_rows = static_cast<int64_t>(all.range.size()) / (8 * pool.threads());
        rows = std::make_unique<HistogramRows<Counter>>(
            tree_data, all, std::max(tree_data->context.max_sorted_rows, max_detached_rows));
    });
    return rows;
}

} // namespace tw

#include "remote/remote_rows.hpp"

#include <algorithm>

#include "remote/remote_histogram_rows.hpp"
#include "rows/exhaustive_rows.hpp"
#include "rows/histogram_rows.hpp"
#include "threshold/cut.hpp"

namespace tw {
namespace {

constexpr int64_t sampled = 16384;           // rows of the whole table that choose its bins
constexpr size_t max_request_bins = 1 << 22; // rows times columns that one request may count value by value

// A node's rows, sent whole: the table, the measure, and the rows grown on them.
struct FetchedNode {
    RowBatch batch;
    Table table;
    Measure measure;
};

Table table_of(const RowBatch& batch, const Table& shape) {
    Table table = shape;
    table.rows = batch.size();
    for (size_t i = 0; i < table.columns.size(); ++i) {
        Column& column = table.columns[i];
        column.codes = batch.codes[i].data();
        if (column.kind != Kind::number) continue;
        column.numbers = batch.single[i].empty() ? Numbers(batch.numbers[i].data()) : Numbers(batch.single[i].data());
    }
    return table;
}

Measure measure_of_batch(const RowBatch& batch, const Units& units) {
    Target targets;
    targets.n_classes = units.n_classes;
    targets.classes = batch.classes.data();
    targets.numbers = batch.target.data();
    Measure measure = measure_rows(targets, batch.size(), units);
    if (units.weighted) measure.weight = {batch.weight.data(), batch.weight.size()};
    return measure;
}

// Value by value, a column of numbers comes here as one bin per distinct value.
void check_value_memory(const Table& shape, const SearchPlan& plan, const RemoteSettings& settings, const Units& units,
                        const std::vector<ColumnSketch>& sketches) {
    const int64_t sums = units.n_classes > 0 ? units.n_classes : 4;
    const int64_t bytes = settings.rows * (16 + static_cast<int64_t>(sizeof(Sum)) * sums) * 2; // as bytes, and read
    if (settings.memory == 0 || bytes <= settings.memory) return;
    size_t next = 0;
    for (size_t i = 0; i < shape.columns.size(); ++i) {
        if (shape.columns[i].kind != Kind::number) continue;
        const bool is_by_value = plan.columns[i].method == SearchMethod::by_value;
        const char* choice = is_by_value ? plan.columns[i].reason : plan.surrogates_by_value ? "missing" : nullptr;
        if (sketches[next++].many && choice) throw TooManyValues(choice, static_cast<int64_t>(i), bytes);
    }
}

std::vector<bool> missing_in(const Table& shape, const std::vector<ColumnSketch>& sketches) {
    std::vector<bool> has_missing;
    size_t next = 0;
    for (const Column& column : shape.columns) {
        has_missing.push_back(column.kind == Kind::number && sketches[next++].has_missing);
    }
    return has_missing;
}

} // namespace

// --- the table as a whole ---

std::unique_ptr<RowStore> remote_rows(RemoteTable& remote, const Recipe& recipe, const RemoteSettings& settings,
                                      SendRequest send) {
    const auto exchange = [&](const Request& request) { return deserialize<Reply>(send(serialized(request))); };
    Request summary;
    summary.summary = std::max<int64_t>(1, settings.rows / sampled) | 1;
    Reply seen = exchange(summary);
    const bool fractions = recipe.missing == Missing::fractional;
    Sum parts = 0;
    if (settings.weighted || fractions) {
        Request summarize_weights;
        summarize_weights.max_weight = seen.summary->weights.max_weight;
        parts = exchange(summarize_weights).scaled_total_weight;
    }
    Units& units = remote.plan.units;
    units = weight_units(seen.summary->weights, parts, settings.weighted, fractions,
                         traits_of(recipe.criterion).statistic, settings.n_classes);
    // Narrow counters hold so many rows; beyond, those with weights serve.
    if (settings.rows > std::numeric_limits<uint32_t>::max()) units.unit_weights = false;
    TargetSummary targets = std::move(seen.summary->targets);
    if (settings.weighted && settings.n_classes == 0) {
        Request weighed;
        weighed.weighed = units;
        targets = *exchange(weighed).weighed;
    }
    set_target_units(targets, units);
    remote.measure = empty_measure(units);
    const std::vector<ColumnSketch>& sketches = seen.summary->sketches;
    remote.search =
        plan_search(recipe, remote.shape.columns, remote.measure, missing_in(remote.shape, sketches), RowPlace::remote);
    check_value_memory(remote.shape, remote.search, settings, units, sketches);
    // Whether numbers are binned does not depend on which of them have missing values.
    const bool is_binned =
        plan_search(recipe, remote.shape.columns, remote.measure, {}, RowPlace::remote).uses_histograms();
    if (is_binned) remote.plan.binned = bins_of(remote.shape, sketches);

    Request begin;
    begin.plan = remote.plan;
    for (size_t i = 0; i < remote.shape.columns.size(); ++i) {
        if (needs_distinct_values(remote.shape.columns[i], recipe)) begin.values.push_back(TableColumn(i));
    }
    const Reply known = exchange(begin);
    Request bin;
    size_t next = 0;
    for (size_t i = 0; i < remote.shape.columns.size(); ++i) {
        const Column& column = remote.shape.columns[i];
        WeightedValues values;
        if (needs_distinct_values(column, recipe)) {
            const ColumnValues& of_column = known.values[next++];
            for (size_t v = 0; v < of_column.value.size(); ++v) {
                values.emplace_back(of_column.value[v], of_column.weight[v]);
            }
        }
        remote.facts.push_back(column_facts(column, recipe, values));
        bin.bounds.push_back(remote.facts.back().bounds);
    }
    const auto is_quantile_binned = [](const ColumnFacts& facts) { return facts.quantile_binned; };
    if (std::any_of(remote.facts.begin(), remote.facts.end(), is_quantile_binned)) exchange(bin);

    if (is_binned) return remote_histogram_rows(remote, recipe, settings, send);
    return std::make_unique<RemoteRows>(remote, recipe, settings, send);
}

RemoteRows::RemoteRows(const RemoteTable& remote, const Recipe& recipe, const RemoteSettings& settings,
                       SendRequest send)
    : remote_(remote),
      recipe_(recipe),
      settings_(settings),
      send_(std::move(send)),
      training_{remote.shape, remote.measure, remote.facts, {}},
      totals_(1) {
    Request request;
    request.totals.push_back(0);
    send_for_totals(request);
}

// --- partitioning ---

// All nodes of a level at once; the children's totals come back.
void RemoteRows::partition(std::vector<NodeSplit> splits, int64_t levels, ThreadPool&) {
    totals_.resize(nodes_after(splits));
    Request request;
    for (const NodeSplit& node_split : splits) {
        for (int c = 0; c < node_split.split.children(); ++c) request.totals.push_back(node_split.first + c);
        request_ahead(node_split, levels, request);
    }
    request.node_splits = std::move(splits);
    send_for_totals(request);
}

void RemoteRows::send_for_totals(const Request& request) {
    Reply reply = send(request);
    for (size_t i = 0; i < request.totals.size(); ++i) {
        totals_[static_cast<size_t>(request.totals[i])] = {std::move(reply.totals[i]), reply.low[i], reply.high[i]};
    }
    receive(request, reply);
}

// --- choosing, value by value ---

std::vector<std::vector<Candidate>> RemoteRows::candidates_by_value(const Task& task,
                                                                    const std::vector<OpenNode>& open_nodes,
                                                                    const std::vector<TableColumn>& columns,
                                                                    ThreadPool& pool) const {
    std::vector<std::vector<Candidate>> found(open_nodes.size(), std::vector<Candidate>(columns.size()));
    struct Wanted {
        size_t open_node, column;
    };
    std::vector<Wanted> wanted;
    Request request;
    size_t rows = 0;
    const auto count = [&] {
        if (wanted.empty()) return;
        Reply reply = send(request);
        pool.run(static_cast<int64_t>(wanted.size()), [&](int64_t i) {
            const auto& [node_number, column_number] = wanted[static_cast<size_t>(i)];
            Candidate& candidate = found[node_number][column_number];
            candidate =
                best_candidate(task, open_nodes[node_number].facts, remote_.facts[columns[column_number].offset()],
                               std::move(reply.value_histograms[static_cast<size_t>(i)]));
            candidate.column = columns[column_number].value;
        });
        wanted.clear();
        request = {};
        rows = 0;
    };
    for (size_t node_number = 0; node_number < open_nodes.size(); ++node_number) {
        for (size_t column_number = 0; column_number < columns.size(); ++column_number) {
            if (rows > max_request_bins) count();
            wanted.push_back({node_number, column_number});
            request.value_histograms.push_back({open_nodes[node_number].node, columns[column_number]});
            const int levels = remote_.facts[columns[column_number].offset()].levels;
            const size_t most = rows_of(open_nodes[node_number].node);
            rows += levels > 0 ? std::min(most, static_cast<size_t>(levels)) : most;
        }
    }
    count();
    return found;
}

std::vector<std::vector<Candidate>> RemoteRows::candidates(const Task& task, const std::vector<OpenNode>& open_nodes,
                                                           ThreadPool& pool) {
    return candidates_by_value(task, open_nodes, Indices<TableColumn>{remote_.facts.size()}.list(), pool);
}

std::vector<std::vector<Surrogate>> RemoteRows::surrogates(const Task& task, const std::vector<ChosenSplit>& chosen,
                                                           ThreadPool& pool) {
    std::vector<std::vector<Surrogate>> found(chosen.size());
    const int columns = static_cast<int>(remote_.facts.size());
    for (size_t begin = 0, end = 0; begin < chosen.size(); begin = end) {
        Request request;
        for (size_t rows = 0; end < chosen.size() && (end == begin || rows <= max_request_bins); ++end) {
            rows += rows_of(chosen[end].node) * static_cast<size_t>(columns);
            request.child_histograms.push_back(
                {chosen[end].node, *chosen[end].split, Indices<TableColumn>{remote_.facts.size()}.list()});
        }
        const Reply reply = send(request);
        pool.run(static_cast<int64_t>(end - begin), [&](int64_t i) {
            const Histogram* by_child = &reply.child_histograms[static_cast<size_t>(i * columns)];
            const Split& split = *chosen[begin + static_cast<size_t>(i)].split;
            const std::vector<double> sent = weight_sent(task, split, by_child[split.column]);
            for (int column = 0; column < columns; ++column) {
                if (column == split.column) continue;
                auto one =
                    best_surrogate(task, remote_.facts[static_cast<size_t>(column)], by_child[column], split, sent);
                if (one) found[begin + static_cast<size_t>(i)].push_back(std::move(*one));
            }
        });
    }
    return found;
}

// --- small nodes ---

std::vector<MakeRows> RemoteRows::detach(std::span<const int> nodes) {
    Request request;
    int64_t rows = 0;
    for (const int node : nodes) {
        rows += static_cast<int64_t>(rows_of(node));
        if (!request.rows.empty() && rows > settings_.max_rows_at_once) break;
        request.rows.push_back(node);
    }
    Reply reply = send(request);
    const int threads = request.rows.size() == 1 ? settings_.threads : 1; // many nodes are grown by one thread each
    std::vector<MakeRows> makers;
    for (RowBatch& batch : reply.rows) {
        const auto own = std::make_shared<RowBatch>(std::move(batch)); // a function must be copyable
        makers.push_back([this, own, threads] { return rows_from(std::move(*own), threads); });
    }
    return makers;
}

std::unique_ptr<RowStore> RemoteRows::rows_from(RowBatch batch, int threads) const {
    const auto fetched = std::make_shared<FetchedNode>();
    fetched->batch = std::move(batch);
    fetched->table = table_of(fetched->batch, remote_.shape);
    fetched->measure = measure_of_batch(fetched->batch, remote_.plan.units);
    ThreadPool pool(threads);
    std::unique_ptr<RowStore> rows;
    if (!remote_.plan.binned.empty())
        rows = histogram_rows(fetched->table, recipe_, fetched->measure, nullptr, nullptr, pool);
    if (!rows) {
        TrainingTable training{fetched->table, fetched->measure, remote_.facts,
                               std::vector<SharedArray<int32_t>>(remote_.facts.size())};
        for (size_t i = 0; i < remote_.facts.size(); ++i) {
            if (!remote_.facts[i].quantile_binned) continue;
            training.quantile_bins[i] =
                assign_quantile_bins(fetched->table.columns[i].numbers, fetched->table.rows, remote_.facts[i].bounds);
        }
        std::vector<Entry> entries;
        for (int64_t row = 0; row < fetched->table.rows; ++row) {
            entries.push_back({static_cast<uint32_t>(row), fetched->measure.weight_of(row)});
        }
        rows = std::make_unique<ExhaustiveRows>(std::move(training), std::move(entries));
    }
    rows->keep(fetched);
    return rows;
}

} // namespace tw

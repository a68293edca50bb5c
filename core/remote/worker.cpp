#include "remote/worker.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string_view>

#include "binning/training_table.hpp"
#include "remote/cells.hpp"
#include "rows/row_router.hpp"
#include "threshold/cut.hpp"
#include "threshold/histogram_scan.hpp"
#include "threshold/surrogate_scan.hpp"

namespace tw {
namespace {

// A partition in the middle of growing.
class Worker {
public:
    Worker(const Table& table, const Target& targets, const Recipe& recipe, const PreparedPartition& prepared)
        : table_(table),
          recipe_(recipe),
          plan_(plan_of(prepared)),
          measure_(measure_from(plan_, prepared, targets, table.rows)),
          training_(training_from(table, measure_, recipe, prepared)),
          binned_(table, plan_.binned, prepared.by_row, prepared.by_column) {}

    RowAssignment at_root() const {
        LargeVector<uint32_t> rows = training_rows(table_, recipe_, measure_);
        RowAssignment assignment;
        assignment.node = std::vector<int32_t>{0};
        assignment.start = std::vector<int64_t>{0, static_cast<int64_t>(rows.size())};
        assignment.row = std::move(rows);
        return assignment;
    }

    RowAssignment partitioned(const RowAssignment& assignment, const std::vector<NodeSplit>& node_splits) const;
    void fill(const Request& request, const RowAssignment& assignment, Reply& reply) const;

private:
    // A node's rows where they lie, and their weights where rows are fractional.
    struct NodeRows {
        std::span<const uint32_t> rows;
        std::span<const int64_t> weights;
    };
    NodeRows rows_of(const RowAssignment& assignment, int node) const {
        const auto* at = std::find(assignment.node.begin(), assignment.node.end(), node);
        if (at == assignment.node.end()) return {};
        const size_t position = static_cast<size_t>(at - assignment.node.begin());
        const size_t begin = static_cast<size_t>(assignment.start[position]);
        const size_t size = static_cast<size_t>(assignment.start[position + 1]) - begin;
        return {assignment.row.span().subspan(begin, size),
                assignment.weight.empty() ? std::span<const int64_t>{} : assignment.weight.span().subspan(begin, size)};
    }
    std::vector<Entry> entries(const NodeRows& node_rows) const {
        std::vector<Entry> all;
        all.reserve(node_rows.rows.size());
        for (size_t i = 0; i < node_rows.rows.size(); ++i) {
            const uint32_t row = node_rows.rows[i];
            all.push_back({row, node_rows.weights.empty() ? measure_.weight_of(row) : node_rows.weights[i]});
        }
        return all;
    }

    template <class Act>
    void with_items(std::span<const uint32_t> rows, const Act& act) const {
        with_counter(counted_criterion(recipe_.criterion), measure_, [&](const auto& counter) {
            using Counter = std::decay_t<decltype(counter)>;
            std::vector<typename Counter::Item> items;
            items.reserve(rows.size());
            for (const uint32_t row : rows) items.push_back(counter.item(row));
            act(counter, items);
        });
    }

    Total total(const NodeRows& node_rows) const;
    ColumnValues values(const RowAssignment& assignment, TableColumn column) const;
    Counts histogram(std::span<const uint32_t> rows) const;
    Counts surrogate_histogram(const NodeRows& node_rows, const Split& split) const;
    void count_cells(std::span<const uint32_t> rows, std::span<const KeyRange> ranges, const Split* followed,
                     std::vector<Cells>& out) const;
    CutEdges edges(std::span<const uint32_t> rows, const CutAt& cut) const;
    RowBatch batch(const NodeRows& node_rows) const;

    const Table& table_;
    const Recipe& recipe_;
    Plan plan_;
    Measure measure_;
    TrainingTable training_;
    BinnedTable binned_;
};

// --- partitioning ---

RowAssignment Worker::partitioned(const RowAssignment& assignment, const std::vector<NodeSplit>& node_splits) const {
    std::vector<int32_t> node;
    std::vector<int64_t> start{0};
    LargeVector<uint32_t> row;
    std::vector<int64_t> weight;
    const bool has_fractions = recipe_.missing == Missing::fractional;
    row.reserve(assignment.row.size());
    if (has_fractions) weight.reserve(assignment.row.size());
    const auto close = [&](int id) {
        node.push_back(id);
        start.push_back(static_cast<int64_t>(row.size()));
    };
    for (const int32_t id : assignment.node) {
        const auto found =
            std::find_if(node_splits.begin(), node_splits.end(), [id](const NodeSplit& s) { return s.node == id; });
        const NodeRows here = rows_of(assignment, id);
        if (found == node_splits.end()) {
            row.insert(row.end(), here.rows.begin(), here.rows.end());
            if (has_fractions) {
                for (const Entry& entry : entries(here)) weight.push_back(entry.weight);
            }
            close(id);
            continue;
        }
        const size_t children = static_cast<size_t>(found->split.children());
        if (!plan_.binned.empty() && !has_fractions) {
            std::vector<int32_t> child(here.rows.size());
            std::vector<size_t> count(children, 0);
            const RowRouter router(binned_, table_.columns, found->split, found->surrogates, found->key);
            router.route(here.rows, child.data(), count);
            for (size_t c = 0; c < children; ++c) {
                const size_t begin = row.size();
                row.resize(begin + count[c]);
                uint32_t* to = row.data() + begin;
                for (size_t i = 0; i < child.size(); ++i) {
                    if (child[i] == static_cast<int32_t>(c)) *to++ = here.rows[i];
                }
                close(found->first + static_cast<int>(c));
            }
            continue;
        }
        std::vector<std::vector<Entry>> to(children);
        route_entries(table_.columns, found->key, found->split, found->surrogates, entries(here),
                      [&](int child, const Entry& entry) { to[static_cast<size_t>(child)].push_back(entry); });
        for (size_t c = 0; c < children; ++c) {
            for (const Entry& entry : to[c]) row.push_back(entry.row);
            if (has_fractions) {
                for (const Entry& entry : to[c]) weight.push_back(entry.weight);
            }
            close(found->first + static_cast<int>(c));
        }
    }
    return {std::move(node), std::move(start), std::move(row), std::move(weight)};
}

// --- counting ---

// Most tables have classes and undivided rows, which need no entries.
Total Worker::total(const NodeRows& node_rows) const {
    if (measure_.n_classes == 0 || !measure_.weight.empty()) return node_total(training_, entries(node_rows));
    std::vector<int64_t> count(static_cast<size_t>(measure_.n_classes), 0);
    for (const uint32_t row : node_rows.rows) ++count[static_cast<size_t>(measure_.classes[row])];
    Total total = node_total(training_, {});
    std::copy(count.begin(), count.end(), total.all.stats.begin());
    total.all.rows[0] = static_cast<int64_t>(node_rows.rows.size());
    return total;
}

ColumnValues Worker::values(const RowAssignment& assignment, TableColumn column) const {
    const NodeRows root = rows_of(assignment, 0);
    ColumnValues known;
    for (const auto& [value, weight] : weighted_values(table_.columns[column.offset()], measure_, root.rows)) {
        known.value.push_back(value);
        known.weight.push_back(weight);
    }
    return known;
}

Counts Worker::histogram(std::span<const uint32_t> rows) const {
    Counts counts;
    with_items(rows, [&](const auto& counter, const auto& items) {
        using Counter = std::decay_t<decltype(counter)>;
        using Word = typename Counter::Word;
        const size_t bins = static_cast<size_t>(binned_.bins()), words = static_cast<size_t>(counter.words());
        const size_t narrow = static_cast<size_t>(counter.narrow_words());
        auto& all = counts.template of<Word>();
        all.assign(bins * words, 0);
        std::vector<typename Counter::Narrow> some(bins * narrow);
        const std::span<const typename Counter::Item> added(items);
        for (size_t at = 0; at < rows.size(); at += max_narrow_rows) {
            const size_t size = std::min<size_t>(max_narrow_rows, rows.size() - at);
            std::fill(some.begin(), some.end(), typename Counter::Narrow{0});
            count_rows(counter, binned_, rows.subspan(at, size), added.subspan(at, size), narrow, some.data());
            for (size_t bin = 0; bin < bins; ++bin) {
                counter.widen(reinterpret_cast<Word*>(&all[bin * words]), &some[bin * narrow]);
            }
        }
    });
    return counts;
}

Counts Worker::surrogate_histogram(const NodeRows& node_rows, const Split& split) const {
    const SurrogateCounter counter;
    const std::vector<SurrogateCounter::Item> items = surrogate_items(training_, split, entries(node_rows));
    std::vector<SurrogateCounter::Word> all(static_cast<size_t>(binned_.bins() * counter.words()), 0);
    count_rows(counter, binned_, node_rows.rows, std::span<const SurrogateCounter::Item>(items),
               static_cast<size_t>(counter.words()), all.data());
    Counts counts;
    counts.wide.assign(all.begin(), all.end());
    return counts;
}

// The ranges are of one column at one node, rising.
void Worker::count_cells(std::span<const uint32_t> rows, std::span<const KeyRange> ranges, const Split* followed,
                         std::vector<Cells>& out) const {
    const ColumnBins& column = binned_.columns()[ranges[0].column];
    const Numbers& numbers = table_.columns[column.column.offset()].numbers;
    const auto bin_of = [&](uint64_t key) {
        const auto end = std::lower_bound(column.end.begin(), column.end.end(), number_of(key));
        return static_cast<size_t>(end - column.end.begin());
    };
    std::array<int32_t, 256> first_in; // the first range that reaches into a bin
    first_in.fill(-1);
    for (size_t i = ranges.size(); i-- > 0;) {
        for (size_t bin = bin_of(ranges[i].first); bin <= bin_of(ranges[i].last); ++bin) {
            first_in[bin] = static_cast<int32_t>(i);
        }
    }
    first_in[static_cast<size_t>(column.bins)] = -1; // missing
    std::vector<std::vector<CellRow>> rows_of_range(ranges.size());
    const uint8_t* codes = binned_.column(ranges[0].column);
    for (const uint32_t row : rows) {
        const int32_t from = first_in[codes[row]];
        if (from < 0) continue;
        const uint64_t key = key_of(numbers[row]);
        size_t i = static_cast<size_t>(from);
        while (i < ranges.size() && key > ranges[i].last) ++i;
        if (i == ranges.size() || key < ranges[i].first) continue;
        rows_of_range[i].push_back({(key - ranges[i].first) >> ranges[i].shift, row});
    }
    if (followed) {
        const Column& wanted = table_.columns[static_cast<size_t>(followed->column)];
        return count_into_cells(SurrogateCounter{}, ranges, rows_of_range, out, [&](uint32_t row) {
            const int child = route(*followed, wanted, row);
            return SurrogateCounter::Item{child < 0 ? SurrogateCounter::unknown_child : child, measure_.weight_of(row)};
        });
    }
    with_counter(counted_criterion(recipe_.criterion), measure_, [&](const auto& counter) {
        count_into_cells(counter, ranges, rows_of_range, out, [&](uint32_t row) { return counter.item(row); });
    });
}

// Only the values next to a cut of known numbers. Of either side, only the bin nearest to it is looked into.
CutEdges Worker::edges(std::span<const uint32_t> rows, const CutAt& cut) const {
    const BinnedColumn index = binned_.index_of(cut.column);
    const ColumnBins& column = binned_.columns()[index];
    const Numbers& numbers = table_.columns[cut.column.offset()].numbers;
    const uint8_t* codes = binned_.column(index);
    const int cut_bin =
        static_cast<int>(std::lower_bound(column.end.begin(), column.end.end(), cut.at) - column.end.begin());
    CutEdges edges;
    int low = 0, high = column.bins - 1; // nearest bins with rows so far
    for (const uint32_t row : rows) {
        const int code = codes[row];
        if (code < low || code > high) continue; // missing ones too
        const double x = numbers[row];
        if (x <= cut.at) {
            low = std::min(code, cut_bin);
            edges.below = std::max(edges.below, x);
        } else {
            high = std::max(code, cut_bin);
            edges.above = std::min(edges.above, x);
        }
    }
    return edges;
}

RowBatch Worker::batch(const NodeRows& node_rows) const {
    const size_t columns = table_.columns.size();
    RowBatch batch;
    batch.single.resize(columns);
    batch.numbers.resize(columns);
    batch.codes.resize(columns);
    for (size_t i = 0; i < columns; ++i) {
        const Column& column = table_.columns[i];
        for (const uint32_t row : node_rows.rows) {
            if (column.kind != Kind::number) {
                batch.codes[i].push_back(column.codes[row]);
            } else if (column.numbers.single()) {
                batch.single[i].push_back(static_cast<float>(column.numbers[row]));
            } else {
                batch.numbers[i].push_back(column.numbers[row]);
            }
        }
    }
    for (const uint32_t row : node_rows.rows) {
        if (measure_.n_classes > 0) {
            batch.classes.push_back(measure_.classes[row]);
        } else {
            batch.target.push_back(measure_.raw[row]);
        }
    }
    if (!measure_.weight.empty()) {
        for (const Entry& entry : entries(node_rows)) batch.weight.push_back(entry.weight);
    }
    return batch;
}

void Worker::fill(const Request& request, const RowAssignment& assignment, Reply& reply) const {
    for (const TableColumn column : request.values) reply.values.push_back(values(assignment, column));
    for (const int node : request.totals) {
        Total total = this->total(rows_of(assignment, node));
        reply.low.push_back(total.low);
        reply.high.push_back(total.high);
        reply.totals.push_back(std::move(total.all));
    }
    for (const int node : request.histograms) reply.histograms.push_back(histogram(rows_of(assignment, node).rows));
    std::vector<Entry> here;
    for (size_t i = 0; i < request.value_histograms.size(); ++i) {
        const NodeColumn& wanted = request.value_histograms[i];
        if (i == 0 || request.value_histograms[i - 1].node != wanted.node)
            here = entries(rows_of(assignment, wanted.node));
        reply.value_histograms.push_back(target_histogram(training_, here, wanted.column.value));
    }
    for (const ChildCounts& wanted : request.child_histograms) {
        const std::vector<Entry> all = entries(rows_of(assignment, wanted.node));
        for (const TableColumn column : wanted.columns) {
            reply.child_histograms.push_back(child_histogram(training_, all, column.value, wanted.split));
        }
    }
    for (const ChildCounts& wanted : request.surrogate_histograms) {
        if (!request.ranges.empty()) break;
        reply.surrogate_histograms.push_back(surrogate_histogram(rows_of(assignment, wanted.node), wanted.split));
    }
    const std::span<const KeyRange> ranges(request.ranges);
    for (size_t begin = 0, end = 0; begin < ranges.size(); begin = end) {
        const KeyRange& first = ranges[begin];
        while (end < ranges.size() && ranges[end].node == first.node && ranges[end].column == first.column) ++end;
        const Split* followed =
            first.surrogate < 0 ? nullptr : &request.surrogate_histograms[static_cast<size_t>(first.surrogate)].split;
        count_cells(rows_of(assignment, first.node).rows, ranges.subspan(begin, end - begin), followed, reply.ranges);
    }
    for (const CutAt& cut : request.cuts) reply.cuts.push_back(edges(rows_of(assignment, cut.node).rows, cut));
    for (const int node : request.rows) reply.rows.push_back(batch(rows_of(assignment, node)));
}

} // namespace

WorkerResult handle_request(const Table& table, const Target& targets, const Recipe& recipe,
                            const PreparedPartition& prepared, const RowAssignment& assignment,
                            const Request& request) {
    WorkerResult result;
    Reply& reply = result.reply;
    if (request.summary > 0) {
        Units every; // as if every row had weight
        every.statistic = traits_of(recipe.criterion).statistic;
        every.n_classes = targets.n_classes;
        Target unweighted = targets;
        unweighted.weight = nullptr;
        reply.summary = TableSummary{summarize_weights(targets, table.rows),
                                     summarize_target(unweighted, table.rows, every), sketch(table, request.summary)};
    }
    if (request.max_weight) reply.scaled_total_weight = scaled_total_weight(targets, table.rows, *request.max_weight);
    if (request.weighed) reply.weighed = summarize_target(targets, table.rows, *request.weighed);
    if (request.plan) result.prepared = prepare(table, targets, *request.plan);
    if (!request.bounds.empty()) {
        result.prepared = with_bounds(result.prepared.value_or(prepared), table, request.bounds);
    }
    const PreparedPartition& now = result.prepared ? *result.prepared : prepared;
    if (now.plan.empty()) return result;
    const Worker part(table, targets, recipe, now);
    if (request.plan) result.assignment = part.at_root();
    if (!request.node_splits.empty()) {
        result.assignment = part.partitioned(result.assignment ? *result.assignment : assignment, request.node_splits);
    }
    part.fill(request, result.assignment ? *result.assignment : assignment, reply);
    return result;
}

} // namespace tw

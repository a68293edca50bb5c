#include "rows_cpu.hpp"

#include <algorithm>
#include <cmath>

#include "binned.hpp"
#include "breathe.hpp"
#include "draw.hpp"

namespace tw {
namespace {

ColumnFacts learn_facts(const Table& table, int column, const Recipe& recipe, const Measure& measure,
                        std::span<const uint32_t> rows, const DistinctOf& distinct) {
    const Column& data = table.columns[column];
    if (!needs_values(data, recipe)) return facts_of(data, recipe, {});
    if (!distinct) return facts_of(data, recipe, known_values(data, measure, rows));
    ColumnFacts facts = facts_of(data, recipe, {});
    facts.distinct = distinct(column);
    return facts;
}

} // namespace

std::vector<int32_t> code_bins(const Numbers& numbers, int64_t rows, const std::vector<double>& bounds) {
    std::vector<int32_t> codes(static_cast<size_t>(rows), -1);
    for (int64_t row = 0; row < rows; ++row) {
        const double x = numbers[row];
        if (!std::isnan(x)) codes[row] = group_of(bounds, x);
    }
    return codes;
}

bool needs_values(const Column& data, const Recipe& recipe) {
    return data.kind == Kind::number && (recipe.numeric == Numeric::binned || recipe.threshold.observed);
}

KnownValues known_values(const Column& data, const Measure& measure, std::span<const uint32_t> rows) {
    KnownValues known;
    for (const uint32_t row : rows) {
        const double x = data.numbers[row];
        if (!std::isnan(x)) known.push_back({x + 0.0, measure.weight_of(row)}); // -0 and 0 are one value
    }
    sort_long(known.begin(), known.end());
    size_t last = 0;
    for (size_t i = 1; i < known.size(); ++i) {
        if (known[i].first == known[last].first) {
            known[last].second += known[i].second;
        } else {
            known[++last] = known[i];
        }
    }
    if (!known.empty()) known.resize(last + 1);
    return known;
}

ColumnFacts facts_of(const Column& data, const Recipe& recipe, const KnownValues& known) {
    ColumnFacts facts;
    facts.kind = data.kind;
    facts.levels = data.levels;
    if (data.kind != Kind::number) return facts;
    if (recipe.numeric == Numeric::binned) {
        facts.binned = true;
        facts.kind = Kind::ordinal;
        facts.bounds = quantile_bounds(known, recipe.bins);
        facts.levels = static_cast<int>(facts.bounds.size());
    } else if (recipe.threshold.observed) {
        for (const auto& [x, weight] : known) facts.distinct.push_back(x);
    }
    return facts;
}

LargeVector<uint32_t> taking_part(const Table& table, const Recipe& recipe, const Measure& measure) {
    LargeVector<uint32_t> rows;
    rows.reserve(static_cast<size_t>(table.rows));
    for (int64_t row = 0; row < table.rows; ++row) {
        if (measure.weight_of(row) == 0 || (recipe.drop_blank_rows && is_blank(table.columns, row))) continue;
        rows.push_back(static_cast<uint32_t>(row));
    }
    return rows;
}

Source learn_source(const Table& table, const Recipe& recipe, const Measure& measure, std::span<const uint32_t> rows,
                    Pool& pool, const DistinctOf& distinct) {
    Source source{table, measure, {}, {}};
    source.facts.resize(table.columns.size());
    source.bin_codes.resize(table.columns.size());
    pool.run(static_cast<int64_t>(table.columns.size()), [&](int64_t i) {
        const Column& column = table.columns[i];
        source.facts[i] = learn_facts(table, static_cast<int>(i), recipe, measure, rows, distinct);
        if (source.facts[i].binned) {
            source.bin_codes[i] = code_bins(column.numbers, table.rows, source.facts[i].bounds);
        }
    });
    return source;
}

RowsCpu::RowsCpu(const Table& table, const Recipe& recipe, const Measure& measure, Pool& pool)
    : rows_(taking_part(table, recipe, measure)),
      source_(learn_source(table, recipe, measure, rows_, pool)),
      used_rows_(static_cast<int64_t>(rows_.size())) {
    std::vector<Entry> all;
    all.reserve(rows_.size());
    for (const uint32_t row : rows_) all.push_back({row, measure.weight_of(row)});
    entries_.push_back(std::move(all));
    LargeVector<uint32_t>().swap(rows_);
}

RowsCpu::RowsCpu(Source source, std::vector<Entry> entries)
    : source_(std::move(source)), used_rows_(static_cast<int64_t>(entries.size())) {
    entries_.push_back(std::move(entries));
}

std::vector<std::vector<Candidate>> RowsCpu::candidates(const Task& task, const std::vector<Ask>& asks, Pool& pool) {
    const int64_t width = columns();
    std::vector<std::vector<Candidate>> found(asks.size(), std::vector<Candidate>(width));
    pool.run(static_cast<int64_t>(asks.size()) * width, [&](int64_t i) {
        const Ask& ask = asks[i / width];
        const int column = static_cast<int>(i % width);
        Candidate& candidate = found[i / width][column];
        candidate =
            best_candidate(task, ask.facts, source_.facts[column], count_target(source_, entries_[ask.node], column));
        candidate.column = column;
    });
    return found;
}

std::vector<Surrogate> RowsCpu::surrogates(const Task& task, int node, const Split& split, Pool& pool) {
    return gather_surrogates(task, source_, entries_[node], split, pool);
}

std::vector<Surrogate> gather_surrogates(const Task& task, const Source& source, std::span<const Entry> entries,
                                         const Split& split, Pool& pool) {
    const std::vector<double> sent = weight_sent(task, split, count_children(source, entries, split.column, split));
    std::vector<std::optional<Surrogate>> found(source.facts.size());
    pool.run(static_cast<int64_t>(found.size()), [&](int64_t i) {
        const int column = static_cast<int>(i);
        if (column == split.column) return;
        found[i] = best_surrogate(task, source.facts[i], count_children(source, entries, column, split), split, sent);
    });
    std::vector<Surrogate> result;
    for (auto& surrogate : found) {
        if (surrogate) result.push_back(std::move(*surrogate));
    }
    return result;
}

void RowsCpu::divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates, int first,
                     Pool&) {
    send_entries(source_.table.columns, node_key, split, surrogates, entries_[node],
                 [&](int child, const Entry& entry) { entries_[first + child].push_back(entry); });
    std::vector<Entry>().swap(entries_[node]);
}

} // namespace tw

#include "binning/training_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/interrupt.hpp"
#include "binning/quantile_bins.hpp"

namespace tw {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

ColumnFacts learn_facts(const Table& table, int column, const Recipe& recipe, const Measure& measure,
                        std::span<const uint32_t> rows, const DistinctOf& distinct) {
    const Column& data = table.columns[column];
    if (!needs_distinct_values(data, recipe)) return column_facts(data, recipe, {});
    const bool needs_weights = recipe.numeric == Numeric::quantile_binned;
    if (!distinct || needs_weights) return column_facts(data, recipe, weighted_values(data, measure, rows));
    ColumnFacts facts = column_facts(data, recipe, {});
    facts.distinct = distinct(TableColumn(column));
    return facts;
}

} // namespace

// The codes of a column of levels or binned numbers; null for other numbers.
const int32_t* codes_of(const TrainingTable& training, int column) {
    if (training.facts[column].quantile_binned) return training.quantile_bins[column].data();
    return training.table.columns[column].codes;
}

double TrainingTable::value(int column, uint32_t row) const {
    const int32_t* codes = codes_of(*this, column);
    if (!codes) return table.columns[column].numbers[row];
    const int32_t code = codes[row];
    return code < 0 || code >= facts[static_cast<size_t>(column)].levels ? nan : code;
}

std::vector<int32_t> assign_quantile_bins(const Numbers& numbers, int64_t rows, const std::vector<double>& bounds) {
    std::vector<int32_t> codes(static_cast<size_t>(rows), -1);
    for (int64_t row = 0; row < rows; ++row) {
        const double x = numbers[row];
        if (!std::isnan(x)) codes[row] = group_of(bounds, x);
    }
    return codes;
}

bool needs_distinct_values(const Column& data, const Recipe& recipe) {
    return data.kind == Kind::number && (recipe.numeric == Numeric::quantile_binned || recipe.threshold.observed);
}

WeightedValues weighted_values(const Column& data, const Measure& measure, std::span<const uint32_t> rows) {
    WeightedValues known;
    for (const uint32_t row : rows) {
        const double x = data.numbers[row];
        if (!std::isnan(x)) known.push_back({x + 0.0, measure.weight_of(row)}); // -0 and 0 are one value
    }
    sort_interruptible(known.begin(), known.end());
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

ColumnFacts column_facts(const Column& data, const Recipe& recipe, const WeightedValues& known) {
    ColumnFacts facts;
    facts.kind = data.kind;
    facts.levels = data.levels;
    facts.allowed = data.allowed;
    if (data.kind != Kind::number) return facts;
    if (recipe.numeric == Numeric::quantile_binned) {
        facts.quantile_binned = true;
        facts.kind = Kind::ordinal;
        facts.bounds = quantile_bounds(known, recipe.bins);
        facts.levels = static_cast<int>(facts.bounds.size());
    } else if (recipe.threshold.observed) {
        for (const auto& [x, weight] : known) facts.distinct.push_back(x);
    }
    return facts;
}

LargeVector<uint32_t> training_rows(const Table& table, const Recipe& recipe, const Measure& measure, ThreadPool* pool,
                                    bool once) {
    LargeVector<uint32_t> rows;
    if (pool && !recipe.drop_all_missing_rows && measure.weight.empty() && measure.repeats.empty()) { // all, each once
        constexpr size_t block = 1 << 12;
        rows.resize(static_cast<size_t>(table.rows));
        pool->run(static_cast<int64_t>((rows.size() + block - 1) / block), [&](int64_t b) {
            const size_t begin = static_cast<size_t>(b) * block, end = std::min(rows.size(), begin + block);
            std::iota(rows.begin() + begin, rows.begin() + end, static_cast<uint32_t>(begin));
        });
        return rows;
    }
    const auto is_dropped = [&](int64_t row) {
        return recipe.drop_all_missing_rows && is_all_missing(table.columns, row);
    };
    if (once) { // without a branch: which rows a sample has cannot be guessed
        rows.resize(static_cast<size_t>(table.rows));
        size_t listed = 0;
        for (int64_t row = 0; row < table.rows; ++row) {
            rows[listed] = static_cast<uint32_t>(row);
            listed += static_cast<size_t>(!is_dropped(row) && measure.repeats_of(row) > 0);
        }
        rows.resize(listed);
        return rows;
    }
    rows.reserve(static_cast<size_t>(table.rows));
    for (int64_t row = 0; row < table.rows; ++row) {
        if (is_dropped(row)) continue;
        for (int32_t i = 0; i < measure.repeats_of(row); ++i) rows.push_back(static_cast<uint32_t>(row));
    }
    return rows;
}

TrainingTable training_table(const Table& table, const Recipe& recipe, const Measure& measure,
                             std::span<const uint32_t> rows, ThreadPool& pool, const DistinctOf& distinct) {
    TrainingTable training{table, measure, {}, {}};
    training.facts.resize(table.columns.size());
    training.quantile_bins.resize(table.columns.size());
    pool.run(static_cast<int64_t>(table.columns.size()), [&](int64_t i) {
        const Column& column = table.columns[i];
        training.facts[i] = learn_facts(table, static_cast<int>(i), recipe, measure, rows, distinct);
        if (training.facts[i].quantile_binned) {
            training.quantile_bins[i] = assign_quantile_bins(column.numbers, table.rows, training.facts[i].bounds);
        }
    });
    return training;
}

} // namespace tw

#include "remote/prepared_partition.hpp"

#include <string_view>
#include <tuple>

#include "binning/training_table.hpp"

namespace tw {
namespace {

SharedArray<uint8_t> bytes_of(const std::string& text) { return std::vector<uint8_t>(text.begin(), text.end()); }
std::string_view text_of(const SharedArray<uint8_t>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Bounds {
    std::vector<std::vector<double>> of;
    auto fields() { return std::tie(of); }
};

} // namespace

Plan plan_of(const PreparedPartition& prepared) { return deserialize<Plan>(text_of(prepared.plan)); }

PreparedPartition prepare(const Table& table, const Target& targets, const Plan& plan) {
    PreparedPartition prepared;
    prepared.plan = bytes_of(serialized(plan));
    const Measure measure = measure_rows(targets, table.rows, plan.units);
    prepared.weight = measure.weight;
    prepared.target = measure.target;
    prepared.square = measure.square;
    prepared.log = measure.log;
    prepared.rank = measure.rank;
    if (plan.binned.empty()) return prepared;
    auto [by_row, by_column] = assign_bins(table, plan.binned);
    prepared.by_row = std::move(by_row);
    prepared.by_column = std::move(by_column);
    return prepared;
}

PreparedPartition with_bounds(PreparedPartition prepared, const Table& table,
                              const std::vector<std::vector<double>>& bounds) {
    prepared.bounds = bytes_of(serialized(Bounds{bounds}));
    std::vector<int32_t> all;
    for (size_t i = 0; i < bounds.size(); ++i) {
        if (bounds[i].empty()) continue;
        const std::vector<int32_t> codes = assign_quantile_bins(table.columns[i].numbers, table.rows, bounds[i]);
        all.insert(all.end(), codes.begin(), codes.end());
    }
    prepared.quantile_bins = std::move(all);
    return prepared;
}

Measure measure_from(const Plan& plan, const PreparedPartition& prepared, const Target& targets, int64_t rows) {
    Measure m = empty_measure(plan.units);
    m.rows = rows;
    m.weight = prepared.weight;
    m.target = prepared.target;
    m.square = prepared.square;
    m.log = prepared.log;
    m.rank = prepared.rank;
    m.raw = targets.numbers;
    if (targets.n_classes > 0) m.classes = {targets.classes, static_cast<size_t>(rows)};
    return m;
}

TrainingTable training_from(const Table& table, const Measure& measure, const Recipe& recipe,
                            const PreparedPartition& prepared) {
    TrainingTable training{table, measure, {}, std::vector<SharedArray<int32_t>>(table.columns.size())};
    const Bounds bounds = prepared.bounds.empty() ? Bounds{} : deserialize<Bounds>(text_of(prepared.bounds));
    size_t at = 0;
    for (size_t i = 0; i < table.columns.size(); ++i) {
        training.facts.push_back(column_facts(table.columns[i], recipe, {}));
        if (i >= bounds.of.size() || bounds.of[i].empty()) continue;
        training.facts[i].bounds = bounds.of[i];
        training.facts[i].levels = static_cast<int>(bounds.of[i].size());
        training.quantile_bins[i] = {prepared.quantile_bins.data() + at, static_cast<size_t>(table.rows)};
        at += static_cast<size_t>(table.rows);
    }
    return training;
}

} // namespace tw

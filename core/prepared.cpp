#include "prepared.hpp"

#include <string_view>

#include "rows_cpu.hpp"

namespace tw {
namespace {

Array<uint8_t> bytes_of(const std::string& text) { return std::vector<uint8_t>(text.begin(), text.end()); }
std::string_view text_of(const Array<uint8_t>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Bounds {
    std::vector<std::vector<double>> of;
    template <class Archive>
    void pass(Archive& archive) {
        archive(of);
    }
};

} // namespace

Plan plan_of(const Prepared& prepared) { return read_message<Plan>(text_of(prepared.plan)); }

Prepared prepare(const Table& table, const Answers& answers, const Plan& plan) {
    Prepared prepared;
    prepared.plan = bytes_of(written(plan));
    const Measure measure = measured(answers, table.rows, plan.units);
    prepared.weight = measure.weight;
    prepared.target = measure.target;
    prepared.square = measure.square;
    prepared.log = measure.log;
    prepared.rank = measure.rank;
    if (plan.coded.empty()) return prepared;
    auto [by_row, by_column] = code_by(table, plan.coded);
    prepared.by_row = std::move(by_row);
    prepared.by_column = std::move(by_column);
    return prepared;
}

Prepared with_bounds(Prepared prepared, const Table& table, const std::vector<std::vector<double>>& bounds) {
    prepared.bounds = bytes_of(written(Bounds{bounds}));
    std::vector<int32_t> all;
    for (size_t i = 0; i < bounds.size(); ++i) {
        if (bounds[i].empty()) continue;
        const std::vector<int32_t> codes = code_bins(table.columns[i].numbers, table.rows, bounds[i]);
        all.insert(all.end(), codes.begin(), codes.end());
    }
    prepared.bin_codes = std::move(all);
    return prepared;
}

Measure measure_by(const Plan& plan, const Prepared& prepared, const Answers& answers, int64_t rows) {
    Measure m = measure_of(plan.units);
    m.rows = rows;
    m.weight = prepared.weight;
    m.target = prepared.target;
    m.square = prepared.square;
    m.log = prepared.log;
    m.rank = prepared.rank;
    m.raw = answers.numbers;
    if (answers.n_classes > 0) m.classes = {answers.classes, static_cast<size_t>(rows)};
    return m;
}

Source source_of(const Table& table, const Measure& measure, const Recipe& recipe, const Prepared& prepared) {
    Source source{table, measure, {}, std::vector<Array<int32_t>>(table.columns.size())};
    const Bounds bounds = prepared.bounds.empty() ? Bounds{} : read_message<Bounds>(text_of(prepared.bounds));
    size_t at = 0;
    for (size_t i = 0; i < table.columns.size(); ++i) {
        source.facts.push_back(facts_of(table.columns[i], recipe, {}));
        if (i >= bounds.of.size() || bounds.of[i].empty()) continue;
        source.facts[i].bounds = bounds.of[i];
        source.facts[i].levels = static_cast<int>(bounds.of[i].size());
        source.bin_codes[i] = {prepared.bin_codes.data() + at, static_cast<size_t>(table.rows)};
        at += static_cast<size_t>(table.rows);
    }
    return source;
}

} // namespace tw

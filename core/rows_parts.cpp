#include "rows_parts.hpp"

#include <algorithm>
#include <numeric>

#include "cut.hpp"
#include "rows_coded.hpp"
#include "rows_cpu.hpp"
#include "rows_parts_coded.hpp"

namespace tw {
namespace {

constexpr int64_t sampled = 16384;       // rows of the whole table that choose its bins
constexpr size_t most_buckets = 1 << 22; // rows times columns that one question may count value by value

// A node's rows, sent whole: the table, the measure, and the rows grown on them.
struct Visit {
    Bundle bundle;
    Table table;
    Measure measure;
};

Table table_of(const Bundle& bundle, const Table& shape) {
    Table table = shape;
    table.rows = bundle.size();
    for (size_t i = 0; i < table.columns.size(); ++i) {
        Column& column = table.columns[i];
        column.codes = bundle.codes[i].data();
        if (column.kind != Kind::number) continue;
        column.numbers =
            bundle.single[i].empty() ? Numbers(bundle.numbers[i].data()) : Numbers(bundle.single[i].data());
    }
    return table;
}

Measure measure_of_bundle(const Bundle& bundle, const Units& units) {
    Answers answers;
    answers.n_classes = units.n_classes;
    answers.classes = bundle.classes.data();
    answers.numbers = bundle.target.data();
    Measure measure = measured(answers, bundle.size(), units);
    if (units.weighted) measure.weight = {bundle.weight.data(), bundle.weight.size()};
    return measure;
}

// The choice by which a recipe must look at every value of a column of numbers; null: codes serve.
const char* needs_all_values(const Recipe& recipe, size_t columns) {
    const ThresholdChoice& threshold = recipe.threshold;
    if (!has_counter(counted_rule(recipe.rule))) return "criterion";
    if (recipe.numeric != Numeric::threshold) return "numeric";
    if (threshold.observed || threshold.tenth || threshold.penalised || threshold.gap > 0) return "numeric";
    if (recipe.missing == Missing::spread) return "missing";
    if (recipe.branching == Branching::merge) return "branching";
    if (recipe.stopping.significance) return "stopping.significance";
    if (recipe.stopping.max_features < static_cast<int>(columns)) return "stopping.max_features";
    return recipe.slack > 0 ? "slack" : nullptr;
}

// The choice by which a column of numbers is counted value by value; null: its codes serve.
const char* counted_by_value(const Recipe& recipe, size_t columns, bool is_coded, const ColumnSketch& sketch) {
    if (!is_coded) {
        const char* choice = needs_all_values(recipe, columns);
        return choice ? choice : "criterion";
    }
    if (recipe.branching == Branching::binary) return nullptr;
    // More than two children are more than a cut can say or imitate.
    const bool imitated = recipe.missing == Missing::surrogates && recipe.max_surrogates > 0;
    return imitated || (recipe.missing == Missing::own && sketch.gaps) ? "missing" : nullptr;
}

// Value by value, a column of numbers comes here as one bucket per distinct value.
void refuse_values(const Table& shape, const Recipe& recipe, const PartsSettings& settings, const Units& units,
                   bool is_coded, const std::vector<ColumnSketch>& sketches) {
    const int64_t sums = units.n_classes > 0 ? units.n_classes : 4;
    const int64_t bytes = settings.rows * (16 + static_cast<int64_t>(sizeof(Sum)) * sums) * 2; // as bytes, and read
    if (settings.memory == 0 || bytes <= settings.memory) return;
    size_t next = 0;
    for (size_t i = 0; i < shape.columns.size(); ++i) {
        if (shape.columns[i].kind != Kind::number) continue;
        const ColumnSketch& sketch = sketches[next++];
        const char* choice = counted_by_value(recipe, shape.columns.size(), is_coded, sketch);
        if (choice && sketch.many) throw TooManyValues(choice, static_cast<int64_t>(i), bytes);
    }
}

} // namespace

// --- the table as a whole ---

std::unique_ptr<Rows> rows_in_parts(PartsGround& ground, const Recipe& recipe, const PartsSettings& settings,
                                    AskParts ask) {
    const auto asked = [&](const Question& question) { return read_message<Answer>(ask(written(question))); };
    Question look;
    look.look = std::max<int64_t>(1, settings.rows / sampled) | 1;
    Answer seen = asked(look);
    const bool fractions = recipe.missing == Missing::spread;
    Sum parts = 0;
    if (settings.weighted || fractions) {
        Question weigh;
        weigh.heaviest = seen.look->weights.heaviest;
        parts = asked(weigh).weight_parts;
    }
    Units& units = ground.plan.units;
    units = weight_units(seen.look->weights, parts, settings.weighted, fractions, needs_of(recipe.rule),
                         settings.n_classes);
    // Narrow counters hold so many rows; beyond, those with weights serve.
    if (settings.rows > std::numeric_limits<uint32_t>::max()) units.even = false;
    TargetFacts targets = std::move(seen.look->targets);
    if (settings.weighted && settings.n_classes == 0) {
        Question weighed;
        weighed.weighed = units;
        targets = *asked(weighed).weighed;
    }
    set_target_units(targets, units);
    ground.measure = measure_of(units);
    const auto is_number = [](const Column& column) { return column.kind == Kind::number; };
    const std::vector<Column>& columns = ground.shape.columns;
    bool is_coded = false;
    if (!needs_all_values(recipe, columns.size()) && std::any_of(columns.begin(), columns.end(), is_number)) {
        with_counter(counted_rule(recipe.rule), ground.measure, [&](const auto&) { is_coded = true; });
    }
    refuse_values(ground.shape, recipe, settings, units, is_coded, seen.look->sketches);
    if (is_coded) ground.plan.coded = bins_of(ground.shape, seen.look->sketches);

    Question begin;
    begin.plan = ground.plan;
    for (size_t i = 0; i < ground.shape.columns.size(); ++i) {
        if (needs_values(ground.shape.columns[i], recipe)) begin.values.push_back(static_cast<int>(i));
    }
    const Answer known = asked(begin);
    Question bin;
    size_t next = 0;
    for (size_t i = 0; i < ground.shape.columns.size(); ++i) {
        const Column& column = ground.shape.columns[i];
        KnownValues values;
        if (needs_values(column, recipe)) {
            const Known& of_column = known.values[next++];
            for (size_t v = 0; v < of_column.value.size(); ++v) {
                values.emplace_back(of_column.value[v], of_column.weight[v]);
            }
        }
        ground.facts.push_back(facts_of(column, recipe, values));
        bin.bounds.push_back(ground.facts.back().bounds);
    }
    const auto is_binned = [](const ColumnFacts& facts) { return facts.binned; };
    if (std::any_of(ground.facts.begin(), ground.facts.end(), is_binned)) asked(bin);

    std::unique_ptr<Rows> rows;
    if (is_coded) {
        with_counter(counted_rule(recipe.rule), ground.measure, [&](const auto& counter) {
            using Counter = std::decay_t<decltype(counter)>;
            rows = std::make_unique<RowsPartsCoded<Counter>>(ground, recipe, settings, ask, counter);
        });
    } else {
        rows = std::make_unique<RowsParts>(ground, recipe, settings, ask);
    }
    return rows;
}

RowsParts::RowsParts(const PartsGround& ground, const Recipe& recipe, const PartsSettings& settings, AskParts ask)
    : ground_(ground),
      recipe_(recipe),
      settings_(settings),
      ask_(std::move(ask)),
      source_{ground.shape, ground.measure, ground.facts, {}},
      totals_(1),
      next_(1) {
    settle(0);
}

void RowsParts::reserve(int nodes) {
    const size_t size = std::max<size_t>(totals_.size(), static_cast<size_t>(nodes));
    totals_.resize(size);
    next_.resize(size);
}

// --- dividing ---

void RowsParts::divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates, int first,
                       Pool&) {
    next_[static_cast<size_t>(node)] = Sending{node, node_key, split, surrogates, first};
}

// Carries out all divisions of a level at once; the children's totals come back. In the beginning, the root's.
void RowsParts::settle(int64_t levels) {
    Question question;
    if (totals_[0].all.rows.empty()) question.totals.push_back(0);
    for (std::optional<Sending>& sending : next_) {
        if (!sending) continue;
        for (int c = 0; c < sending->split.children(); ++c) question.totals.push_back(sending->first + c);
        foresee(*sending, levels, question);
        question.sendings.push_back(std::move(*sending));
        sending.reset();
    }
    if (question.totals.empty()) return;
    Answer answer = ask(question);
    for (size_t i = 0; i < question.totals.size(); ++i) {
        totals_[static_cast<size_t>(question.totals[i])] = {std::move(answer.totals[i]), answer.low[i], answer.high[i]};
    }
    hear(question, answer);
}

// --- choosing, value by value ---

std::vector<std::vector<Candidate>> RowsParts::counted(const Task& task, const std::vector<Ask>& asks,
                                                       const std::vector<int>& columns, Pool& pool) const {
    std::vector<std::vector<Candidate>> found(asks.size(), std::vector<Candidate>(columns.size()));
    struct Wanted {
        size_t ask, column;
    };
    std::vector<Wanted> wanted;
    Question question;
    size_t rows = 0;
    const auto count = [&] {
        if (wanted.empty()) return;
        Answer answer = ask(question);
        pool.run(static_cast<int64_t>(wanted.size()), [&](int64_t i) {
            const auto& [which, place] = wanted[static_cast<size_t>(i)];
            Candidate& candidate = found[which][place];
            candidate = best_candidate(task, asks[which].facts, ground_.facts[static_cast<size_t>(columns[place])],
                                       std::move(answer.buckets[static_cast<size_t>(i)]));
            candidate.column = columns[place];
        });
        wanted.clear();
        question = {};
        rows = 0;
    };
    for (size_t which = 0; which < asks.size(); ++which) {
        for (size_t place = 0; place < columns.size(); ++place) {
            if (rows > most_buckets) count();
            wanted.push_back({which, place});
            question.buckets.push_back({asks[which].node, columns[place]});
            const int levels = ground_.facts[static_cast<size_t>(columns[place])].levels;
            const size_t most = rows_of(asks[which].node);
            rows += levels > 0 ? std::min(most, static_cast<size_t>(levels)) : most;
        }
    }
    count();
    return found;
}

std::vector<std::vector<Candidate>> RowsParts::candidates(const Task& task, const std::vector<Ask>& asks, Pool& pool) {
    std::vector<int> all(ground_.facts.size());
    std::iota(all.begin(), all.end(), 0);
    return counted(task, asks, all, pool);
}

std::vector<Surrogate> RowsParts::surrogates(const Task& task, int node, const Split& split, Pool& pool) {
    return surrogates_of(task, {{node, &split}}, pool)[0];
}

std::vector<std::vector<Surrogate>> RowsParts::surrogates_of(const Task& task, const std::vector<Chosen>& chosen,
                                                             Pool& pool) {
    std::vector<std::vector<Surrogate>> found(chosen.size());
    const int columns = static_cast<int>(ground_.facts.size());
    for (size_t begin = 0, end = 0; begin < chosen.size(); begin = end) {
        Question question;
        for (size_t rows = 0; end < chosen.size() && (end == begin || rows <= most_buckets); ++end) {
            rows += rows_of(chosen[end].node) * static_cast<size_t>(columns);
            question.imitated.push_back({chosen[end].node, *chosen[end].split, {}});
            question.imitated.back().columns.resize(static_cast<size_t>(columns));
            std::iota(question.imitated.back().columns.begin(), question.imitated.back().columns.end(), 0);
        }
        const Answer answer = ask(question);
        pool.run(static_cast<int64_t>(end - begin), [&](int64_t i) {
            const Buckets* by_child = &answer.imitated[static_cast<size_t>(i * columns)];
            const Split& split = *chosen[begin + static_cast<size_t>(i)].split;
            const std::vector<double> sent = weight_sent(task, split, by_child[split.column]);
            for (int column = 0; column < columns; ++column) {
                if (column == split.column) continue;
                auto one =
                    best_surrogate(task, ground_.facts[static_cast<size_t>(column)], by_child[column], split, sent);
                if (one) found[begin + static_cast<size_t>(i)].push_back(std::move(*one));
            }
        });
    }
    return found;
}

// --- small nodes ---

size_t RowsParts::fetch(std::span<const int> nodes) {
    Question question;
    int64_t rows = 0;
    for (const int node : nodes) {
        rows += static_cast<int64_t>(rows_of(node));
        if (!question.rows.empty() && rows > settings_.at_once) break;
        question.rows.push_back(node);
    }
    Answer answer = ask(question);
    bundles_.clear();
    for (size_t i = 0; i < question.rows.size(); ++i) bundles_.emplace(question.rows[i], std::move(answer.rows[i]));
    return question.rows.size();
}

std::unique_ptr<Rows> RowsParts::detach(int node) {
    auto visit = std::make_shared<Visit>();
    visit->bundle = std::move(bundles_.at(node));
    visit->table = table_of(visit->bundle, ground_.shape);
    visit->measure = measure_of_bundle(visit->bundle, ground_.plan.units);
    Pool pool(bundles_.size() == 1 ? settings_.threads : 1); // many nodes are grown by one thread each
    std::unique_ptr<Rows> rows;
    if (!ground_.plan.coded.empty()) rows = coded_rows(visit->table, recipe_, visit->measure, nullptr, nullptr, pool);
    if (!rows) {
        Source source{visit->table, visit->measure, ground_.facts, std::vector<Array<int32_t>>(ground_.facts.size())};
        for (size_t i = 0; i < ground_.facts.size(); ++i) {
            if (!ground_.facts[i].binned) continue;
            source.bin_codes[i] =
                code_bins(visit->table.columns[i].numbers, visit->table.rows, ground_.facts[i].bounds);
        }
        std::vector<Entry> entries;
        for (int64_t row = 0; row < visit->table.rows; ++row) {
            entries.push_back({static_cast<uint32_t>(row), visit->measure.weight_of(row)});
        }
        rows = std::make_unique<RowsCpu>(std::move(source), std::move(entries));
    }
    rows->keep(std::move(visit));
    return rows;
}

} // namespace tw

// Python's door to the core, with the other bind files the only one that knows it: arrays and dictionaries in, arrays
// out. docs/boundary.md is its contract.
//
// Always holds: the interpreter lock is released while the core works, and taken again only to ask a user's criterion.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>

#include "bin_bound.hpp"
#include "bind_common.hpp"
#include "bind_explain.hpp"
#include "bind_parts.hpp"
#include "bind_prune.hpp"
#include "bind_recipe.hpp"
#include "coding.hpp"
#include "grow.hpp"
#include "predict.hpp"
#include "rows_coded.hpp"
#include "rows_cpu.hpp"
#include "tail.hpp"

using namespace nanobind::literals;

namespace tw {
namespace {

// --- growing ---

// A table coded once, for all trees that are grown on its rows.
class PyCoded {
public:
    PyCoded(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, int n_threads) {
        Table table;
        table.rows = rows;
        table.columns = read_columns(columns, kinds, {}, rows);
        const nb::gil_scoped_release unlocked;
        Pool pool(n_threads);
        table_ = std::make_shared<const CodedTable>(table, pool);
    }
    const std::shared_ptr<const CodedTable>& table() const { return table_; }

private:
    std::shared_ptr<const CodedTable> table_;
};

CustomScore ask_python(nb::object function) {
    if (function.is_none()) return {};
    return [function](std::span<const double> parent, std::span<const double> children, int candidates, int count,
                      std::span<double> scores) {
        const nb::gil_scoped_acquire lock;
        const size_t width = parent.size();
        const size_t shape[3] = {static_cast<size_t>(candidates), static_cast<size_t>(count), width};
        const size_t parent_shape[1] = {width};
        // Copies: the function may keep what it is given.
        const nb::object parent_array = nb::cast(
            nb::ndarray<nb::numpy, const double>(parent.data(), 1, parent_shape, nb::handle()), nb::rv_policy::copy);
        const nb::object children_array = nb::cast(
            nb::ndarray<nb::numpy, const double>(children.data(), 3, shape, nb::handle()), nb::rv_policy::copy);
        const nb::object answer = nb::module_::import_("numpy").attr("ascontiguousarray")(
            function(parent_array, children_array), "dtype"_a = "float64");
        const auto shape_given = nb::cast<nb::tuple>(answer.attr("shape"));
        if (shape_given.size() != 1 || nb::cast<size_t>(shape_given[0]) != scores.size()) {
            throw std::invalid_argument("the criterion function must return one score per candidate: expected (" +
                                        std::to_string(scores.size()) + ",), got " +
                                        nb::cast<std::string>(nb::str(shape_given)));
        }
        const auto values = nb::cast<Doubles>(answer);
        if (std::any_of(values.data(), values.data() + scores.size(), [](double x) { return std::isinf(x); })) {
            throw std::invalid_argument(
                "the criterion function returned an infinite score; return a number, or NaN for a candidate that must "
                "not be taken");
        }
        std::copy(values.data(), values.data() + values.shape(0), scores.begin());
    };
}

Rule rule_named(const std::string& name);

// Seconds of all threads together, and rows.
void write_account(const Account& kept, const nb::object& account) {
    const auto seconds = [](const std::atomic<int64_t>& part) { return static_cast<double>(part.load()) * 1e-9; };
    account["coding"] = seconds(kept.coding);
    account["counting"] = seconds(kept.counting);
    account["choosing"] = seconds(kept.choosing);
    account["zooming"] = seconds(kept.zooming);
    account["dividing"] = seconds(kept.dividing);
    account["ordering"] = seconds(kept.ordering);
    account["scanning"] = seconds(kept.scanning);
    account["counted_rows"] = kept.counted_rows.load();
    account["zoomed_rows"] = kept.zoomed_rows.load();
}

nb::dict grow_tree(const nb::object& columns, const std::vector<int>& kinds, const std::vector<int>& levels,
                   const nb::object& target, int n_classes, const std::optional<Doubles>& weight,
                   const nb::dict& written, int n_threads, const nb::object& custom, bool exhaustive,
                   const std::optional<Doubles>& factor, const std::optional<Table2>& cost, const PyCoded* coded,
                   const nb::object& progress, const nb::object& account) {
    const Recipe recipe = read_recipe(written, n_classes > 0);
    Answers answers;
    Table table;
    table.rows = read_answers(target, n_classes, weight, answers);
    table.columns = read_columns(columns, kinds, levels, table.rows);
    const CustomScore score = ask_python(custom);
    const Costs costs = read_costs(factor, cost);
    FlatTree flat;
    Account kept;
    {
        const nb::gil_scoped_release unlocked;
        // A thread takes longer to start than a small tree to grow.
        constexpr int64_t worth_a_thread = 1 << 16;
        const bool small = table.rows * static_cast<int64_t>(table.columns.size()) < worth_a_thread;
        Pool pool(score || small ? 1 : n_threads, pulse_of(progress));
        // Rows are spread over children where they lack a value; for classes it is worth knowing that none does.
        const bool spreads = recipe.missing == Missing::spread &&
                             (n_classes == 0 || survey(table, weight ? weight->data() : nullptr, pool).missing);
        const Measure measured = measure(answers, table.rows, spreads, needs_of(recipe.rule));
        pool.breathe();
        std::unique_ptr<Rows> rows;
        if (!exhaustive) {
            rows = coded_rows(table, recipe, measured, coded ? coded->table() : nullptr,
                              account.is_none() ? nullptr : &kept, pool);
        }
        if (!rows) rows = std::make_unique<RowsCpu>(table, recipe, measured, pool);
        const Task task{recipe, measured, score, rows->used_rows()};
        flat = flatten(grow(*rows, task, pool, costs));
    }
    if (!account.is_none()) write_account(kept, account);
    return to_dict(std::move(flat));
}

// --- tables in parts ---

nb::tuple answer_of_part(const nb::object& columns, const std::vector<int>& kinds, const std::vector<int>& levels,
                         const nb::object& target, int n_classes, const std::optional<Doubles>& weight,
                         const nb::dict& written_recipe, const nb::dict& prepared, const nb::dict& places,
                         const nb::bytes& question) {
    const Recipe recipe = read_recipe(written_recipe, n_classes > 0);
    Answers answers;
    Table table;
    table.rows = read_answers(target, n_classes, weight, answers);
    table.columns = read_columns(columns, kinds, levels, table.rows);
    const auto remembered = borrowed<Prepared>(prepared);
    const auto lying = borrowed<Places>(places);
    const std::string_view asked = view_of(question);
    Answered answered;
    std::string said;
    {
        const nb::gil_scoped_release unlocked;
        answered = answer_for_part(table, answers, recipe, remembered, lying, read_message<Question>(asked));
        said = written(answered.answer);
    }
    return nb::make_tuple(given(answered.prepared, prepared), given(answered.places, places), as_bytes(said));
}

nb::dict grow_in_parts(const std::vector<int>& kinds, const std::vector<int>& levels, int64_t rows, int n_classes,
                       bool weighted, const nb::dict& written_recipe, const nb::object& ask, int64_t apart,
                       int64_t at_once, int64_t memory, int n_threads, const nb::object& custom,
                       const std::optional<Doubles>& factor, const std::optional<Table2>& cost,
                       const nb::object& progress) {
    const Recipe recipe = read_recipe(written_recipe, n_classes > 0);
    const CustomScore score = ask_python(custom);
    const Costs costs = read_costs(factor, cost);
    PartsGround ground;
    for (size_t i = 0; i < kinds.size(); ++i) {
        Column column;
        column.kind = static_cast<Kind>(kinds[i]);
        column.levels = levels[i];
        ground.shape.columns.push_back(column);
    }
    FlatTree flat;
    {
        const nb::gil_scoped_release unlocked;
        Pool pool(score ? 1 : n_threads, pulse_of(progress));
        const std::unique_ptr<Rows> parts = rows_in_parts(
            ground, recipe, {rows, weighted, n_classes, apart, at_once, memory, pool.threads()}, ask_through(ask));
        const Task task{recipe, ground.measure, score, parts->used_rows()};
        flat = flatten(grow(*parts, task, pool, costs));
    }
    return to_dict(std::move(flat));
}

class PyRouter {
public:
    PyRouter(const nb::dict& arrays, uint64_t seed) : router_(from_dict(arrays), seed) {}

    // Each gives one answer (or row of answers) per row, and whether the table holds an infinite number.
    nb::object predict(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, int n_threads) const {
        return ask<double>(&Router::predict, router_.answers(), columns, kinds, rows, n_threads);
    }
    nb::object classify(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, int n_threads) const {
        return ask<int32_t>(&Router::classify, 0, columns, kinds, rows, n_threads);
    }
    nb::object apply(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, int n_threads) const {
        return ask<int32_t>(&Router::apply, 0, columns, kinds, rows, n_threads);
    }
    nb::tuple trace(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, int64_t row) const {
        return told(router_.trace(read_columns(columns, kinds, {}, rows), row));
    }

private:
    template <class Value>
    using Question = bool (Router::*)(const std::vector<Column>&, int64_t, Pool&, Value*) const;

    // `width` values per row; 0: one, and no second dimension.
    template <class Value>
    nb::object ask(Question<Value> question, int width, const nb::object& columns, const std::vector<int>& kinds,
                   int64_t rows, int n_threads) const {
        const std::vector<Column> table = read_columns(columns, kinds, {}, rows);
        std::vector<Value> out(static_cast<size_t>(rows) * std::max(width, 1));
        bool infinite = false;
        {
            const nb::gil_scoped_release unlocked;
            Pool pool(n_threads);
            infinite = (router_.*question)(table, rows, pool, out.data());
        }
        return nb::make_tuple(array(std::move(out), rows, width), infinite);
    }

    Router router_;
};

// Whether anything is missing, and the column and row of the first infinite number (None: there is none).
nb::tuple survey_of(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, int n_threads,
                    const std::optional<Doubles>& weight) {
    Table table;
    table.rows = rows;
    table.columns = read_columns(columns, kinds, {}, rows);
    Survey found;
    {
        const nb::gil_scoped_release unlocked;
        Pool pool(n_threads);
        found = survey(table, weight ? weight->data() : nullptr, pool);
    }
    if (!found.infinite) return nb::make_tuple(found.missing, nb::none());
    return nb::make_tuple(found.missing, nb::make_tuple(found.infinite->first, found.infinite->second));
}

double bound_named(const std::string& name, const nb::object& target, int n_classes,
                   const std::optional<Doubles>& weight, int64_t first, int64_t last) {
    Answers answers;
    const int64_t rows = read_answers(target, n_classes, weight, answers);
    const Rule rule = rule_named(name);
    return bound_of_bin(rule, measure(answers, rows, false, needs_of(rule)), rows, first, last);
}

// --- formulas ---

Rule rule_named(const std::string& name) {
    static const std::map<std::string, Rule> names{{"entropy", Rule::information_gain},
                                                   {"information_gain", Rule::information_gain},
                                                   {"gain_ratio", Rule::gain_ratio},
                                                   {"gini", Rule::gini},
                                                   {"misclassification", Rule::misclassification},
                                                   {"twoing", Rule::twoing},
                                                   {"chi_square", Rule::chi_square},
                                                   {"likelihood_ratio", Rule::likelihood_ratio},
                                                   {"variance", Rule::variance},
                                                   {"standard_deviation", Rule::standard_deviation},
                                                   {"absolute_error", Rule::absolute_error},
                                                   {"poisson", Rule::poisson},
                                                   {"f", Rule::f}};
    const auto found = names.find(name);
    if (found == names.end()) throw std::invalid_argument("no criterion is called " + name);
    return found->second;
}

// Statistics given by hand are measured from zero.
double impurity_named(const std::string& name, const Doubles& stat) {
    return impurity(rule_named(name), {stat.data(), stat.shape(0)}, 0);
}

double score_named(const std::string& name, const Doubles& parent, const Table2& children) {
    Recipe recipe;
    recipe.rule = rule_named(name);
    Measure plain;
    plain.needs = needs_of(recipe.rule);
    plain.n_classes = is_for_classes(recipe.rule) ? static_cast<int>(parent.shape(0)) : 0;
    const CustomScore none;
    const Task task{recipe, plain, none, 0};
    Children parts(static_cast<int>(children.shape(1)));
    parts.resize(static_cast<int>(children.shape(0)));
    std::copy(children.data(), children.data() + children.size(), parts.stats.begin());
    Parent whole;
    whole.stat.assign(parent.data(), parent.data() + parent.shape(0));
    whole.node_weight = weight_of(recipe.rule, whole.stat);
    return rate(task, whole, parts).score;
}

// The impurity of a list of numbers, for the criteria of a numeric target.
double impurity_of_values(const std::string& name, const Doubles& values, const std::optional<Doubles>& weight) {
    const Rule rule = rule_named(name);
    Answers answers;
    answers.numbers = values.data();
    if (weight) answers.weight = weight->data();
    const Measure measured = measure(answers, static_cast<int64_t>(values.shape(0)), false, needs_of(rule));
    Recipe recipe;
    recipe.rule = rule;
    const Table table{{}, static_cast<int64_t>(values.shape(0))};
    Pool pool(1);
    const RowsCpu rows(table, recipe, measured, pool);
    const Total total = rows.total(0);
    Pile pile(measured, total.all);
    pile.add(total.all.bin(0));
    std::vector<double> stat(measured.width());
    pile.read(stat.data());
    return impurity(rule, stat, measured.offset);
}

std::tuple<double, double, double> chi_square_of(const Table2& children, bool likelihood_ratio) {
    const Test result = test(likelihood_ratio ? Rule::likelihood_ratio : Rule::chi_square,
                             {children.data(), children.size()}, static_cast<int>(children.shape(1)));
    return {result.statistic, result.degrees, result.log_p};
}

std::tuple<double, double, double, double> f_test_of(const Table2& children) {
    const Test result = test(Rule::f, {children.data(), children.size()}, 3);
    return {result.statistic, result.degrees, result.degrees_within, result.log_p};
}

} // namespace
} // namespace tw

NB_MODULE(_core, m) {
    using namespace tw;
    m.doc() = "The compiled core: arrays in, arrays out (docs/boundary.md).";
    nb::class_<PyCoded>(m, "Coded")
        .def(nb::init<const nb::object&, const std::vector<int>&, int64_t, int>(), "columns"_a, "kinds"_a, "n_rows"_a,
             "n_threads"_a);
    m.def("grow", &grow_tree, "columns"_a, "kinds"_a, "levels"_a, "target"_a, "n_classes"_a, "weight"_a.none(),
          "recipe"_a, "n_threads"_a, "custom"_a.none(), "exhaustive"_a = false, "factor"_a.none() = nb::none(),
          "cost"_a.none() = nb::none(), "coded"_a.none() = nb::none(), "progress"_a.none() = nb::none(),
          "account"_a.none() = nb::none());
    m.def("answer", &answer_of_part, "columns"_a, "kinds"_a, "levels"_a, "target"_a, "n_classes"_a, "weight"_a.none(),
          "recipe"_a, "prepared"_a, "places"_a, "question"_a);
    nb::exception<TooManyValues>(m, "TooManyValues");
    m.def("merge", &merge_answers, "first"_a, "second"_a);
    m.def("grow_parts", &grow_in_parts, "kinds"_a, "levels"_a, "n_rows"_a, "n_classes"_a, "weighted"_a, "recipe"_a,
          "ask"_a, "apart"_a, "at_once"_a, "memory"_a, "n_threads"_a, "custom"_a.none(), "factor"_a.none() = nb::none(),
          "cost"_a.none() = nb::none(), "progress"_a.none() = nb::none());
    nb::class_<PyRouter>(m, "Router")
        .def(nb::init<const nb::dict&, uint64_t>(), "arrays"_a, "seed"_a)
        .def("predict", &PyRouter::predict, "columns"_a, "kinds"_a, "n_rows"_a, "n_threads"_a)
        .def("classify", &PyRouter::classify, "columns"_a, "kinds"_a, "n_rows"_a, "n_threads"_a)
        .def("apply", &PyRouter::apply, "columns"_a, "kinds"_a, "n_rows"_a, "n_threads"_a)
        .def("trace", &PyRouter::trace, "columns"_a, "kinds"_a, "n_rows"_a, "row"_a);
    nb::class_<PyContributor>(m, "Contributor")
        .def(nb::init<const nb::dict&, uint64_t>(), "arrays"_a, "seed"_a)
        .def("base", &PyContributor::base)
        .def("values", &PyContributor::values, "columns"_a, "kinds"_a, "n_rows"_a, "n_threads"_a);
    m.def("survey", &survey_of, "columns"_a, "kinds"_a, "n_rows"_a, "n_threads"_a, "weight"_a.none() = nb::none());
    m.def("row_draws", &row_draws, "columns"_a, "kinds"_a, "n_rows"_a, "seed"_a);
    m.def("weakest_links", &weakest_links_of, "parent"_a, "risk"_a, "exact"_a);
    m.def("prune_by_errors", &prune_by_errors_of, "arrays"_a, "columns"_a, "kinds"_a, "target"_a, "n_classes"_a,
          "weight"_a.none(), "recipe"_a, "confidence"_a, "exact"_a, "margin"_a, "cost"_a.none(), "factor"_a.none());
    m.def("reduce_error", &reduce_error_of, "arrays"_a, "columns"_a, "kinds"_a, "target"_a, "n_classes"_a,
          "weight"_a.none(), "seed"_a, "cost"_a.none());
    m.def("extra_errors", &extra_errors, "cases"_a, "errors"_a, "confidence"_a, "exact"_a);
    m.def("bound", &bound_named, "name"_a, "target"_a, "n_classes"_a, "weight"_a.none(), "first"_a, "last"_a);
    m.def("impurity", &impurity_named, "name"_a, "stat"_a);
    m.def("impurity_of_values", &impurity_of_values, "name"_a, "values"_a, "weight"_a.none() = nb::none());
    m.def("score", &score_named, "name"_a, "parent"_a, "children"_a);
    m.def("chi_square", &chi_square_of, "children"_a, "likelihood_ratio"_a = false);
    m.def("f_test", &f_test_of, "children"_a);
    m.def("chi_square_log_p", &chi_square_log_p, "statistic"_a, "degrees"_a);
    m.def("f_log_p", &f_log_p, "statistic"_a, "degrees_between"_a, "degrees_within"_a);
}

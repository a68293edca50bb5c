// Formulas, for Python: impurities, scores, tests and their tails, and the bound of a bin.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "criterion/distributions.hpp"
#include "rows/exhaustive_rows.hpp"
#include "threshold/bin_bound.hpp"

using namespace nanobind::literals;

namespace tw {
namespace {

Criterion criterion_named(const std::string& name) {
    const std::string_view known = name == "entropy" ? "information_gain" : std::string_view(name);
    for (const CriterionTraits& traits : criterion_traits) {
        if (!traits.name.empty() && traits.name == known) return traits.criterion;
    }
    throw std::invalid_argument("no criterion is called " + name);
}

double bound_named(const std::string& name, const nb::object& target, int n_classes,
                   const std::optional<Doubles>& weight, int64_t first, int64_t last) {
    const auto [table, targets] = read_rows(nb::list(), {}, {}, target, n_classes, weight);
    const Criterion criterion = criterion_named(name);
    const Measure measure = measure_target(targets, table.rows, false, traits_of(criterion).statistic);
    return bound_of_bin(criterion, measure, table.rows, first, last);
}

// Statistics given by hand are measured from zero.
double impurity_named(const std::string& name, const Doubles& stat) {
    return impurity(criterion_named(name), {stat.data(), stat.shape(0)}, 0);
}

double score_named(const std::string& name, const Doubles& parent, const Table2& children) {
    Recipe recipe;
    recipe.criterion = criterion_named(name);
    Measure plain;
    plain.statistic = traits_of(recipe.criterion).statistic;
    plain.n_classes = is_for_classes(recipe.criterion) ? static_cast<int>(parent.shape(0)) : 0;
    const CustomScore none;
    const Task task{recipe, plain, none, 0};
    Children parts(static_cast<int>(children.shape(1)));
    parts.resize(static_cast<int>(children.shape(0)));
    std::copy(children.data(), children.data() + children.size(), parts.stats.begin());
    Parent whole;
    whole.stat.assign(parent.data(), parent.data() + parent.shape(0));
    whole.node_weight = weight_of(recipe.criterion, whole.stat);
    return rate(task, whole, parts).score;
}

// The impurity of a list of numbers, for the criteria of a numeric target.
double impurity_of_values(const std::string& name, const Doubles& values, const std::optional<Doubles>& weight) {
    const Criterion criterion = criterion_named(name);
    Target targets;
    targets.numbers = values.data();
    if (weight) targets.weight = weight->data();
    const Measure measure_rows =
        measure_target(targets, static_cast<int64_t>(values.shape(0)), false, traits_of(criterion).statistic);
    Recipe recipe;
    recipe.criterion = criterion;
    const Table table{{}, static_cast<int64_t>(values.shape(0))};
    ThreadPool pool(1);
    const ExhaustiveRows rows(table, recipe, measure_rows, pool);
    const Total total = rows.total(0);
    Accumulator accumulator(measure_rows, total.all);
    accumulator.add(total.all.bin(0));
    std::vector<double> stat(measure_rows.width());
    accumulator.read(stat.data());
    return impurity(criterion, stat, measure_rows.offset);
}

std::tuple<double, double, double> chi_square_of(const Table2& children, bool likelihood_ratio) {
    const Test result = test(likelihood_ratio ? Criterion::likelihood_ratio : Criterion::chi_square,
                             {children.data(), children.size()}, static_cast<int>(children.shape(1)));
    return {result.statistic, result.degrees, result.log_p};
}

std::tuple<double, double, double, double> f_test_of(const Table2& children) {
    const Test result = test(Criterion::f, {children.data(), children.size()}, 3);
    return {result.statistic, result.degrees, result.degrees_within, result.log_p};
}

} // namespace

void bind_formulas(nb::module_& m) {
    m.def("bin_bound", &bound_named, "name"_a, "target"_a, "n_classes"_a, "weight"_a.none(), "first"_a, "last"_a);
    m.def("impurity", &impurity_named, "name"_a, "stat"_a);
    m.def("impurity_of_values", &impurity_of_values, "name"_a, "values"_a, "weight"_a.none() = nb::none());
    m.def("score", &score_named, "name"_a, "parent"_a, "children"_a);
    m.def("chi_square", &chi_square_of, "children"_a, "likelihood_ratio"_a = false);
    m.def("f_test", &f_test_of, "children"_a);
    m.def("chi_square_log_p", &chi_square_log_p, "statistic"_a, "degrees"_a);
    m.def("f_log_p", &f_log_p, "statistic"_a, "degrees_between"_a, "degrees_within"_a);
}

} // namespace tw

// Pruning, for Python: one number or mark per node or row.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "bind/recipe.hpp"
#include "prune/cost_complexity.hpp"
#include "prune/error_based.hpp"
#include "prune/held_out.hpp"
#include "prune/reduced_error.hpp"

using namespace nanobind::literals;

namespace tw {
namespace {

nb::object weakest_links_of(const Ints& parent, const Doubles& risk, bool exact) {
    const auto links = exact ? weakest_links : rpart_links;
    const int64_t nodes = static_cast<int64_t>(parent.shape(0));
    return array(without_gil([&] { return links(parent.data(), risk.data(), nodes); }));
}

nb::dict prune_by_errors_of(const nb::dict& arrays, const nb::object& columns, const std::vector<int>& kinds,
                            const nb::object& target, int n_classes, const std::optional<Doubles>& weight,
                            const nb::dict& written, double confidence, bool exact, double margin,
                            const std::optional<Table2>& cost, const std::optional<Doubles>& factor) {
    const FlatTree flat = from_dict(arrays);
    const Recipe recipe = read_recipe(written, true);
    const LabelledRows rows = read_rows(columns, kinds, {}, target, n_classes, weight);
    const Costs costs = read_costs(factor, cost);
    const ErrorBased choice{confidence, exact ? Deviate::exact : Deviate::table, margin, costs.cost, costs.factor};
    ErrorPruned pruned = without_gil([&] {
        const bool fractions = recipe.missing == Missing::fractional;
        const Measure measure = measure_target(rows.target, rows.table.rows, fractions, Statistic::classes);
        return prune_by_errors(flat, rows.table.columns, recipe, measure, choice);
    });
    nb::list replacements;
    for (const Replacement& one : pruned.replacements) {
        replacements.append(nb::make_tuple(one.node, one.raised, one.instead, one.below));
    }
    nb::dict out;
    out["kept"] = array(std::move(pruned.kept));
    out["leaf"] = array(std::move(pruned.leaf));
    out["rows"] = array(std::move(pruned.rows));
    out["weight"] = array(std::move(pruned.weight));
    out["stats"] = to_python(pruned.stats);
    out["value"] = to_python(pruned.value);
    out["impurity"] = array(std::move(pruned.impurity));
    out["share"] = array(std::move(pruned.share));
    out["replacements"] = replacements;
    return out;
}

nb::dict reduce_error_of(const nb::dict& arrays, const nb::object& columns, const std::vector<int>& kinds,
                         const nb::object& target, int n_classes, const std::optional<Doubles>& weight,
                         const nb::dict& written, const std::optional<Table2>& cost) {
    const FlatTree flat = from_dict(arrays);
    const Recipe recipe = read_recipe(written, n_classes > 0);
    const LabelledRows rows = read_rows(columns, kinds, {}, target, n_classes, weight);
    Reduced reduced = without_gil([&] {
        const Statistic statistic = traits_of(recipe.criterion).statistic;
        const Measure measure = measure_target(rows.target, rows.table.rows, false, statistic);
        return reduce_error(flat, rows.table.columns, recipe.seed, measure, read_costs(cost));
    });
    nb::dict out;
    out["leaf"] = array(std::move(reduced.leaf));
    out["as_leaf"] = array(std::move(reduced.as_leaf));
    out["below"] = array(std::move(reduced.below));
    return out;
}

// Each sum as {unit: counts}, which growing/exact_sums.py adds up.
nb::dict to_dict(ExactSums sums) {
    nb::dict out;
    for (int unit = 0; unit < ExactSums::units; ++unit) {
        std::vector<int64_t>& counts = sums.counts()[static_cast<size_t>(unit)];
        if (!counts.empty()) out[nb::int_(unit + ExactSums::first_unit)] = array(std::move(counts));
    }
    return out;
}

Loss loss_named(const std::string& name) {
    if (name == "classes") return Loss::classes;
    if (name == "squared error") return Loss::squared;
    if (name == "absolute error") return Loss::absolute;
    if (name == "half Poisson deviance") return Loss::poisson;
    throw std::invalid_argument("unknown loss " + name);
}

template <class Value, class Given>
std::span<const Value> span_of(const std::optional<Given>& given) {
    return given ? std::span<const Value>(given->data(), given->size()) : std::span<const Value>();
}

nb::dict loss_sums_of(const Ints& parent, const Ints& stop, const std::optional<Ints>& predicted,
                      const std::optional<Doubles>& number, const std::optional<Table2>& cost, const std::string& loss,
                      const Ints& end, const std::optional<Ints>& classes, const std::optional<Doubles>& numbers,
                      const Doubles& weight) {
    const PredictingNodes nodes{{parent.data(), parent.size()}, {stop.data(), stop.size()}, span_of<int32_t>(predicted),
                                span_of<double>(number),        span_of<double>(cost),      loss_named(loss)};
    const EndedRows rows{
        {end.data(), end.size()}, span_of<int32_t>(classes), span_of<double>(numbers), {weight.data(), weight.size()}};
    LossSums sums = without_gil([&] { return sum_losses(nodes, rows); });
    nb::dict out;
    out["as_leaf"] = to_dict(std::move(sums.as_leaf));
    out["at_inner"] = to_dict(std::move(sums.at_inner));
    out["squares_as_leaf"] = to_dict(std::move(sums.squares_as_leaf));
    out["squares_at_inner"] = to_dict(std::move(sums.squares_at_inner));
    return out;
}

nb::object extra_errors(const Doubles& cases, const Doubles& errors, double confidence, bool exact) {
    const ErrorLimit limit(confidence, exact ? Deviate::exact : Deviate::table);
    std::vector<double> extra(cases.shape(0));
    for (size_t i = 0; i < extra.size(); ++i) extra[i] = limit.extra(cases.data()[i], errors.data()[i]);
    return array(std::move(extra));
}

} // namespace

void bind_prune(nb::module_& m) {
    m.def("weakest_links", &weakest_links_of, "parent"_a, "risk"_a, "exact"_a);
    m.def("prune_by_errors", &prune_by_errors_of, "arrays"_a, "columns"_a, "kinds"_a, "target"_a, "n_classes"_a,
          "weight"_a.none(), "recipe"_a, "confidence"_a, "exact"_a, "margin"_a, "cost"_a.none(), "factor"_a.none());
    m.def("reduce_error", &reduce_error_of, "arrays"_a, "columns"_a, "kinds"_a, "target"_a, "n_classes"_a,
          "weight"_a.none(), "recipe"_a, "cost"_a.none());
    m.def("loss_sums", &loss_sums_of, "parent"_a, "stop"_a, "predicted"_a.none(), "number"_a.none(), "cost"_a.none(),
          "loss"_a, "end"_a, "classes"_a.none(), "numbers"_a.none(), "weight"_a);
    m.def("extra_errors", &extra_errors, "cases"_a, "errors"_a, "confidence"_a, "exact"_a);
}

} // namespace tw

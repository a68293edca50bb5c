#include "bind/recipe.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>

#include "bind/arrays.hpp"

using namespace nanobind::literals;

namespace tw {
namespace {

template <class Value>
Value chosen(const std::map<std::string, Value>& names, const nb::dict& choice) {
    const auto name = nb::cast<std::string>(choice["choice"]);
    const auto found = names.find(name);
    if (found == names.end()) throw std::invalid_argument("the core does not know the choice " + name);
    return found->second;
}

// A setting as the core holds it. A count beyond what it can hold is beyond any table, too: the largest serves as well.
template <class Value>
Value setting(const nb::handle& given) {
    if constexpr (std::is_integral_v<Value> && std::is_signed_v<Value>) {
        int overflow = 0;
        const long long value = PyLong_AsLongLongAndOverflow(given.ptr(), &overflow);
        if (value == -1 && PyErr_Occurred()) throw nb::python_error();
        using Limits = std::numeric_limits<Value>;
        if (overflow != 0) return overflow > 0 ? Limits::max() : Limits::min();
        return static_cast<Value>(std::clamp<long long>(value, Limits::min(), Limits::max()));
    } else {
        return nb::cast<Value>(given);
    }
}

template <class Value>
void set(const nb::dict& from, const char* name, Value& to) {
    to = setting<Value>(from[name]);
}

template <class Value>
void set_if_given(const nb::dict& from, const char* name, Value& to) {
    if (!from[name].is_none()) to = setting<Value>(from[name]);
}

void read_branching(const nb::dict& choice, Recipe& recipe) {
    recipe.branching = chosen<Branching>({{"EachValue", Branching::each_value},
                                          {"Binary", Branching::binary},
                                          {"Grouped", Branching::grouped},
                                          {"OneVsRest", Branching::one_vs_rest},
                                          {"Merge", Branching::merge}},
                                         choice);
    if (recipe.branching == Branching::binary) set(choice, "enumerate_up_to", recipe.enumerate_up_to);
    if (recipe.branching != Branching::merge) return;
    MergeOptions& merge = recipe.merge;
    set(choice, "alpha_merge", merge.alpha_merge);
    if (!choice["alpha_resplit"].is_none()) merge.alpha_resplit = nb::cast<double>(choice["alpha_resplit"]);
    set(choice, "alpha_split", merge.alpha_split);
    set(choice, "bonferroni", merge.bonferroni);
    set(choice, "exhaustive", merge.exhaustive);
    set(choice, "min_child", merge.min_child);
    merge.biggs = nb::cast<std::string>(choice["multiplier"]) == "biggs";
}

void read_numeric(const nb::dict& choice, Recipe& recipe) {
    recipe.numeric = chosen<Numeric>({{"Threshold", Numeric::threshold},
                                      {"Binned", Numeric::quantile_binned},
                                      {"Refused", Numeric::categorical_only}},
                                     choice);
    if (recipe.numeric == Numeric::quantile_binned) set(choice, "groups", recipe.bins);
    if (recipe.numeric != Numeric::threshold) return;
    recipe.threshold.observed = nb::cast<std::string>(choice["at"]) == "observed";
    recipe.threshold.closed = nb::cast<std::string>(choice["test"]) == "<=";
    set(choice, "gap", recipe.threshold.min_gap);
    set(choice, "tenth", recipe.threshold.min_side_rule);
    set(choice, "penalised", recipe.threshold.cut_penalty);
}

void read_criterion(const nb::dict& choice, bool classes, Recipe& recipe) {
    std::map<std::string, Criterion> names;
    for (const CriterionTraits& traits : criterion_traits) {
        if (is_for_classes(traits.criterion) == classes) names.emplace(traits.choice, traits.criterion);
    }
    recipe.criterion = chosen<Criterion>(names, choice);
    if (recipe.criterion == Criterion::gain_ratio) set(choice, "average_rule", recipe.average_rule);
    if (recipe.criterion == Criterion::fifth_root) set(choice, "min_share", recipe.min_share);
    if (recipe.criterion == Criterion::chi_square && nb::cast<bool>(choice["likelihood_ratio"])) {
        recipe.criterion = Criterion::likelihood_ratio;
    }
}

void read_missing(const nb::dict& choice, Recipe& recipe) {
    recipe.missing = chosen<Missing>({{"Spread", Missing::fractional},
                                      {"Surrogates", Missing::surrogates},
                                      {"OwnCategory", Missing::own},
                                      {"MajorityChild", Missing::majority},
                                      {"RandomChild", Missing::random},
                                      {"LearnedDirection", Missing::learned},
                                      {"Ignore", Missing::ignore},
                                      {"RefuseMissing", Missing::refuse}},
                                     choice);
    if (recipe.missing != Missing::surrogates) return;
    set(choice, "maximum", recipe.max_surrogates);
    recipe.surrogates_then_majority = nb::cast<std::string>(choice["then"]) == "majority";
    set(choice, "imperfect_levels", recipe.imperfect_levels);
    recipe.majority_of_all = nb::cast<std::string>(choice["majority"]) == "all";
}

void read_stopping(const nb::dict& choice, Stopping& stopping) {
    set_if_given(choice, "max_depth", stopping.max_depth);
    set(choice, "min_samples_split", stopping.min_samples_split);
    set(choice, "min_samples_leaf", stopping.min_samples_leaf);
    set(choice, "min_weight_split", stopping.min_weight_split);
    set(choice, "min_weight_leaf", stopping.min_weight_leaf);
    set(choice, "min_weight_two", stopping.min_weight_two);
    set_if_given(choice, "max_leaf_nodes", stopping.max_leaf_nodes);
    set_if_given(choice, "max_features", stopping.max_features);
    set(choice, "min_impurity_decrease", stopping.min_impurity_decrease);
    set_if_given(choice, "max_impurity", stopping.max_impurity);
    if (!choice["significance"].is_none()) stopping.significance = nb::cast<double>(choice["significance"]);
    set(choice, "zero_gain", stopping.zero_gain);
}

void read_simplify(const nb::dict& choice, Recipe& recipe) {
    recipe.simplify =
        chosen<Simplify>({{"Collapse", Simplify::collapse}, {"Complexity", Simplify::complexity}}, choice);
    if (recipe.simplify == Simplify::collapse) set(choice, "top_down", recipe.collapse_top_down);
    if (recipe.simplify == Simplify::complexity) set(choice, "cp", recipe.complexity);
}

// Models are fitted to the finished tree (linear/), not while it grows.
void read_leaves(const nb::dict& leaves, Recipe& recipe) {
    // Shrinkage changes the predictions of the finished tree, in Python; growing and pruning count without it.
    recipe.smoothing = std::map<std::string, Smoothing>{
        {"none", Smoothing::none},
        {"laplace", Smoothing::laplace},
        {"m_estimate", Smoothing::m_estimate},
        {"shrinkage", Smoothing::none},
        {"shrinkage_cv",
         Smoothing::none}}.at(nb::cast<std::string>(leaves["smoothing"]));
    set(leaves, "m", recipe.smoothing_m);
    recipe.empty_takes_majority = nb::cast<std::string>(leaves["empty"]) == "majority";
}

} // namespace

Recipe read_recipe(const nb::dict& written, bool classes) {
    const auto part = [&](const char* name) { return nb::cast<nb::dict>(written[name]); };
    Recipe recipe;
    read_branching(part("branching"), recipe);
    read_numeric(part("numeric"), recipe);
    read_criterion(part(classes ? "criterion" : "regression"), classes, recipe);
    read_missing(part("missing"), recipe);
    read_stopping(part("stopping"), recipe.stopping);
    if (!written["simplify"].is_none()) read_simplify(part("simplify"), recipe);
    const nb::dict leaves = part("leaves");
    if (nb::cast<std::string>(leaves["choice"]) == "Leaves") read_leaves(leaves, recipe);
    recipe.unseen_to_majority = nb::cast<std::string>(written["unseen"]) == "majority";
    set(written, "slack", recipe.tie_tolerance);
    set(written, "drop_blank_rows", recipe.drop_all_missing_rows);
    set(written, "rivals", recipe.rivals);
    set(written, "seed", recipe.seed);
    return recipe;
}

CustomScore python_criterion(nb::object function) {
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
        const nb::object returned = nb::module_::import_("numpy").attr("ascontiguousarray")(
            function(parent_array, children_array), "dtype"_a = "float64");
        const auto shape_given = nb::cast<nb::tuple>(returned.attr("shape"));
        if (shape_given.size() != 1 || nb::cast<size_t>(shape_given[0]) != scores.size()) {
            throw std::invalid_argument("the criterion function must return one score per candidate: expected (" +
                                        std::to_string(scores.size()) + ",), got " +
                                        nb::cast<std::string>(nb::str(shape_given)));
        }
        const auto values = nb::cast<Doubles>(returned);
        if (std::any_of(values.data(), values.data() + scores.size(), [](double x) { return std::isinf(x); })) {
            throw std::invalid_argument(
                "the criterion function returned an infinite score; return a number, or NaN for a candidate that must "
                "not be taken");
        }
        std::copy(values.data(), values.data() + values.shape(0), scores.begin());
    };
}

} // namespace tw

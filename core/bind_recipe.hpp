// From the written form of a recipe (Recipe.as_dict) to the core's.
//
// Always holds: recipe.py has checked everything; a choice the core does not know means the two were built apart.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "recipe.hpp"

namespace tw {

namespace nb = nanobind;

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

inline void read_branching(const nb::dict& choice, Recipe& recipe) {
    recipe.branching = chosen<Branching>({{"EachValue", Branching::each_value},
                                          {"Binary", Branching::binary},
                                          {"Grouped", Branching::grouped},
                                          {"OneVsRest", Branching::one_vs_rest},
                                          {"Merge", Branching::merge}},
                                         choice);
    if (recipe.branching == Branching::binary) set(choice, "enumerate_up_to", recipe.enumerate_up_to);
    if (recipe.branching != Branching::merge) return;
    MergeChoice& merge = recipe.merge;
    set(choice, "alpha_merge", merge.alpha_merge);
    if (!choice["alpha_resplit"].is_none()) merge.alpha_resplit = nb::cast<double>(choice["alpha_resplit"]);
    set(choice, "alpha_split", merge.alpha_split);
    set(choice, "bonferroni", merge.bonferroni);
    set(choice, "exhaustive", merge.exhaustive);
    set(choice, "min_child", merge.min_child);
    merge.biggs = nb::cast<std::string>(choice["multiplier"]) == "biggs";
}

inline void read_numeric(const nb::dict& choice, Recipe& recipe) {
    recipe.numeric = chosen<Numeric>(
        {{"Threshold", Numeric::threshold}, {"Binned", Numeric::binned}, {"Refused", Numeric::refused}}, choice);
    if (recipe.numeric == Numeric::binned) set(choice, "groups", recipe.bins);
    if (recipe.numeric != Numeric::threshold) return;
    recipe.threshold.observed = nb::cast<std::string>(choice["at"]) == "observed";
    recipe.threshold.closed = nb::cast<std::string>(choice["test"]) == "<=";
    set(choice, "gap", recipe.threshold.gap);
    set(choice, "tenth", recipe.threshold.tenth);
    set(choice, "penalised", recipe.threshold.penalised);
}

inline void read_criterion(const nb::dict& choice, bool classes, Recipe& recipe) {
    recipe.rule = chosen<Rule>({{"InformationGain", Rule::information_gain},
                                {"GainRatio", Rule::gain_ratio},
                                {"Gini", Rule::gini},
                                {"Misclassification", Rule::misclassification},
                                {"Twoing", Rule::twoing},
                                {"ChiSquare", Rule::chi_square},
                                {"Variance", Rule::variance},
                                {"StandardDeviation", Rule::standard_deviation},
                                {"AbsoluteError", Rule::absolute_error},
                                {"Poisson", Rule::poisson},
                                {"FTest", Rule::f},
                                {"Custom", classes ? Rule::custom_classes : Rule::custom_numbers}},
                               choice);
    if (recipe.rule == Rule::gain_ratio) set(choice, "average_rule", recipe.average_rule);
    if (recipe.rule == Rule::chi_square && nb::cast<bool>(choice["likelihood_ratio"])) {
        recipe.rule = Rule::likelihood_ratio;
    }
}

inline void read_missing(const nb::dict& choice, Recipe& recipe) {
    recipe.missing = chosen<Missing>({{"Spread", Missing::spread},
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

inline void read_stopping(const nb::dict& choice, Stopping& stopping) {
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

inline void read_simplify(const nb::dict& choice, Recipe& recipe) {
    recipe.simplify =
        chosen<Simplify>({{"Collapse", Simplify::collapse}, {"Complexity", Simplify::complexity}}, choice);
    if (recipe.simplify == Simplify::collapse) set(choice, "top_down", recipe.collapse_top_down);
    if (recipe.simplify == Simplify::complexity) set(choice, "cp", recipe.complexity);
}

inline Recipe read_recipe(const nb::dict& written, bool classes) {
    const auto part = [&](const char* name) { return nb::cast<nb::dict>(written[name]); };
    Recipe recipe;
    read_branching(part("branching"), recipe);
    read_numeric(part("numeric"), recipe);
    read_criterion(part(classes ? "criterion" : "regression"), classes, recipe);
    read_missing(part("missing"), recipe);
    read_stopping(part("stopping"), recipe.stopping);
    if (!written["simplify"].is_none()) read_simplify(part("simplify"), recipe);
    const nb::dict leaves = part("leaves");
    recipe.smoothing =
        std::map<std::string, Smoothing>{
            {"none", Smoothing::none}, {"laplace", Smoothing::laplace}, {"m_estimate", Smoothing::m_estimate}}
            .at(nb::cast<std::string>(leaves["smoothing"]));
    set(leaves, "m", recipe.smoothing_m);
    recipe.empty_takes_majority = nb::cast<std::string>(leaves["empty"]) == "majority";
    recipe.unseen_to_majority = nb::cast<std::string>(written["unseen"]) == "majority";
    set(written, "slack", recipe.slack);
    set(written, "drop_blank_rows", recipe.drop_blank_rows);
    set(written, "rivals", recipe.rivals);
    set(written, "seed", recipe.seed);
    return recipe;
}

} // namespace tw

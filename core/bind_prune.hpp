// Pruning, as Python sees it.
//
// Comes in: a tree's arrays, and rows where a pruner looks at rows. Goes out: one number or mark per node or row.
// Always holds: the interpreter lock is released while the core works.
#pragma once

#include "bind_common.hpp"
#include "bind_recipe.hpp"
#include "draw.hpp"
#include "error_based.hpp"
#include "prune.hpp"
#include "reduced_error.hpp"

namespace tw {

// Per row a number drawn by its values and the seed alone.
inline nb::object row_draws(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, uint64_t seed) {
    const std::vector<Column> table = read_columns(columns, kinds, {}, rows);
    std::vector<uint64_t> draws(rows);
    for (int64_t row = 0; row < rows; ++row) draws[row] = mix(seed, hash_row(table, row));
    return array(std::move(draws), rows);
}

inline nb::object weakest_links_of(const Ints& parent, const Doubles& risk, bool exact) {
    const size_t nodes = parent.shape(0);
    std::vector<double> alpha;
    {
        const nb::gil_scoped_release unlocked;
        const auto links = exact ? weakest_links : child_links;
        alpha = links(parent.data(), risk.data(), static_cast<int64_t>(nodes));
    }
    return array(std::move(alpha), nodes);
}

inline nb::dict prune_by_errors_of(const nb::dict& arrays, const nb::object& columns, const std::vector<int>& kinds,
                                   const nb::object& target, int n_classes, const std::optional<Doubles>& weight,
                                   const nb::dict& written, double confidence, bool exact, double margin,
                                   const std::optional<Table2>& cost, const std::optional<Doubles>& factor) {
    const FlatTree flat = from_dict(arrays);
    const Recipe recipe = read_recipe(written, true);
    Answers answers;
    const int64_t rows = read_answers(target, n_classes, weight, answers);
    const std::vector<Column> table = read_columns(columns, kinds, {}, rows);
    std::vector<double> factors;
    if (factor) factors.assign(factor->data(), factor->data() + factor->size());
    ErrorPruned pruned;
    {
        const nb::gil_scoped_release unlocked;
        const Measure measured = measure(answers, rows, recipe.missing == Missing::spread, Needs::classes);
        pruned =
            prune_by_errors(flat, table, recipe, measured,
                            {confidence, exact ? Deviate::exact : Deviate::table, margin, read_costs(cost), factors});
    }
    const size_t nodes = flat.parent.size();
    nb::list replacements;
    for (const Replacement& one : pruned.replacements) {
        replacements.append(nb::make_tuple(one.node, one.raised, one.instead, one.below));
    }
    nb::dict out;
    out["kept"] = array(std::move(pruned.kept), nodes);
    out["leaf"] = array(std::move(pruned.leaf), nodes);
    out["rows"] = array(std::move(pruned.rows), nodes);
    out["weight"] = array(std::move(pruned.weight), nodes);
    out["stats"] = array(std::move(pruned.stats), nodes, flat.n_stats);
    out["value"] = array(std::move(pruned.value), nodes, flat.n_values);
    out["impurity"] = array(std::move(pruned.impurity), nodes);
    const size_t shares = pruned.share.size();
    out["share"] = array(std::move(pruned.share), shares);
    out["replacements"] = replacements;
    return out;
}

inline nb::dict reduce_error_of(const nb::dict& arrays, const nb::object& columns, const std::vector<int>& kinds,
                                const nb::object& target, int n_classes, const std::optional<Doubles>& weight,
                                uint64_t seed, const std::optional<Table2>& cost) {
    const FlatTree flat = from_dict(arrays);
    Answers answers;
    const int64_t rows = read_answers(target, n_classes, weight, answers);
    const std::vector<Column> table = read_columns(columns, kinds, {}, rows);
    Reduced reduced;
    {
        const nb::gil_scoped_release unlocked;
        const Needs needs = n_classes > 0 ? Needs::classes : Needs::squares;
        reduced = reduce_error(flat, table, seed, measure(answers, rows, false, needs), read_costs(cost));
    }
    const size_t nodes = flat.parent.size();
    nb::dict out;
    out["leaf"] = array(std::move(reduced.leaf), nodes);
    out["as_leaf"] = array(std::move(reduced.as_leaf), nodes);
    out["below"] = array(std::move(reduced.below), nodes);
    return out;
}

inline nb::object extra_errors(const Doubles& cases, const Doubles& errors, double confidence, bool exact) {
    const ErrorLimit limit(confidence, exact ? Deviate::exact : Deviate::table);
    std::vector<double> extra(cases.shape(0));
    for (size_t i = 0; i < extra.size(); ++i) extra[i] = limit.extra(cases.data()[i], errors.data()[i]);
    const size_t size = extra.size();
    return array(std::move(extra), size);
}

} // namespace tw

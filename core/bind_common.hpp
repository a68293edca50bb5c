// What every binding needs: arrays and tables as they come from Python, arrays and trees as they go back.
//
// Comes in: numpy arrays and dictionaries of them. Goes out: borrowed columns, flat trees, arrays that own their
// memory. Always holds: a table's numbers are read where they lie; docs/boundary.md lists every array.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "costs.hpp"
#include "table.hpp"
#include "tree.hpp"

namespace tw {

namespace nb = nanobind;

using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class Value>
using Spaced = nb::ndarray<const Value, nb::ndim<1>, nb::device::cpu>; // any distance between values
using Table2 = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// --- tables ---

// Numbers are read where they lie, so each must lie where its type may.
template <class Value>
Numbers numbers_at(const Value* first, int64_t apart) {
    if (reinterpret_cast<uintptr_t>(first) % alignof(Value) != 0) {
        throw std::invalid_argument("a column is not aligned; give a copy of it");
    }
    return Numbers(first, static_cast<std::ptrdiff_t>(apart) * static_cast<std::ptrdiff_t>(sizeof(Value)));
}

// Numbers of either precision. Returns how many there are.
inline int64_t read_numbers(nb::handle source, Numbers& numbers) {
    if (Spaced<float> single; nb::try_cast(source, single, false)) {
        numbers = numbers_at(single.data(), single.stride(0));
        return static_cast<int64_t>(single.shape(0));
    }
    const auto values = nb::cast<Spaced<double>>(source, false);
    numbers = numbers_at(values.data(), values.stride(0));
    return static_cast<int64_t>(values.shape(0));
}

// A matrix of numbers stands for its columns.
template <class Value>
bool read_matrix(nb::handle source, int64_t rows, std::vector<Column>& columns) {
    nb::ndarray<const Value, nb::ndim<2>, nb::device::cpu> matrix;
    if (!nb::try_cast(source, matrix, false)) return false;
    if (static_cast<int64_t>(matrix.shape(0)) != rows) throw std::invalid_argument("the matrix has another length");
    for (size_t i = 0; i < matrix.shape(1); ++i) {
        Column column;
        column.numbers = numbers_at(matrix.data() + static_cast<int64_t>(i) * matrix.stride(1), matrix.stride(0));
        columns.push_back(column);
    }
    return true;
}

// `columns`: one array each, or a matrix of numbers. `levels` is empty where nobody needs it.
inline std::vector<Column> read_columns(const nb::object& columns, const std::vector<int>& kinds,
                                        const std::vector<int>& levels, int64_t rows) {
    std::vector<Column> result;
    if (read_matrix<float>(columns, rows, result) || read_matrix<double>(columns, rows, result)) return result;
    for (size_t i = 0; i < kinds.size(); ++i) {
        Column column;
        column.kind = static_cast<Kind>(kinds[i]);
        column.levels = levels.empty() ? 0 : levels[i];
        int64_t length = 0;
        if (column.kind == Kind::number) {
            length = read_numbers(columns[i], column.numbers);
        } else {
            const auto codes = nb::cast<Ints>(columns[i], false);
            column.codes = codes.data();
            length = static_cast<int64_t>(codes.shape(0));
        }
        if (length != rows) throw std::invalid_argument("column " + std::to_string(i) + " has another length");
        result.push_back(column);
    }
    return result;
}

// The target, and the weight where rows have one; returns the number of rows.
inline int64_t read_answers(const nb::object& target, int n_classes, const std::optional<Doubles>& weight,
                            Answers& answers) {
    answers.n_classes = n_classes;
    if (weight) answers.weight = weight->data();
    if (n_classes > 0) {
        const auto classes = nb::cast<Ints>(target, false);
        answers.classes = classes.data();
        return static_cast<int64_t>(classes.shape(0));
    }
    const auto numbers = nb::cast<Doubles>(target, false);
    answers.numbers = numbers.data();
    return static_cast<int64_t>(numbers.shape(0));
}

inline std::vector<double> read_costs(const std::optional<Table2>& cost) {
    return cost ? std::vector<double>(cost->data(), cost->data() + cost->size()) : std::vector<double>{};
}

inline Costs read_costs(const std::optional<Doubles>& factor, const std::optional<Table2>& cost) {
    Costs costs;
    if (factor) costs.factor.assign(factor->data(), factor->data() + factor->size());
    costs.cost = read_costs(cost);
    return costs;
}

// An array that owns its numbers; if `Kept` is const, one that cannot be written to.
template <class Kept, class Values>
nb::object owning(Values values, size_t rows, size_t width) {
    auto* owned = new Values(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Values*>(p); });
    const size_t shape[2] = {rows, width};
    return nb::cast(nb::ndarray<nb::numpy, Kept>(owned->data(), width > 0 ? 2 : 1, shape, owner));
}

template <class Value>
nb::object array(std::vector<Value> values, size_t rows, size_t width = 0) {
    return owning<Value>(std::move(values), rows, width);
}

template <class Value, class Allocator>
nb::object frozen(std::vector<Value, Allocator> values, size_t rows, size_t width = 0) {
    return owning<const Value>(std::move(values), rows, width);
}

// Calls visit(name, member) for every array that holds one number per place; the one list of the format's arrays.
template <class Tree, class Visit>
void each_array(Tree& flat, Visit visit) {
    visit("parent", flat.parent);
    visit("depth", flat.depth);
    visit("rows", flat.rows);
    visit("weight", flat.weight);
    visit("impurity", flat.impurity);
    visit("gain", flat.gain);
    visit("stop", flat.stop);
    visit("child_start", flat.child_start);
    visit("children", flat.children);
    visit("split_start", flat.split_start);
    visit("n_surrogates", flat.n_surrogates);
    visit("column", flat.column);
    visit("closed", flat.closed);
    visit("score", flat.score);
    visit("adjusted", flat.adjusted);
    visit("split_gain", flat.split_gain);
    visit("statistic", flat.statistic);
    visit("degrees", flat.degrees);
    visit("log_p", flat.log_p);
    visit("log_multiplier", flat.log_multiplier);
    visit("missing", flat.missing);
    visit("unseen", flat.unseen);
    visit("break_start", flat.break_start);
    visit("breaks", flat.breaks);
    visit("bin_start", flat.bin_start);
    visit("child_of_bin", flat.child_of_bin);
    visit("share_start", flat.share_start);
    visit("share", flat.share);
}

inline nb::dict to_dict(FlatTree flat) {
    const size_t nodes = flat.parent.size();
    nb::dict out;
    each_array(flat, [&](const char* name, auto& values) {
        const size_t size = values.size();
        out[name] = frozen(std::move(values), size);
    });
    out["stats"] = frozen(std::move(flat.stats), nodes, flat.n_stats);
    out["value"] = frozen(std::move(flat.value), nodes, flat.n_values);
    return out;
}

template <class Value>
std::vector<Value> copied(nb::handle source) {
    const auto view = nb::cast<nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(source);
    return {view.data(), view.data() + view.shape(0)};
}

inline FlatTree from_dict(const nb::dict& arrays) {
    FlatTree flat;
    each_array(flat, [&](const char* name, auto& values) {
        values = copied<typename std::remove_reference_t<decltype(values)>::value_type>(arrays[name]);
    });
    const auto value = nb::cast<Table2>(arrays["value"]);
    flat.n_values = static_cast<int>(value.shape(1));
    flat.value.assign(value.data(), value.data() + value.size());
    const auto stats = nb::cast<Table2>(arrays["stats"]);
    flat.n_stats = static_cast<int>(stats.shape(1));
    flat.stats.assign(stats.data(), stats.data() + stats.size());
    return flat;
}

// What a long call does now and then: hears of Ctrl-C, and tells how far it is.
inline std::function<void(double)> pulse_of(const nb::object& progress) {
    return [&progress](double done) {
        const nb::gil_scoped_acquire lock;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!progress.is_none()) progress(done);
    };
}

} // namespace tw

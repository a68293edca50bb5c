// Conversion between numpy arrays and the core's columns and trees. Numbers of a table are read where they lie.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "base/flat_tree.hpp"
#include "base/table.hpp"
#include "grow/class_costs.hpp"
#include "grow/grown_node.hpp"

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
Numbers numbers_at(const Value* first, int64_t stride) {
    if (reinterpret_cast<uintptr_t>(first) % alignof(Value) != 0) {
        throw std::invalid_argument("a column is not aligned; give a copy of it");
    }
    return Numbers(first, static_cast<std::ptrdiff_t>(stride) * static_cast<std::ptrdiff_t>(sizeof(Value)));
}

// Numbers of either precision. Returns how many there are.
int64_t read_numbers(nb::handle array, Numbers& numbers);

// A matrix of numbers stands for its columns.
template <class Value>
bool read_matrix(nb::handle array, int64_t rows, std::vector<Column>& columns) {
    nb::ndarray<const Value, nb::ndim<2>, nb::device::cpu> matrix;
    if (!nb::try_cast(array, matrix, false)) return false;
    if (static_cast<int64_t>(matrix.shape(0)) != rows) throw std::invalid_argument("the matrix has another length");
    for (size_t i = 0; i < matrix.shape(1); ++i) {
        Column column;
        column.numbers = numbers_at(matrix.data() + static_cast<int64_t>(i) * matrix.stride(1), matrix.stride(0));
        columns.push_back(column);
    }
    return true;
}

// `columns`: one array each, or a matrix of numbers. `levels` is empty where it is not used.
std::vector<Column> read_columns(const nb::object& columns, const std::vector<int>& kinds,
                                 const std::vector<int>& levels, int64_t rows);

// Rows with their target, and their weight where they have one.
struct LabelledRows {
    Table table;
    Target target;
};
LabelledRows read_rows(const nb::object& columns, const std::vector<int>& kinds, const std::vector<int>& levels,
                       const nb::object& target, int n_classes, const std::optional<Doubles>& weight);

std::vector<double> read_costs(const std::optional<Table2>& cost);

Costs read_costs(const std::optional<Doubles>& factor, const std::optional<Table2>& cost);

// An array that owns its numbers; if `Kept` is const, one that cannot be written to. `width` 0: no second dimension.
template <class Kept, class Values>
nb::object owning(Values values, size_t width) {
    auto* owned = new Values(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Values*>(p); });
    const size_t shape[2] = {owned->size() / std::max<size_t>(width, 1), width};
    return nb::cast(nb::ndarray<nb::numpy, Kept>(owned->data(), width > 0 ? 2 : 1, shape, owner));
}

template <class Value>
nb::object array(std::vector<Value> values, size_t width = 0) {
    return owning<Value>(std::move(values), width);
}

template <class Value, class Allocator>
nb::object frozen(std::vector<Value, Allocator> values, size_t width = 0) {
    return owning<const Value>(std::move(values), width);
}

// A matrix; or, where zeros are left out, (width, start, column, value), as treewright.data.sparse_rows reads it.
nb::object to_python(const NodeTable& table);

nb::dict to_dict(FlatTree flat);

template <class Value>
std::vector<Value> copied(nb::handle array) {
    const auto view = nb::cast<nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(array);
    return {view.data(), view.data() + view.shape(0)};
}

FlatTree from_dict(const nb::dict& arrays);

// The result of a long call, during which other Python threads run.
template <class Act>
auto without_gil(const Act& act) {
    const nb::gil_scoped_release unlocked;
    return act();
}

// What a long call does now and then: notices Ctrl-C and reports progress.
std::function<void(double)> progress_callback(const nb::object& progress);

} // namespace tw

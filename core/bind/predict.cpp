// Rows of a finished tree, for Python: predictions, traces, SHAP values, two trees compared, draws.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <vector>

#include "base/hash.hpp"
#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "predict/overlap.hpp"
#include "predict/predictor.hpp"
#include "predict/shap.hpp"

using namespace nanobind::literals;

namespace tw {
namespace {

// Per node: the child (or fractional or stop_here), what the row goes by, how much of it comes there. The guide is 0
// for the value, 1 and up for that surrogate, -1 for a missing value and -2 for a level that no child holds.
nb::tuple trace_arrays(Trace trace) {
    const size_t nodes = trace.weight.size();
    std::vector<int32_t> child(nodes), routed_by(nodes);
    for (size_t i = 0; i < nodes; ++i) {
        const Routing& routing = trace.routing[i];
        child[i] = routing.child;
        routed_by[i] = routing.routed_by == RoutedBy::surrogate ? routing.surrogate + 1
                       : routing.routed_by == RoutedBy::missing ? -1
                       : routing.routed_by == RoutedBy::unseen  ? -2
                                                                : 0;
    }
    return nb::make_tuple(array(std::move(child)), array(std::move(routed_by)), array(std::move(trace.weight)));
}

// What each column adds to the predictions of each row, by tree SHAP.
class PyTreeShap {
public:
    PyTreeShap(const nb::dict& arrays, uint64_t seed) : shap_(from_dict(arrays), seed) {}

    nb::object base() const { return array(shap_.base()); }
    nb::object values(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, int n_threads) const {
        const std::vector<Column> table = read_columns(columns, kinds, {}, rows);
        const size_t width = table.size() * shap_.base().size();
        std::vector<double> out(static_cast<size_t>(rows) * width);
        {
            const nb::object none = nb::none();
            const auto on_progress = progress_callback(none);
            const nb::gil_scoped_release unlocked;
            ThreadPool pool(n_threads, on_progress);
            shap_.shap_values(table, rows, pool, out.data());
        }
        return array(std::move(out), width);
    }

private:
    TreeShap shap_;
};

template <class Value>
using Matrix = nb::ndarray<const Value, nb::ndim<2>, nb::device::cpu>;
template <class Value>
using Writable = nb::ndarray<Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
constexpr int64_t worth_a_thread = 2048; // fewer rows are predicted before a thread has started

class PyPredictor {
public:
    PyPredictor(const nb::dict& arrays, uint64_t seed) : predictor_(from_dict(arrays), seed) {}

    // Each gives one prediction (or row of outputs) per row, and whether the table holds an infinite number.
    nb::object predict(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, int n_threads) const {
        const auto act = [&](const std::vector<Column>& table, ThreadPool& pool, double* out) {
            return predictor_.predict(table, rows, pool, out);
        };
        return run<double>(act, predictor_.outputs(), columns, kinds, rows, n_threads);
    }
    nb::object classify(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, int n_threads) const {
        const auto act = [&](const std::vector<Column>& table, ThreadPool& pool, int32_t* out) {
            return predictor_.classify(table, rows, pool, out);
        };
        return run<int32_t>(act, 0, columns, kinds, rows, n_threads);
    }
    nb::object apply(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, int n_threads,
                     bool complete) const {
        const auto act = [&](const std::vector<Column>& table, ThreadPool& pool, int32_t* out) {
            return predictor_.apply(table, rows, pool, out, complete);
        };
        return run<int32_t>(act, 0, columns, kinds, rows, n_threads);
    }
    // A matrix of numbers whose results go into `out`: how rows come one at a time, where every microsecond counts.
    // Returns whether a number is infinite.
    template <class Value>
    bool classify_matrix(const Matrix<Value>& matrix, const Writable<int64_t>& out, int n_threads) const {
        return run_matrix(&Predictor::classify<int64_t>, matrix, out.data(), out.size(), n_threads);
    }
    template <class Value>
    bool predict_matrix(const Matrix<Value>& matrix, const Writable<double>& out, int n_threads) const {
        return run_matrix(&Predictor::predict, matrix, out.data(), out.size(), n_threads);
    }
    nb::tuple trace(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, int64_t row) const {
        return trace_arrays(predictor_.trace(read_columns(columns, kinds, {}, rows), row));
    }

private:
    template <class Value>
    using Call = bool (Predictor::*)(const std::vector<Column>&, int64_t, ThreadPool&, Value*) const;

    template <class Value, class Out>
    bool run_matrix(Call<Out> call, const Matrix<Value>& matrix, Out* out, size_t size, int n_threads) const {
        const int64_t rows = static_cast<int64_t>(matrix.shape(0));
        if (static_cast<int64_t>(size) != rows) throw std::invalid_argument("out has another length");
        std::vector<Column> columns(matrix.shape(1));
        for (size_t i = 0; i < columns.size(); ++i) {
            columns[i].numbers =
                numbers_at(matrix.data() + static_cast<int64_t>(i) * matrix.stride(1), matrix.stride(0));
        }
        const nb::gil_scoped_release unlocked;
        ThreadPool pool(rows < worth_a_thread ? 1 : n_threads);
        return (predictor_.*call)(columns, rows, pool, out);
    }

    // `width` values per row; 0: one, and no second dimension.
    template <class Value, class Act>
    nb::object run(const Act& act, int width, const nb::object& columns, const std::vector<int>& kinds, int64_t rows,
                   int n_threads) const {
        const std::vector<Column> table = read_columns(columns, kinds, {}, rows);
        std::vector<Value> out(static_cast<size_t>(rows) * std::max(width, 1));
        const bool infinite = without_gil([&] {
            ThreadPool pool(n_threads);
            return act(table, pool, out.data());
        });
        return nb::make_tuple(array(std::move(out), width), infinite);
    }

    Predictor predictor_;
};

// How alike two trees are on the same rows: `closest` and `jaccard` of the nodes looked up, and the adjusted Rand
// index.
nb::tuple overlap(const Ints& first_leaf, const Ints& first_parent, const Ints& second_leaf, const Ints& second_parent,
                  const Ints& nodes, const std::optional<bool>& in_table) {
    const auto span_of = [](const Ints& ints) { return std::span<const int32_t>(ints.data(), ints.size()); };
    const EndsInTree first{span_of(first_leaf), span_of(first_parent)};
    const EndsInTree second{span_of(second_leaf), span_of(second_parent)};
    Overlap found = without_gil([&] {
        if (!in_table) return overlap_of(first, second, span_of(nodes));
        return (*in_table ? overlap_in_table : overlap_in_lists)(first, second, span_of(nodes));
    });
    return nb::make_tuple(array(std::move(found.closest)), array(std::move(found.jaccard)), found.rand);
}

// Per row a number drawn by its values and the seed alone.
nb::object row_draws(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, uint64_t seed) {
    const std::vector<Column> table = read_columns(columns, kinds, {}, rows);
    std::vector<uint64_t> draws(rows);
    for (int64_t row = 0; row < rows; ++row) draws[row] = mix(seed, hash_row(table, row));
    return array(std::move(draws));
}

} // namespace

void bind_predict(nb::module_& m) {
    nb::class_<PyPredictor>(m, "Predictor")
        .def(nb::init<const nb::dict&, uint64_t>(), "arrays"_a, "seed"_a)
        .def("predict", &PyPredictor::predict, "columns"_a, "kinds"_a, "n_rows"_a, "n_threads"_a)
        .def("classify", &PyPredictor::classify, "columns"_a, "kinds"_a, "n_rows"_a, "n_threads"_a)
        .def("apply", &PyPredictor::apply, "columns"_a, "kinds"_a, "n_rows"_a, "n_threads"_a, "complete"_a = false)
        .def("classify_matrix", &PyPredictor::classify_matrix<float>, "matrix"_a.noconvert(), "out"_a.noconvert(),
             "n_threads"_a)
        .def("classify_matrix", &PyPredictor::classify_matrix<double>, "matrix"_a.noconvert(), "out"_a.noconvert(),
             "n_threads"_a)
        .def("predict_matrix", &PyPredictor::predict_matrix<float>, "matrix"_a.noconvert(), "out"_a.noconvert(),
             "n_threads"_a)
        .def("predict_matrix", &PyPredictor::predict_matrix<double>, "matrix"_a.noconvert(), "out"_a.noconvert(),
             "n_threads"_a)
        .def("trace", &PyPredictor::trace, "columns"_a, "kinds"_a, "n_rows"_a, "row"_a);
    nb::class_<PyTreeShap>(m, "TreeShap")
        .def(nb::init<const nb::dict&, uint64_t>(), "arrays"_a, "seed"_a)
        .def("base", &PyTreeShap::base)
        .def("values", &PyTreeShap::values, "columns"_a, "kinds"_a, "n_rows"_a, "n_threads"_a);
    m.def("overlap", &overlap, "first_leaf"_a, "first_parent"_a, "second_leaf"_a, "second_parent"_a, "nodes"_a,
          "in_table"_a.none() = nb::none());
    m.def("row_draws", &row_draws, "columns"_a, "kinds"_a, "n_rows"_a, "seed"_a);
}

} // namespace tw

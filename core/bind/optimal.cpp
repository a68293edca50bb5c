// The search for the best small tree, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/thread_pool.hpp"
#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "optimal/problem.hpp"
#include "optimal/subset.hpp"

using namespace nanobind::literals;

namespace tw {
namespace {

// Nodes in depth-first order; a leaf has column -1 and no children.
struct FlatCuts {
    std::vector<int32_t> column, cut, low, high;

    int32_t add(const CutTree& tree) {
        const auto node = static_cast<int32_t>(column.size());
        column.push_back(tree.column);
        cut.push_back(tree.cut);
        low.push_back(-1);
        high.push_back(-1);
        if (tree.column >= 0) {
            const int32_t below = add(*tree.low);
            low[node] = below;
            const int32_t above = add(*tree.high);
            high[node] = above;
        }
        return node;
    }
};

void set_deadline(SearchControl& control, const std::optional<double>& seconds) {
    if (!seconds) return;
    const std::chrono::duration<double> left(*seconds);
    control.deadline =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(left);
}

// One array of codes per column; none at all if there is no time for all of them.
nb::list rank_columns(const std::vector<Doubles>& columns, int n_threads, const std::optional<double>& seconds) {
    SearchControl control;
    set_deadline(control, seconds);
    std::vector<std::vector<int32_t>> codes(columns.size());
    const nb::object unreported = nb::none();
    {
        const nb::gil_scoped_release unlocked;
        ThreadPool pool(n_threads, progress_callback(unreported));
        pool.run(static_cast<int64_t>(columns.size()), [&](int64_t i) {
            if (control.is_over()) return;
            const auto place = static_cast<size_t>(i);
            codes[place].resize(columns[place].shape(0));
            rank_values({columns[place].data(), columns[place].shape(0)}, codes[place].data());
        });
    }
    nb::list ranked;
    if (control.stop) return ranked;
    for (std::vector<int32_t>& each : codes) ranked.append(array(std::move(each)));
    return ranked;
}

Problem problem_of(const std::vector<Ints>& codes, const std::vector<int>& n_codes, const std::vector<int>& missing,
                   const std::optional<Ints>& label, const std::optional<Doubles>& target, int n_classes,
                   const std::optional<Doubles>& weight, const std::optional<Table2>& cost) {
    Problem problem;
    for (size_t i = 0; i < codes.size(); ++i) {
        const int32_t* first = codes[i].data();
        problem.columns.push_back({{first, first + codes[i].shape(0)}, n_codes[i], missing[i]});
    }
    problem.objective = label ? Objective::misclassification : Objective::squared_error;
    if (label) problem.label.assign(label->data(), label->data() + label->shape(0));
    if (target) problem.target.assign(target->data(), target->data() + target->shape(0));
    if (weight) problem.weight.assign(weight->data(), weight->data() + weight->shape(0));
    problem.n_classes = n_classes;
    problem.cost = read_costs(cost);
    return problem;
}

const char* name_of(Ended ended) {
    switch (ended) {
        case Ended::proven:
            return "proven";
        case Ended::time_limit:
            return "time limit";
        case Ended::memory_limit:
            return "memory limit";
        case Ended::interrupted:
            return "interrupted";
    }
    throw std::logic_error("unknown end of a search");
}

nb::dict find_optimal(const std::vector<Ints>& codes, const std::vector<int>& n_codes, const std::vector<int>& missing,
                      const std::optional<Ints>& label, const std::optional<Doubles>& target, int n_classes,
                      const std::optional<Doubles>& weight, const std::optional<Table2>& cost, int max_depth,
                      const std::optional<int64_t>& max_leaves, int64_t min_samples_leaf, bool missing_to_majority,
                      double leaf_penalty, const std::vector<bool>& is_root, int n_threads,
                      const std::optional<double>& seconds, int64_t max_bytes, const nb::object& progress) {
    SearchControl control;
    set_deadline(control, seconds);
    control.max_bytes = max_bytes;
    Problem problem = problem_of(codes, n_codes, missing, label, target, n_classes, weight, cost);
    problem.max_depth = max_depth;
    problem.max_leaves = max_leaves.value_or(no_leaf_limit);
    problem.min_samples_leaf = min_samples_leaf;
    problem.missing_to_majority = missing_to_majority;
    problem.leaf_penalty = leaf_penalty;
    problem.is_root = is_root;
    if (!progress.is_none()) {
        control.on_progress = [&](double lower, double upper) {
            const nb::gil_scoped_acquire locked;
            progress(lower, upper);
        };
    }
    const OptimalTree found = without_gil([&] {
        // Ctrl-C ends the search, and the best tree so far is the result.
        ThreadPool pool(n_threads, [&](double) {
            const nb::gil_scoped_acquire locked;
            if (PyErr_CheckSignals() == 0) return;
            PyErr_Clear();
            control.end(Ended::interrupted);
        });
        return find_optimal_tree(problem, control, pool);
    });
    FlatCuts flat;
    flat.add(*found.tree);
    nb::dict result;
    result["column"] = array(std::move(flat.column));
    result["cut"] = array(std::move(flat.cut));
    result["low"] = array(std::move(flat.low));
    result["high"] = array(std::move(flat.high));
    result["loss"] = found.loss;
    result["lower"] = found.lower;
    result["subproblems"] = found.solved;
    result["ended"] = name_of(control.ended);
    return result;
}

} // namespace

void bind_optimal(nb::module_& m) {
    m.def("rank_columns", &rank_columns, "columns"_a, "n_threads"_a, "seconds"_a.none());
    m.def("find_optimal", &find_optimal, "codes"_a, "n_codes"_a, "missing"_a, "label"_a.none(), "target"_a.none(),
          "n_classes"_a, "weight"_a.none(), "cost"_a.none(), "max_depth"_a, "max_leaves"_a.none(), "min_samples_leaf"_a,
          "missing_to_majority"_a, "leaf_penalty"_a, "is_root"_a, "n_threads"_a, "seconds"_a.none(), "max_bytes"_a,
          "progress"_a.none());
}

} // namespace tw

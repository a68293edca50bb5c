// Tables in partitions, for Python: a worker's reply, replies merged, a tree grown by requests.
//
// The interpreter lock is released while the core works.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>

#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "bind/recipe.hpp"
#include "grow/grow.hpp"
#include "remote/remote_rows.hpp"
#include "remote/worker.hpp"

using namespace nanobind::literals;

namespace tw {
namespace {

// Arrays as they lie in a dictionary; those that are not there are empty.
template <class Arrays>
Arrays from_arrays(const nb::dict& from) {
    Arrays arrays;
    Arrays::each(arrays, [&](const char* name, auto& array) {
        using Value = typename std::remove_reference_t<decltype(array)>::value_type;
        if (!from.contains(name)) return;
        const auto view = nb::cast<nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(from[name]);
        array = {view.data(), view.shape(0)};
    });
    return arrays;
}

// The same arrays as numpy's, which own or share their values.
template <class Arrays>
nb::object to_arrays(const std::optional<Arrays>& arrays, const nb::dict& before) {
    if (!arrays) return nb::none();
    nb::dict out;
    Arrays::each(*arrays, [&](const char* name, const auto& array) {
        using Value = typename std::remove_cvref_t<decltype(array)>::value_type;
        if (array.empty()) return;
        if (before.contains(name)) {
            const auto old = nb::cast<nb::ndarray<const Value, nb::ndim<1>, nb::device::cpu>>(before[name]);
            if (old.data() == array.data()) {
                out[name] = before[name];
                return;
            }
        }
        auto* shared = new SharedArray<Value>(array);
        const nb::capsule owner(shared, [](void* p) noexcept { delete static_cast<SharedArray<Value>*>(p); });
        const size_t shape[1] = {array.size()};
        out[name] = nb::cast(nb::ndarray<nb::numpy, const Value>(array.data(), 1, shape, owner));
    });
    return out;
}

nb::bytes as_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }
std::string_view view_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

nb::bytes merge_replies(const nb::bytes& first, const nb::bytes& second) {
    const std::string_view one = view_of(first), other = view_of(second);
    return as_bytes(without_gil([&] {
        Reply reply = deserialize<Reply>(one);
        reply.merge(deserialize<Reply>(other));
        return serialized(reply);
    }));
}

// Requests go through Python from any thread; what Python raises is raised here unchanged.
SendRequest send_through(const nb::object& function) {
    return [&function](const std::string& request) {
        const nb::gil_scoped_acquire lock;
        const nb::object reply = function(as_bytes(request));
        return std::string(view_of(nb::cast<nb::bytes>(reply)));
    };
}

nb::tuple handle_request_of(const nb::object& columns, const std::vector<int>& kinds, const std::vector<int>& levels,
                            const nb::object& target, int n_classes, const std::optional<Doubles>& weight,
                            const nb::dict& written_recipe, const nb::dict& prepared, const nb::dict& assignment,
                            const nb::bytes& request) {
    const Recipe recipe = read_recipe(written_recipe, n_classes > 0);
    const LabelledRows rows = read_rows(columns, kinds, levels, target, n_classes, weight);
    const auto prepared_arrays = from_arrays<PreparedPartition>(prepared);
    const auto assignment_arrays = from_arrays<RowAssignment>(assignment);
    const std::string_view message = view_of(request);
    std::string reply;
    const WorkerResult result = without_gil([&] {
        WorkerResult made = handle_request(rows.table, rows.target, recipe, prepared_arrays, assignment_arrays,
                                           deserialize<Request>(message));
        reply = serialized(made.reply);
        return made;
    });
    return nb::make_tuple(to_arrays(result.prepared, prepared), to_arrays(result.assignment, assignment),
                          as_bytes(reply));
}

nb::dict grow_remote_tree(const std::vector<int>& kinds, const std::vector<int>& levels, int64_t rows, int n_classes,
                          bool weighted, const nb::dict& written_recipe, const nb::object& send_request,
                          int64_t max_detached_rows, int64_t max_rows_at_once, int64_t memory, int n_threads,
                          const nb::object& custom, const std::optional<Doubles>& factor,
                          const std::optional<Table2>& cost, const nb::object& progress) {
    const Recipe recipe = read_recipe(written_recipe, n_classes > 0);
    const CustomScore score = python_criterion(custom);
    const Costs costs = read_costs(factor, cost);
    RemoteTable remote;
    for (size_t i = 0; i < kinds.size(); ++i) {
        Column column;
        column.kind = static_cast<Kind>(kinds[i]);
        column.levels = levels[i];
        remote.shape.columns.push_back(column);
    }
    return to_dict(without_gil([&] {
        ThreadPool pool(score ? 1 : n_threads, progress_callback(progress));
        const std::unique_ptr<RowStore> parts = remote_rows(
            remote, recipe, {rows, weighted, n_classes, max_detached_rows, max_rows_at_once, memory, pool.threads()},
            send_through(send_request));
        const Task task{recipe, remote.measure, score, parts->total(0).all.rows[0]};
        const std::vector<GrownNode> nodes = grow(*parts, task, pool, costs);
        return flatten(nodes, DepthFirst(nodes));
    }));
}

} // namespace

void bind_remote(nb::module_& m) {
    m.def("handle_request", &handle_request_of, "columns"_a, "kinds"_a, "levels"_a, "target"_a, "n_classes"_a,
          "weight"_a.none(), "recipe"_a, "prepared"_a, "assignment"_a, "request"_a);
    nb::exception<TooManyValues>(m, "TooManyValues");
    m.def("merge_replies", &merge_replies, "first"_a, "second"_a);
    m.def("grow_remote", &grow_remote_tree, "kinds"_a, "levels"_a, "n_rows"_a, "n_classes"_a, "weighted"_a, "recipe"_a,
          "send_request"_a, "max_detached_rows"_a, "max_rows_at_once"_a, "memory"_a, "n_threads"_a, "custom"_a.none(),
          "factor"_a.none() = nb::none(), "cost"_a.none() = nb::none(), "progress"_a.none() = nb::none());
}

} // namespace tw

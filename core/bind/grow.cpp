// Growing a tree from rows in memory, for Python.
#include "grow/grow.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "base/value_checks.hpp"
#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "bind/recipe.hpp"
#include "binning/binned_table.hpp"
#include "binning/level_codes.hpp"
#include "rows/exhaustive_rows.hpp"
#include "rows/histogram_rows.hpp"
#include "threshold/plan.hpp"

using namespace nanobind::literals;

namespace tw {
namespace {

// A table coded once, for all trees that are grown on its rows.
class PyBinnedTable {
public:
    PyBinnedTable(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, int n_threads) {
        Table table;
        table.rows = rows;
        table.columns = read_columns(columns, kinds, {}, rows);
        const nb::gil_scoped_release unlocked;
        ThreadPool pool(n_threads);
        table_ = std::make_shared<const BinnedTable>(table, pool);
    }
    const std::shared_ptr<const BinnedTable>& table() const { return table_; }

private:
    std::shared_ptr<const BinnedTable> table_;
};

// A thread takes longer to start than a small tree to grow.
bool is_small(const Table& table) {
    constexpr int64_t worth_a_thread = 1 << 16;
    return table.rows * static_cast<int64_t>(table.columns.size()) < worth_a_thread;
}

// Seconds of all threads together, and rows.
void write_profile(const Profile& kept, const nb::object& profile) {
    const auto seconds = [](const std::atomic<int64_t>& part) { return static_cast<double>(part.load()) * 1e-9; };
    profile["binning"] = seconds(kept.binning);
    profile["histograms"] = seconds(kept.histograms);
    profile["edge_scan"] = seconds(kept.edge_scan);
    profile["refining"] = seconds(kept.refining);
    profile["partitioning"] = seconds(kept.partitioning);
    profile["sorting"] = seconds(kept.sorting);
    profile["sorted_scan"] = seconds(kept.sorted_scan);
    profile["unshared"] = seconds(kept.unshared);
    profile["counted_rows"] = kept.counted_rows.load();
    profile["refined_rows"] = kept.refined_rows.load();
}

// The way from the root to a node of a tree.
std::vector<GivenStep> path_to(const FlatTree& flat, int node) {
    std::vector<GivenStep> path;
    for (int parent = flat.parent.at(static_cast<size_t>(node)); parent >= 0; parent = flat.parent[parent]) {
        GivenStep step{split_at(flat, flat.split_start[parent]), {}, 0};
        for (int i = 1; i <= flat.n_surrogates[parent]; ++i) {
            step.surrogates.push_back(split_at(flat, flat.split_start[parent] + i));
        }
        while (flat.children[flat.child_start[parent] + step.child] != node) ++step.child;
        path.insert(path.begin(), std::move(step));
        node = parent;
    }
    return path;
}

GivenSplit read_split(const nb::dict& written) {
    GivenSplit given;
    given.split.column = nb::cast<int>(written["column"]);
    given.split.closed = nb::cast<bool>(written["closed"]);
    given.split.breaks = nb::cast<std::vector<double>>(written["breaks"]);
    given.split.child_of_bin = nb::cast<std::vector<int32_t>>(written["child_of_bin"]);
    given.split.share.resize(nb::cast<size_t>(written["children"]));
    given.missing = nb::cast<std::optional<int>>(written["missing"]);
    return given;
}

// `given`: {"arrays": of a tree, "node": one of its nodes, "split": as above or None, "allowed": per column}, or None.
std::optional<Given> read_given(const nb::object& written, std::vector<Column>& columns) {
    if (written.is_none()) return std::nullopt;
    const auto parts = nb::cast<nb::dict>(written);
    Given given{path_to(from_dict(nb::cast<nb::dict>(parts["arrays"])), nb::cast<int>(parts["node"])), {}};
    if (!parts["split"].is_none()) given.split = read_split(nb::cast<nb::dict>(parts["split"]));
    const auto allowed = nb::cast<std::vector<bool>>(parts["allowed"]);
    for (size_t i = 0; i < columns.size(); ++i) columns[i].allowed = allowed.at(i);
    return given;
}

// Python hears of signals in its main thread only: elsewhere, without progress, a pulse would read the clock for
// nothing.
std::function<void(double)> pulse_of(const nb::object& progress) {
    const nb::object main = nb::module_::import_("threading").attr("main_thread")();
    const bool is_main = nb::cast<unsigned long>(main.attr("ident")) == PyThread_get_thread_ident();
    return is_main || !progress.is_none() ? progress_callback(progress) : nullptr;
}

nb::dict grow_tree(const nb::object& columns, const std::vector<int>& kinds, const std::vector<int>& levels,
                   const nb::object& target, int n_classes, const std::optional<Doubles>& weight,
                   const nb::dict& written, int n_threads, const nb::object& custom, bool exhaustive,
                   const std::optional<Doubles>& factor, const std::optional<Table2>& cost, const PyBinnedTable* binned,
                   const nb::object& progress, const nb::object& profile, const std::optional<Ints>& repeats,
                   const std::optional<Ints>& followers, const std::optional<std::tuple<Ints, Ints, Ints>>& kept_nodes,
                   const nb::object& given, bool has_missing, bool splits, bool bare) {
    const Recipe recipe = read_recipe(written, n_classes > 0);
    auto [table, targets] = read_rows(columns, kinds, levels, target, n_classes, weight);
    if (repeats) targets.repeats = repeats->data();
    const std::optional<Given> prescribed = read_given(given, table.columns);
    const CustomScore score = python_criterion(custom);
    const Costs costs = read_costs(factor, cost);
    GrowOptions options;
    options.bare = bare;
    options.given = prescribed ? &*prescribed : nullptr;
    options.keeps_splits = splits;
    if (followers) options.followers.emplace(followers->data(), followers->size());
    if (kept_nodes) {
        const auto span_of = [](const Ints& ints) { return std::span<const int32_t>(ints.data(), ints.size()); };
        const auto& [child_start, children, stop] = *kept_nodes;
        options.kept = {span_of(child_start), span_of(children), span_of(stop)};
    }
    FlatTree flat;
    int against = 0; // of the split that was given, the only one that has it
    std::vector<int32_t> followed_to;
    Profile kept;
    const std::function<void(double)> pulse = pulse_of(progress);
    {
        const nb::gil_scoped_release unlocked;
        ThreadPool pool(score || is_small(table) ? 1 : n_threads, pulse);
        if (!profile.is_none()) pool.begin_account();
        // Rows go to several children where they lack a value.
        const auto spreads = [](const GivenStep& step) { return step.split.missing == fractional; };
        const bool may_spread = recipe.missing == Missing::fractional ||
                                (prescribed && std::any_of(prescribed->path.begin(), prescribed->path.end(), spreads));
        const bool is_fractional = may_spread && (n_classes == 0 || has_missing);
        const Measure measure_rows =
            measure_target(targets, table.rows, is_fractional, traits_of(recipe.criterion).statistic);
        pool.check_interrupt();
        std::unique_ptr<RowStore> rows;
        if (!exhaustive) {
            rows = histogram_rows(table, recipe, measure_rows, binned ? binned->table() : nullptr,
                                  profile.is_none() ? nullptr : &kept, pool);
        }
        if (!rows) rows = std::make_unique<ExhaustiveRows>(table, recipe, measure_rows, pool);
        const Task task{recipe, measure_rows, score, rows->total(0).all.rows[0]};
        std::vector<GrownNode> nodes = grow(*rows, task, pool, costs, options);
        for (const GrownNode& node : nodes) against = std::max(against, static_cast<int>(node.against));
        const DepthFirst depth_first(nodes);
        flat = flatten(nodes, depth_first, splits);
        if (followers) followed_to = follower_nodes(nodes, depth_first, followers->size());
        forget(std::move(nodes), pool);
        if (!profile.is_none()) kept.unshared = pool.unshared_time();
    }
    if (!profile.is_none()) write_profile(kept, profile);
    nb::dict out = to_dict(std::move(flat));
    if (followers) out["follower_node"] = array(std::move(followed_to));
    if (prescribed) out["against"] = against;
    return out;
}

// Whether anything is missing, and the column and row of the first infinite number (None: there is none).
nb::tuple check_values_of(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, int n_threads,
                          const std::optional<Doubles>& weight) {
    Table table;
    table.rows = rows;
    table.columns = read_columns(columns, kinds, {}, rows);
    const ValueChecks found = without_gil([&] {
        ThreadPool pool(is_small(table) ? 1 : n_threads);
        return check_values(table, weight ? weight->data() : nullptr, pool);
    });
    if (!found.infinite) return nb::make_tuple(found.missing, nb::none());
    return nb::make_tuple(found.missing, nb::make_tuple(found.infinite->first, found.infinite->second));
}

// Of each column of numbers its codes and levels, or None where they are better sorted.
nb::list count_levels_of(const std::vector<nb::object>& columns, int64_t rows) {
    std::vector<Numbers> numbers(columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
        if (read_numbers(columns[i], numbers[i]) != rows) throw std::invalid_argument("a column has another length");
    }
    std::vector<std::optional<LevelCodes>> found = without_gil([&] { return count_levels(numbers, rows); });
    nb::list out;
    for (std::optional<LevelCodes>& column : found) {
        if (column) {
            out.append(nb::make_tuple(owning<int32_t>(std::move(column->code), 0), array(std::move(column->level))));
        } else {
            out.append(nb::none());
        }
    }
    return out;
}

// Which column is searched how, as text, for debugging.
std::string search_plan_of(const std::vector<int>& kinds, int n_classes, bool weighted, const nb::dict& written,
                           const std::vector<bool>& has_missing, bool remote) {
    std::vector<Column> columns(kinds.size());
    for (size_t i = 0; i < kinds.size(); ++i) columns[i].kind = static_cast<Kind>(kinds[i]);
    Measure measure;
    measure.n_classes = n_classes;
    measure.unit_weights = !weighted;
    return to_text(plan_search(read_recipe(written, n_classes > 0), columns, measure, has_missing,
                               remote ? RowPlace::remote : RowPlace::memory));
}

} // namespace

void bind_grow(nb::module_& m) {
    nb::class_<PyBinnedTable>(m, "BinnedTable")
        .def(nb::init<const nb::object&, const std::vector<int>&, int64_t, int>(), "columns"_a, "kinds"_a, "n_rows"_a,
             "n_threads"_a);
    m.def("grow", &grow_tree, "columns"_a, "kinds"_a, "levels"_a, "target"_a, "n_classes"_a, "weight"_a.none(),
          "recipe"_a, "n_threads"_a, "custom"_a.none(), "exhaustive"_a = false, "factor"_a.none() = nb::none(),
          "cost"_a.none() = nb::none(), "binned"_a.none() = nb::none(), "progress"_a.none() = nb::none(),
          "profile"_a.none() = nb::none(), "repeats"_a.none() = nb::none(), "followers"_a.none() = nb::none(),
          "kept"_a.none() = nb::none(), "given"_a.none() = nb::none(), "has_missing"_a = true, "splits"_a = true,
          "bare"_a = false);
    m.def("threads_worth", &threads_worth, "wanted"_a);
    m.def("search_plan", &search_plan_of, "kinds"_a, "n_classes"_a, "weighted"_a, "recipe"_a,
          "has_missing"_a = std::vector<bool>(), "remote"_a = false);
    m.def("count_levels", &count_levels_of, "columns"_a, "n_rows"_a);
    m.def("check_values", &check_values_of, "columns"_a, "kinds"_a, "n_rows"_a, "n_threads"_a,
          "weight"_a.none() = nb::none());
}

} // namespace tw

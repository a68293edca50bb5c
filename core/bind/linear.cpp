// Least squares for the models of leaves, for Python: sums over rows, and models from the sums.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "linear/least_squares.hpp"
#include "linear/node_moments.hpp"
#include "linear/pilot.hpp"
#include "linear/row_sums.hpp"

using namespace nanobind::literals;

namespace tw {
namespace {

using Longs = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Limbs = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Regressors = std::vector<std::pair<int, std::vector<int>>>; // column, and per level whether it is a member

constexpr size_t limbs = 4; // of 32 bits each, so that sums of partitions are added limb by limb

nb::object limbs_of(const std::vector<Sum>& sums) {
    std::vector<int64_t> out(sums.size() * limbs);
    for (size_t i = 0; i < sums.size(); ++i) {
        for (size_t limb = 0; limb + 1 < limbs; ++limb) {
            out[i * limbs + limb] = static_cast<int64_t>(static_cast<uint32_t>(sums[i] >> (32 * limb)));
        }
        out[i * limbs + limbs - 1] = static_cast<int64_t>(sums[i] >> 96);
    }
    return array(std::move(out), limbs);
}

std::vector<Sum> sums_of(const Limbs& written) {
    std::vector<Sum> sums(written.shape(0));
    for (size_t i = 0; i < sums.size(); ++i) {
        for (size_t limb = limbs; limb-- > 0;) sums[i] = sums[i] * (Sum{1} << 32) + written(i, limb);
    }
    return sums;
}

std::span<const int32_t> span_of(const Ints& ints) { return {ints.data(), ints.size()}; }
std::vector<double> copy_of(const Doubles& doubles) { return {doubles.data(), doubles.data() + doubles.size()}; }

// The rows of a partition, and which of them end at which node.
class PyLinearRows {
public:
    PyLinearRows(const nb::object& columns, const std::vector<int>& kinds, const Doubles& target,
                 const Regressors& regressors, const Ints& slot_start, const Ints& slot_regressor, const Longs& row,
                 const Longs& node, const std::optional<Doubles>& weight)
        : kept_(nb::make_tuple(columns, target, slot_start, slot_regressor, row, node, weight)),
          columns_(read_columns(columns, kinds, {}, static_cast<int64_t>(target.size()))),
          target_(target.data()),
          slots_{span_of(slot_start), span_of(slot_regressor)},
          ends_{row.data(), node.data(), weight ? weight->data() : nullptr, static_cast<int64_t>(row.size())} {
        for (const auto& [column, member] : regressors) {
            regressors_.push_back({column, std::vector<char>(member.begin(), member.end())});
        }
    }

    nb::tuple ranges(int n_threads) const {
        SlotRanges found;
        {
            const nb::gil_scoped_release unlocked;
            ThreadPool pool(n_threads);
            found = slot_ranges(rows(), pool);
        }
        return nb::make_tuple(array(std::move(found.low)), array(std::move(found.high)),
                              array(std::move(found.max_weight)));
    }
    nb::tuple means(const Doubles& low, const Doubles& high, const Doubles& max_weight, int n_threads) const {
        const SlotRanges ranges{copy_of(low), copy_of(high), copy_of(max_weight)};
        SlotMeans found;
        {
            const nb::gil_scoped_release unlocked;
            ThreadPool pool(n_threads);
            found = slot_means(rows(), ranges, pool);
        }
        return nb::make_tuple(limbs_of(found.sum), limbs_of(found.known_weight));
    }
    nb::tuple products(const Doubles& low, const Doubles& high, const Doubles& max_weight, const Doubles& mean,
                       int n_threads) const {
        const SlotRanges ranges{copy_of(low), copy_of(high), copy_of(max_weight)};
        SlotProducts found;
        {
            const nb::gil_scoped_release unlocked;
            ThreadPool pool(n_threads);
            found = slot_products(rows(), ranges, {mean.data(), mean.size()}, pool);
        }
        return nb::make_tuple(limbs_of(found.product), limbs_of(found.sum), limbs_of(found.weight),
                              array(std::move(found.rows)));
    }

private:
    LinearRows rows() const { return {columns_, target_, regressors_, slots_, ends_}; }

    nb::tuple kept_; // keeps the arrays alive
    std::vector<Column> columns_;
    const double* target_;
    std::vector<Regressor> regressors_;
    NodeSlots slots_;
    RowEnds ends_;
};

// The mean of each slot from its sums; NaN where no value is known.
nb::object means_of(const Doubles& low, const Doubles& high, const Limbs& sum, const Limbs& known) {
    const std::vector<Sum> sums = sums_of(sum), weights = sums_of(known);
    std::vector<double> mean(sums.size());
    for (size_t i = 0; i < sums.size(); ++i) {
        const double from = low(i) / 2 + high(i) / 2;
        const int exponent = scale_exponent(std::max(std::abs(high(i) - from), std::abs(low(i) - from)));
        mean[i] = weights[i] > 0
                      ? from + (scaled_by(wide_of(sums[i]), unit_bits - exponent) / wide_of(weights[i])).value()
                      : std::numeric_limits<double>::quiet_NaN();
    }
    return array(std::move(mean));
}

ModelOptions options_of(const std::string& selection, int max_terms, int min_rows_per_term, double ridge,
                        double ridge_rows) {
    const std::map<std::string, Selection> names{
        {"none", Selection::none}, {"bic", Selection::bic}, {"aic", Selection::aic}, {"cp", Selection::cp}};
    return {names.at(selection), max_terms, min_rows_per_term, ridge, ridge_rows};
}

class PyNodeMoments {
public:
    PyNodeMoments(const Ints& parent, const Ints& slot_start, const Ints& slot_regressor, const Doubles& low,
                  const Doubles& high, const Doubles& max_weight, const Doubles& mean, const Limbs& product,
                  const Limbs& sum, const Limbs& weight, const Longs& rows, int n_threads)
        : start_(slot_start.data(), slot_start.data() + slot_start.size()),
          regressor_(slot_regressor.data(), slot_regressor.data() + slot_regressor.size()) {
        const SlotRanges ranges{copy_of(low), copy_of(high), copy_of(max_weight)};
        const SlotProducts sums{sums_of(product), sums_of(sum), sums_of(weight),
                                std::vector<int64_t>(rows.data(), rows.data() + rows.size())};
        const std::vector<double> means = copy_of(mean);
        const nb::gil_scoped_release unlocked;
        ThreadPool pool(n_threads);
        moments_ = node_moments(span_of(parent), {start_, regressor_}, ranges, means, sums, pool);
    }

    // Per node the chosen model, from the regressors it may use: (start, regressor, coefficient, mean
    // of the regressor, intercept, residual).
    nb::tuple choose(const Ints& wanted_start, const Ints& wanted, const std::string& selection, int max_terms,
                     int min_rows_per_term, double ridge, double ridge_rows, int n_threads) const {
        const ModelOptions options = options_of(selection, max_terms, min_rows_per_term, ridge, ridge_rows);
        std::vector<LinearModel> models(moments_.size());
        {
            const nb::gil_scoped_release unlocked;
            ThreadPool pool(n_threads);
            pool.run(static_cast<int64_t>(models.size()), [&](int64_t node) {
                const int first = wanted_start.data()[node], last = wanted_start.data()[node + 1];
                const std::vector<int> slots =
                    slots_of(node, {wanted.data() + first, static_cast<size_t>(last - first)});
                models[node] = chosen_model(moments_[node], slots, options);
            });
        }
        return models_to_python(models);
    }
    // The model of one node by these regressors: (regressor, coefficient, intercept, residual).
    nb::tuple model(int64_t node, const std::vector<int>& regressors, double ridge) const {
        ModelOptions options;
        options.ridge = ridge;
        const std::vector<int32_t> wanted(regressors.begin(), regressors.end());
        const LinearModel found = fit_model(moments_.at(node), slots_of(node, wanted), options);
        std::vector<int> used;
        for (const int slot : found.slot) used.push_back(regressor_[start_[node] + slot]);
        return nb::make_tuple(used, found.coefficient, found.intercept, found.residual);
    }
    // Per node the rows, and the range of the target.
    nb::tuple summary() const {
        std::vector<double> rows, low, high;
        for (const Moments& one : moments_) {
            rows.push_back(one.rows);
            low.push_back(one.target_low);
            high.push_back(one.target_high);
        }
        return nb::make_tuple(array(std::move(rows)), array(std::move(low)), array(std::move(high)));
    }

private:
    std::vector<int> slots_of(int64_t node, std::span<const int32_t> wanted) const {
        std::vector<int> slots;
        for (const int32_t regressor : wanted) {
            int slot = 0;
            while (regressor_.at(start_[node] + slot) != regressor) ++slot;
            slots.push_back(slot);
        }
        return slots;
    }
    nb::tuple models_to_python(const std::vector<LinearModel>& models) const {
        std::vector<int32_t> start{0}, regressor;
        std::vector<double> coefficient, mean, intercept, residual;
        for (size_t node = 0; node < models.size(); ++node) {
            const LinearModel& model = models[node];
            for (const int slot : model.slot) {
                regressor.push_back(regressor_[start_[node] + slot]);
                mean.push_back(moments_[node].mean[slot].value());
            }
            coefficient.insert(coefficient.end(), model.coefficient.begin(), model.coefficient.end());
            start.push_back(static_cast<int32_t>(regressor.size()));
            intercept.push_back(model.intercept);
            residual.push_back(model.residual);
        }
        return nb::make_tuple(array(std::move(start)), array(std::move(regressor)), array(std::move(coefficient)),
                              array(std::move(mean)), array(std::move(intercept)), array(std::move(residual)));
    }

    std::vector<int32_t> start_, regressor_;
    std::vector<Moments> moments_;
};

// The tree by linear pieces: per node its split (column -1: a leaf), its children and the mean of what its pieces
// leave; the pieces of node i are piece_start[i] to piece_start[i + 1].
nb::dict pilot_tree(const nb::object& columns, const std::vector<int>& kinds, const Doubles& target,
                    const std::optional<Doubles>& weight, int max_depth, int64_t min_samples_split,
                    int64_t min_samples_leaf, const std::vector<double>& parameters, int n_threads) {
    const auto rows = static_cast<int64_t>(target.size());
    const std::vector<Column> table = read_columns(columns, kinds, {}, rows);
    PilotOptions options;
    options.max_depth = max_depth;
    options.min_samples_split = min_samples_split;
    options.min_samples_leaf = min_samples_leaf;
    std::copy_n(parameters.begin(), pieces, options.parameters.begin());
    std::vector<PilotNode> nodes;
    {
        const nb::object none = nb::none();
        const auto on_progress = progress_callback(none);
        const nb::gil_scoped_release unlocked;
        ThreadPool pool(n_threads, on_progress);
        nodes = grow_pilot(table, target.data(), weight ? weight->data() : nullptr, rows, options, pool);
    }
    std::vector<int32_t> column, low, high, start{0}, piece_column;
    std::vector<double> threshold, rest, intercept, slope;
    for (const PilotNode& node : nodes) {
        column.push_back(node.column);
        threshold.push_back(node.threshold);
        low.push_back(node.low);
        high.push_back(node.high);
        rest.push_back(node.rest);
        for (const TakenPiece& piece : node.taken) {
            piece_column.push_back(piece.column);
            intercept.push_back(piece.intercept);
            slope.push_back(piece.slope);
        }
        start.push_back(static_cast<int32_t>(piece_column.size()));
    }
    nb::dict out;
    out["column"] = array(std::move(column));
    out["threshold"] = array(std::move(threshold));
    out["low"] = array(std::move(low));
    out["high"] = array(std::move(high));
    out["rest"] = array(std::move(rest));
    out["piece_start"] = array(std::move(start));
    out["piece_column"] = array(std::move(piece_column));
    out["intercept"] = array(std::move(intercept));
    out["slope"] = array(std::move(slope));
    return out;
}

} // namespace

void bind_linear(nb::module_& m) {
    nb::class_<PyLinearRows>(m, "LinearRows")
        .def(nb::init<const nb::object&, const std::vector<int>&, const Doubles&, const Regressors&, const Ints&,
                      const Ints&, const Longs&, const Longs&, const std::optional<Doubles>&>(),
             "columns"_a, "kinds"_a, "target"_a, "regressors"_a, "slot_start"_a, "slot_regressor"_a, "row"_a, "node"_a,
             "weight"_a.none())
        .def("ranges", &PyLinearRows::ranges, "n_threads"_a)
        .def("means", &PyLinearRows::means, "low"_a, "high"_a, "max_weight"_a, "n_threads"_a)
        .def("products", &PyLinearRows::products, "low"_a, "high"_a, "max_weight"_a, "mean"_a, "n_threads"_a);
    m.def("grow_pilot", &pilot_tree, "columns"_a, "kinds"_a, "target"_a, "weight"_a.none(), "max_depth"_a,
          "min_samples_split"_a, "min_samples_leaf"_a, "parameters"_a, "n_threads"_a);
    m.def("slot_means", &means_of, "low"_a, "high"_a, "sum"_a, "known"_a);
    nb::class_<PyNodeMoments>(m, "NodeMoments")
        .def(nb::init<const Ints&, const Ints&, const Ints&, const Doubles&, const Doubles&, const Doubles&,
                      const Doubles&, const Limbs&, const Limbs&, const Limbs&, const Longs&, int>(),
             "parent"_a, "slot_start"_a, "slot_regressor"_a, "low"_a, "high"_a, "max_weight"_a, "mean"_a, "product"_a,
             "sum"_a, "weight"_a, "rows"_a, "n_threads"_a)
        .def("choose", &PyNodeMoments::choose, "wanted_start"_a, "wanted"_a, "selection"_a, "max_terms"_a,
             "min_rows_per_term"_a, "ridge"_a, "ridge_rows"_a, "n_threads"_a)
        .def("model", &PyNodeMoments::model, "node"_a, "regressors"_a, "ridge"_a)
        .def("summary", &PyNodeMoments::summary);
}

} // namespace tw

#include "bind/arrays.hpp"

namespace tw {

int64_t read_numbers(nb::handle array, Numbers& numbers) {
    if (Spaced<float> single; nb::try_cast(array, single, false)) {
        numbers = numbers_at(single.data(), single.stride(0));
        return static_cast<int64_t>(single.shape(0));
    }
    const auto values = nb::cast<Spaced<double>>(array, false);
    numbers = numbers_at(values.data(), values.stride(0));
    return static_cast<int64_t>(values.shape(0));
}

std::vector<Column> read_columns(const nb::object& columns, const std::vector<int>& kinds,
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

LabelledRows read_rows(const nb::object& columns, const std::vector<int>& kinds, const std::vector<int>& levels,
                       const nb::object& target, int n_classes, const std::optional<Doubles>& weight) {
    LabelledRows rows;
    rows.target.n_classes = n_classes;
    if (weight) rows.target.weight = weight->data();
    if (n_classes > 0) {
        const auto classes = nb::cast<Ints>(target, false);
        rows.target.classes = classes.data();
        rows.table.rows = static_cast<int64_t>(classes.shape(0));
    } else {
        const auto numbers = nb::cast<Doubles>(target, false);
        rows.target.numbers = numbers.data();
        rows.table.rows = static_cast<int64_t>(numbers.shape(0));
    }
    rows.table.columns = read_columns(columns, kinds, levels, rows.table.rows);
    return rows;
}

std::vector<double> read_costs(const std::optional<Table2>& cost) {
    return cost ? std::vector<double>(cost->data(), cost->data() + cost->size()) : std::vector<double>{};
}

Costs read_costs(const std::optional<Doubles>& factor, const std::optional<Table2>& cost) {
    Costs costs;
    if (factor) costs.factor.assign(factor->data(), factor->data() + factor->size());
    costs.cost = read_costs(cost);
    return costs;
}

nb::object to_python(const NodeTable& table) {
    if (!table.sparse()) return frozen(table.value(), table.width());
    return nb::make_tuple(table.width(), frozen(table.start()), frozen(table.column()), frozen(table.value()));
}

static NodeTable node_table_of(const nb::handle& given) {
    if (!nb::hasattr(given, "start")) {
        const auto matrix = nb::cast<Table2>(given);
        return {matrix.shape(1), std::vector<double>(matrix.data(), matrix.data() + matrix.size())};
    }
    return {nb::cast<size_t>(given.attr("width")), copied<int64_t>(given.attr("start")),
            copied<int32_t>(given.attr("column")), copied<double>(given.attr("value"))};
}

nb::dict to_dict(FlatTree flat) {
    nb::dict out;
    each_array(flat, [&](const char* name, auto& values) { out[name] = frozen(std::move(values)); });
    out["stats"] = to_python(flat.stats);
    out["value"] = to_python(flat.value);
    return out;
}

FlatTree from_dict(const nb::dict& arrays) {
    FlatTree flat;
    each_array(flat, [&](const char* name, auto& values) {
        values = copied<typename std::remove_reference_t<decltype(values)>::value_type>(arrays[name]);
    });
    flat.value = node_table_of(arrays["value"]);
    flat.stats = node_table_of(arrays["stats"]);
    if (arrays.contains("band_low")) {
        flat.band_low = copied<double>(arrays["band_low"]);
        flat.band_high = copied<double>(arrays["band_high"]);
    }
    if (arrays.contains("model_start")) {
        NodeModels& models = flat.models;
        models.start = copied<int32_t>(arrays["model_start"]);
        models.column = copied<int32_t>(arrays["model_column"]);
        models.member_start = copied<int32_t>(arrays["model_member_start"]);
        models.member = copied<int32_t>(arrays["model_member"]);
        models.coefficient = copied<double>(arrays["model_coefficient"]);
        models.fill = copied<double>(arrays["model_fill"]);
        models.intercept = copied<double>(arrays["model_intercept"]);
        models.low = copied<double>(arrays["model_low"]);
        models.high = copied<double>(arrays["model_high"]);
    }
    return flat;
}

std::function<void(double)> progress_callback(const nb::object& progress) {
    return [&progress](double done) {
        const nb::gil_scoped_acquire lock;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!progress.is_none()) progress(done);
    };
}

} // namespace tw

// Python's door to what explains a tree: the trace of a row, and what each column contributes.
//
// Comes in: a tree's arrays, encoded columns. Goes out: arrays, as docs/boundary.md has them.
// Always holds: the interpreter lock is released while the core works.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "bind_common.hpp"
#include "contribute.hpp"
#include "predict.hpp"

namespace tw {

// Per node: the child (or spread or stop_here), what the row goes by, how much of it comes there. The guide is 0 for
// the answer, 1 and up for that surrogate, -1 for a missing value and -2 for a level that no child holds.
inline nb::tuple told(Trace trace) {
    const size_t nodes = trace.weight.size();
    std::vector<int32_t> child(nodes), guide(nodes);
    for (size_t i = 0; i < nodes; ++i) {
        const Way& way = trace.way[i];
        child[i] = way.child;
        guide[i] = way.guide == Guide::surrogate ? way.surrogate + 1
                   : way.guide == Guide::missing ? -1
                   : way.guide == Guide::unseen  ? -2
                                                 : 0;
    }
    return nb::make_tuple(array(std::move(child), nodes), array(std::move(guide), nodes),
                          array(std::move(trace.weight), nodes));
}

// What each column adds to the answers of each row, by tree SHAP.
class PyContributor {
public:
    PyContributor(const nb::dict& arrays, uint64_t seed) : contributor_(from_dict(arrays), seed) {}

    nb::object base() const {
        std::vector<double> base = contributor_.base();
        const size_t answers = base.size();
        return array(std::move(base), answers);
    }
    nb::object values(const nb::object& columns, const std::vector<int>& kinds, int64_t rows, int n_threads) const {
        const std::vector<Column> table = read_columns(columns, kinds, {}, rows);
        const size_t width = table.size() * contributor_.base().size();
        std::vector<double> out(static_cast<size_t>(rows) * width);
        {
            const nb::object none = nb::none();
            const auto pulse = pulse_of(none);
            const nb::gil_scoped_release unlocked;
            Pool pool(n_threads, pulse);
            contributor_.contribute(table, rows, pool, out.data());
        }
        return array(std::move(out), rows, width);
    }

private:
    Contributor contributor_;
};

} // namespace tw

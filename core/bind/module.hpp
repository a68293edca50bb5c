// The parts of the extension module; each adds its functions.
#pragma once

#include <nanobind/nanobind.h>

namespace tw {

void bind_grow(nanobind::module_& m);
void bind_remote(nanobind::module_& m);
void bind_predict(nanobind::module_& m);
void bind_prune(nanobind::module_& m);
void bind_optimal(nanobind::module_& m);
void bind_linear(nanobind::module_& m);
void bind_formulas(nanobind::module_& m);

} // namespace tw

// The extension module treewright._core; docs/boundary.md is its contract.
//
// The interpreter lock is released while the core works, and taken again only to call a user's criterion.
#include "bind/module.hpp"

NB_MODULE(_core, m) {
    m.doc() = "The compiled core: arrays in, arrays out (docs/boundary.md).";
    tw::bind_grow(m);
    tw::bind_remote(m);
    tw::bind_predict(m);
    tw::bind_prune(m);
    tw::bind_optimal(m);
    tw::bind_linear(m);
    tw::bind_formulas(m);
}

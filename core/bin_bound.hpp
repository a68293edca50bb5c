// The bound of one bin by itself, so that it can be tested: no way to cut a bin is better than its bound says.
#pragma once

#include "stat.hpp"

namespace tw {

// Rows lie in the order of some column; those from `first` to before `last` are the bin. Returns the largest gain that
// a cut inside it could have, whatever their order in it.
double bound_of_bin(Rule rule, const Measure& measure, int64_t rows, int64_t first, int64_t last);

} // namespace tw

// The bound of a single bin, for tests: no cut inside a bin gains more.
#pragma once

#include "target/measure.hpp"

namespace tw {

// Rows lie in the order of some column; those from `first` to before `last` are the bin. Returns the largest gain that
// a cut inside it could have, whatever their order in it.
double bound_of_bin(Criterion criterion, const Measure& measure, int64_t rows, int64_t first, int64_t last);

} // namespace tw

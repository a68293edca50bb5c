// Histograms with one bin per distinct value, counted from entries. Works for every recipe.
#pragma once

#include <span>
#include <vector>

#include "base/split.hpp"
#include "binning/training_table.hpp"
#include "target/histogram.hpp"

namespace tw {

// The whole node as a single bin, and the range of a numeric target in it.
struct Total {
    Histogram all;
    double low = 0;
    double high = 0;
};

Total node_total(const TrainingTable& training, std::span<const Entry> entries);
// Target statistics per bin of a column, and of the entries where it is missing.
Histogram target_histogram(const TrainingTable& training, std::span<const Entry> entries, int column);
// Target statistics per child that `split` sends each entry to, one bin for every child; entries whose child it does
// not know are missing.
Histogram histogram_of_children(const TrainingTable& training, std::span<const Entry> entries, const Split& split);
// A column cut between two numbers, a bin for each side; or, with one number, all known values against missing ones.
Histogram histogram_of_sides(const TrainingTable& training, std::span<const Entry> entries, int column,
                             std::vector<double> at);
// The same with the child that `split` sends each entry to as the target: a bin's sums are the weight per child, then
// the rows per child. Entries whose child the split does not know are not counted, but their bin is listed.
Histogram child_histogram(const TrainingTable& training, std::span<const Entry> entries, int column,
                          const Split& split);

} // namespace tw

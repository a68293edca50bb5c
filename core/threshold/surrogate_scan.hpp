// Surrogates by the threshold search: the best agreeing cut of every column.
//
// The result equals surrogates_by_value.
#pragma once

#include <span>
#include <vector>

#include "base/thread_pool.hpp"
#include "binning/binned_table.hpp"
#include "binning/value_histogram.hpp"
#include "split/surrogate.hpp"
#include "threshold/cut.hpp"

namespace tw {

// What cuts are compared by when they imitate: weights are whole units.
CutRules surrogate_cut_rules();
// What a cut must reach: more than the majority, and as much as the last that is kept. `reached`: by cuts between bins.
double surrogate_gain_to_beat(const Task& task, double majority, std::vector<double> reached);
// What each of these rows adds.
std::vector<SurrogateCounter::Item> surrogate_items(const TrainingTable& training, const Split& split,
                                                    std::span<const Entry> entries);

struct SurrogateScan {
    SurrogateScan(const TrainingTable& training, const Split& split, std::span<const uint32_t> rows,
                  std::span<const int> by_histogram);

    // Surrogates in order of columns: by_histogram columns by their cuts, the others gathered.
    std::vector<Surrogate> to_surrogates(const Task& task, const TrainingTable& training,
                                         std::span<const int> by_histogram, const BinnedTable& binned,
                                         const std::vector<Cut>& cuts, ThreadPool& pool) const;

    const Split& split;
    bool possible; // two children, and columns to sweep
    std::vector<Entry> entries;
    std::vector<SurrogateCounter::Item> items;
    double majority = 0; // weight, in units, that the larger child gets
    CutRules rules;
};

} // namespace tw

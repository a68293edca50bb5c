// Surrogates by the threshold search: the best agreeing cut of every column. The result equals surrogates_by_value.
#pragma once

#include <span>
#include <vector>

#include "binning/level_table.hpp"
#include "split/surrogate.hpp"
#include "threshold/search.hpp"

namespace tw {

// Whether cuts can follow the split: it has two children, and there are columns searched by histogram.
bool can_scan_surrogates(const SearchColumns& columns, const Split& split);

// Weights are whole units, so ties are exact.
CutRules surrogate_cut_rules();
// What each of these entries adds.
std::vector<SurrogateCounter::Item> surrogate_items(const TrainingTable& training, const Split& split,
                                                    std::span<const Entry> entries);
// The same for rows that are not divided.
std::vector<Entry> whole_rows(const Measure& measure, std::span<const uint32_t> rows);

// A column's cut, what lies below it, and what has no value.
struct AgreeingCut {
    Cut cut;
    Words<SurrogateCounter> low{}, missing{};
};
// The levels of a column by child, as child_histogram counts them. `cells`: the column's in a histogram.
Histogram child_histogram_of_cells(const LevelColumn& column, const SurrogateCounter::Word* cells);
// Surrogates in order of columns. `cuts`: of columns searched by histogram; `by_value`: of the others, counted by
// child.
std::vector<Surrogate> to_surrogates(const Task& task, const SearchColumns& columns, const Split& split,
                                     const Words<SurrogateCounter>& total,
                                     const IndexedVector<ScanColumn, AgreeingCut>& cuts,
                                     std::span<const Histogram> by_value);

// The whole search, for nodes whose histograms are set. `by_value`: of each node, as above.
std::vector<std::vector<Surrogate>> find_surrogates(const Task& task, const SearchColumns& columns,
                                                    std::span<const ChosenSplit> chosen,
                                                    NodeSearches<SurrogateCounter>& searches,
                                                    std::span<const Histogram> by_value,
                                                    CutSource<SurrogateCounter>& source, ThreadPool& pool);

} // namespace tw

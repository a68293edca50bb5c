// Imitating a split by cuts of other columns: what rows_coded and rows_small share when they look for surrogates.
//
// Comes in: a split of a node's rows. Goes out: what each row adds to an Imitation counter, and surrogates made from
// the cuts that were found. Always holds: the surrogates are those of gather_surrogates.
#pragma once

#include <span>
#include <vector>

#include "coding.hpp"
#include "cut.hpp"
#include "rows_cpu.hpp"

namespace tw {

// What cuts are compared by when they imitate: weights are whole units.
Yardstick imitation_yard();
// What a cut must reach: more than the majority, and as much as the last that is kept. `reached`: by cuts between bins.
double imitation_bar(const Task& task, double majority, std::vector<double> reached);
// What each of these rows adds.
std::vector<Imitation::Item> imitation_items(const Source& source, const Split& split, std::span<const Entry> entries);

struct ImitationTask {
    ImitationTask(const Source& source, const Split& split, std::span<const uint32_t> rows, std::span<const int> swept);

    // Surrogates in order of columns: swept columns by their cuts, the others gathered.
    std::vector<Surrogate> tell(const Task& task, const Source& source, std::span<const int> swept,
                                const CodedTable& coded, const std::vector<Cut>& cuts, Pool& pool) const;

    const Split& split;
    bool possible; // two children, and columns to sweep
    std::vector<Entry> entries;
    std::vector<Imitation::Item> items;
    double majority = 0; // weight, in units, that the larger child gets
    Yardstick yard;
};

} // namespace tw

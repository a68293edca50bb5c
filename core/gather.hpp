// Gathering: from entries to buckets, value by value. The plain way to count, which serves every recipe.
//
// Comes in: a node's entries. Goes out: what is known of them, by bin of a column. Always holds: what is counted does
// not depend on the order of entries.
#pragma once

#include <span>
#include <vector>

#include "branching.hpp"
#include "buckets.hpp"
#include "split.hpp"

namespace tw {

// The whole node as a single bin, and the range of a numeric target in it.
struct Total {
    Buckets all;
    double low = 0;
    double high = 0;
};

// Where values are read from.
struct Source {
    const Table& table;
    const Measure& measure;
    std::vector<ColumnFacts> facts;
    std::vector<Array<int32_t>> bin_codes; // per binned column

    // NaN: missing; levels as their code, binned numbers as their bin.
    double value(int column, uint32_t row) const;
};

// Both sides of a cut and the rows without a value: sums, rows, and the values next to the cut.
struct Sides {
    std::vector<Sum> stats; // low, high, missing
    std::vector<int64_t> rows;
    double below = 0, above = 0;

    template <class Archive>
    void pass(Archive& archive) {
        archive(stats, rows, below, above);
    }
};

Total total_of(const Source& source, std::span<const Entry> entries);
// Target statistics per bin of a column, and of the entries where it is missing.
Buckets count_target(const Source& source, std::span<const Entry> entries, int column);
// A column cut after a number; without a cut, known values against missing ones.
Sides count_sides(const Source& source, std::span<const Entry> entries, int column, bool is_cut, double at);
// The same with the child that `split` sends each entry to as the target: a bin's sums are the weight per child, then
// the rows per child. Entries that cannot answer the split are not counted, but their bin is listed.
Buckets count_children(const Source& source, std::span<const Entry> entries, int column, const Split& split);

} // namespace tw

// A split: bin the value, map the bin to a child. One value for thresholds, subsets, multiway and merged groups.
//
// Comes in: a value of the split's column. Goes out: a child number, or what to do without one.
// Always holds: this is the only routing rule; dividing, predicting and explaining all use it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "table.hpp"

namespace tw {

// Where a row goes that has no answer (Split::missing) or an answer no child holds (Split::unseen).
constexpr int spread = -1;
constexpr int stop_here = -2;
constexpr int random_child = -3;
constexpr int as_missing = -4;

struct Split {
    int column = -1;
    bool closed = true;                // a break belongs to the interval below it
    std::vector<double> breaks;        // rising; empty for levels
    std::vector<int32_t> child_of_bin; // -1: no child holds this level
    std::vector<double> share;         // per child, of the known weight
    int missing = stop_here;
    int unseen = as_missing;
    int upper = 0; // the child of largest mean target, which rpart calls the right one; known while growing

    int children() const { return static_cast<int>(share.size()); }
    template <class Archive>
    void pass(Archive& archive) {
        archive(column, closed, breaks, child_of_bin, share, missing, unseen);
    }
};

constexpr int no_answer = -1;
constexpr int no_child = -2;

inline int bin_of(const Split& split, double x) {
    const auto place = split.closed ? std::lower_bound(split.breaks.begin(), split.breaks.end(), x)
                                    : std::upper_bound(split.breaks.begin(), split.breaks.end(), x);
    return static_cast<int>(place - split.breaks.begin());
}

// The child, or no_answer (missing), or no_child (a level that no child holds).
inline int route(const Split& split, const Column& column, int64_t row) {
    if (column.kind == Kind::number) {
        const double x = column.numbers[row];
        return std::isnan(x) ? no_answer : split.child_of_bin[bin_of(split, x)];
    }
    const int code = column.codes[row];
    if (code == -1) return no_answer;
    if (code < 0 || code >= static_cast<int>(split.child_of_bin.size())) return no_child;
    const int child = split.child_of_bin[code];
    return child < 0 ? no_child : child;
}

// What a row goes by at a node.
enum class Guide { answer, surrogate, unseen, missing };

struct Way {
    int child = stop_here; // or spread, or random_child
    Guide guide = Guide::answer;
    int surrogate = 0; // which one, from 0, where one spoke
};

// Where a row goes, and by what. Surrogates speak in order for a row without an answer.
inline Way way_of(const Split& split, const std::vector<Split>& surrogates, const std::vector<Column>& columns,
                  int64_t row) {
    const int child = route(split, columns[split.column], row);
    if (child >= 0) return {child, Guide::answer};
    if (child == no_child && split.unseen != as_missing) return {split.unseen, Guide::unseen};
    for (size_t i = 0; i < surrogates.size(); ++i) {
        const int other = route(surrogates[i], columns[surrogates[i].column], row);
        if (other >= 0) return {other, Guide::surrogate, static_cast<int>(i)};
    }
    return {split.missing, Guide::missing};
}

// The child a row takes, or spread, stop_here or random_child.
inline int destination(const Split& split, const std::vector<Split>& surrogates, const std::vector<Column>& columns,
                       int64_t row) {
    return way_of(split, surrogates, columns, row).child;
}

inline int largest_share(const Split& split) {
    return static_cast<int>(std::max_element(split.share.begin(), split.share.end()) - split.share.begin());
}

} // namespace tw

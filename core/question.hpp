// Questions about rows that lie elsewhere, and their answers: the whole exchange between a tree that is grown in one
// place and a table whose parts lie in others.
//
// Comes in: what must be known or done next. Goes out: for every question an answer of the same shape, so that the
// answers of two parts can be merged into that of both. Always holds: merging adds integers, takes unions and extremes,
// so its order does not matter. A question changes what a part remembers only by `plan`, `bounds` and `sendings`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coding.hpp"
#include "gather.hpp"
#include "message.hpp"
#include "split.hpp"

namespace tw {

// --- what is asked ---

// How all parts see the table: what makes rows integers, and the bins of its numbers (none: the recipe does not use
// them).
struct Plan {
    Units units;
    std::vector<CodedColumn> coded;

    template <class Archive>
    void pass(Archive& archive) {
        archive(units, coded);
    }
};

// A node's rows are sent to its children, numbered first, first + 1, ...
struct Sending {
    int node = 0;
    uint64_t key = 0;
    Split split;
    std::vector<Split> surrogates;
    int first = 0;

    template <class Archive>
    void pass(Archive& archive) {
        archive(node, key, split, surrogates, first);
    }
};

struct ColumnAt {
    int node = 0, column = 0;

    template <class Archive>
    void pass(Archive& archive) {
        archive(node, column);
    }
};

// Columns counted by the child that a split sends each row to.
struct Imitated {
    int node = 0;
    Split split;
    std::vector<int> columns;

    template <class Archive>
    void pass(Archive& archive) {
        archive(node, split, columns);
    }
};

// The values of a coded column from one key to another, in cells of 2^shift keys (see `key_of`).
struct Range {
    int node = 0, place = 0;
    uint64_t first = 0, last = 0;
    int shift = 0;
    int imitation = -1; // counted by the child that this one of `imitations` sends rows to; -1: by target

    template <class Archive>
    void pass(Archive& archive) {
        archive(node, place, first, last, shift, imitation);
    }
};

// A column cut after a number (without a cut: known values against missing ones); if not `counted`, only the values
// next to the cut are wanted.
struct CutAt {
    int node = 0, column = 0;
    bool is_cut = true, counted = true;
    double at = 0;

    template <class Archive>
    void pass(Archive& archive) {
        archive(node, column, is_cut, counted, at);
    }
};

struct Question {
    int64_t look = 0;               // sketches, weights and targets; every so many rows are sampled. 0: not asked
    std::optional<double> heaviest; // of all weights: the whole weight is wanted
    std::optional<Units> weighed;   // targets of rows with weight are wanted
    std::optional<Plan> plan;
    std::vector<int> values;                 // columns whose distinct values are wanted
    std::vector<std::vector<double>> bounds; // per column the bins of its numbers, for all trees to come
    std::vector<Sending> sendings;
    std::vector<int> totals, histograms; // nodes
    std::vector<ColumnAt> buckets;
    std::vector<Imitated> imitated;
    std::vector<Imitated> imitations; // wanted as histograms, if no ranges are
    std::vector<Range> ranges;
    std::vector<CutAt> cuts;
    std::vector<int> rows; // nodes whose rows are wanted as they are

    template <class Archive>
    void pass(Archive& archive) {
        archive(look, heaviest, weighed, plan, values, bounds, sendings, totals, histograms, buckets, imitated,
                imitations, ranges, cuts, rows);
    }
};

// --- what is answered ---

// Counters of any width.
struct Counts {
    std::vector<uint32_t> narrow;
    std::vector<uint64_t> wide;
    std::vector<Sum> widest;

    template <class Word>
    auto& of() {
        if constexpr (sizeof(Word) == 4) {
            return narrow;
        } else if constexpr (sizeof(Word) == 8) {
            return wide;
        } else {
            return widest;
        }
    }
    void add(const Counts& other);
    template <class Archive>
    void pass(Archive& archive) {
        archive(narrow, wide, widest);
    }
};

struct Look {
    WeightFacts weights;
    TargetFacts targets; // as if every row had weight
    std::vector<ColumnSketch> sketches;

    template <class Archive>
    void pass(Archive& archive) {
        archive(weights, targets, sketches);
    }
};

struct Known {
    std::vector<double> value; // rising
    std::vector<int64_t> weight;

    template <class Archive>
    void pass(Archive& archive) {
        archive(value, weight);
    }
};

// The cells of a range that hold rows, rising, and the counters of each.
struct Cells {
    std::vector<uint64_t> cell;
    Counts counts;

    template <class Archive>
    void pass(Archive& archive) {
        archive(cell, counts);
    }
};

// Some rows as they are, and as they are measured. One array per column; those of the other kinds are empty.
struct Bundle {
    std::vector<std::vector<float>> single;
    std::vector<std::vector<double>> numbers;
    std::vector<std::vector<int32_t>> codes;
    std::vector<int32_t> classes;
    std::vector<double> target;
    std::vector<int64_t> weight; // empty: one unit each

    int64_t size() const { return static_cast<int64_t>(classes.size() + target.size()); }
    void append(const Bundle& other);
    template <class Archive>
    void pass(Archive& archive) {
        archive(single, numbers, codes, classes, target, weight);
    }
};

struct Answer {
    std::optional<Look> look;
    Sum weight_parts = 0;
    std::optional<TargetFacts> weighed;
    std::vector<Known> values;
    std::vector<Buckets> totals; // one bin each
    std::vector<double> low, high;
    std::vector<Counts> histograms, imitations;
    std::vector<Buckets> buckets, imitated;
    std::vector<Cells> ranges;
    std::vector<Sides> cuts;
    std::vector<Bundle> rows;

    void merge(Answer other);
    template <class Archive>
    void pass(Archive& archive) {
        archive(look, weight_parts, weighed, values, totals, low, high, histograms, imitations, buckets, imitated,
                ranges, cuts, rows);
    }
};

// Numbers as integers in the same order; -0 and 0 share one.
uint64_t key_of(double x);
double number_of(uint64_t key);

} // namespace tw

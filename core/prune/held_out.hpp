// Losses of rows at every node of their paths through a tree, summed per node.
//
// Sums are exact: integers of falling units, as growing/exact_sums.py keeps and merges them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tw {

// Sums by unit: entry u counts 2^(digit_bits * (u + first_unit)) per place; empty: nothing was counted.
class ExactSums {
public:
    static constexpr int digit_bits = 26; // a number has fewer than 2^digit_bits of each unit
    static constexpr int first_unit = -42;
    static constexpr int units = 82; // from the smallest number to the largest

    explicit ExactSums(size_t places) : places_(places) {}
    void add(size_t place, double value);
    std::array<std::vector<int64_t>, units>& counts() { return counts_; }

private:
    size_t places_;
    std::array<std::vector<int64_t>, units> counts_;
};

// What a wrong prediction costs.
enum class Loss { classes, squared, absolute, poisson };

// A tree as its losses need it, per node.
struct PredictingNodes {
    std::span<const int32_t> parent;
    std::span<const int32_t> stop;      // 0: the node has children
    std::span<const int32_t> predicted; // class (Loss::classes)
    std::span<const double> number;     // of other losses
    std::span<const double> cost;       // classes x classes, [truth][prediction]; empty: 1 for a wrong class
    Loss loss = Loss::classes;
};

// Where rows end and what they are; `classes` or `numbers`.
struct EndedRows {
    std::span<const int32_t> end;
    std::span<const int32_t> classes;
    std::span<const double> numbers;
    std::span<const double> weight;
};

// Weighted losses and their squares: over all rows that come to a node, if it predicts them, and over those that go no
// further although it has children.
struct LossSums {
    ExactSums as_leaf, squares_as_leaf, at_inner, squares_at_inner;
};
LossSums sum_losses(const PredictingNodes& nodes, const EndedRows& rows);

} // namespace tw

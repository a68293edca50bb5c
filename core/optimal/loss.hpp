// Losses of the leaves: sums over rows, and the loss of a leaf as a function of them.
//
// Fitted leaves never lose by losing rows: the loss of a set is at least the loss of any two disjoint parts of it.
// Every bound of the search rests on that.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "optimal/subset.hpp"

namespace tw {

// Sums of many regions side by side: word w of region b lies at word(w, b).
//
// The loss of each region is written to `loss`; `scratch` has room for as many numbers.
template <class Real>
class ClassLoss {
public:
    explicit ClassLoss(const Problem& problem)
        : classes_(problem.n_classes), cost_(problem.cost.begin(), problem.cost.end()) {
        for (int k = 0; k < classes_; ++k) {
            Real most = 1;
            if (!cost_.empty()) most = *std::max_element(&cost_[k * classes_], &cost_[k * classes_] + classes_);
            max_cost_.push_back(most);
        }
    }

    int words() const { return classes_; }
    // A row moved from one side of a cut to the other changes the loss of no tree by more.
    Real max_change(const Subset& subset, size_t i) const {
        return static_cast<Real>(subset.weight_of(i)) * max_cost_[subset.label[i]];
    }

    // sums[(word * bins + bin(row)) ...]: adds every row to its cell.
    template <class Cell>
    void count(const Subset& subset, int cells, Real* sums, const Cell& cell) const {
        const int32_t* label = subset.label.data();
        const int64_t rows = subset.rows();
        if (subset.weight.empty()) {
            for (int64_t i = 0; i < rows; ++i) sums[label[i] * cells + cell(i)] += 1;
        } else {
            for (int64_t i = 0; i < rows; ++i) sums[label[i] * cells + cell(i)] += static_cast<Real>(subset.weight[i]);
        }
    }

    template <class Word>
    void losses(int regions, const Word& word, Real* loss, Real* scratch) const {
        if (!cost_.empty()) return losses_by_cost(regions, word, loss, scratch);
        for (int b = 0; b < regions; ++b) loss[b] = scratch[b] = word(0, b);
        for (int k = 1; k < classes_; ++k) {
            for (int b = 0; b < regions; ++b) {
                const Real n = word(k, b);
                loss[b] += n;
                scratch[b] = n > scratch[b] ? n : scratch[b];
            }
        }
        for (int b = 0; b < regions; ++b) loss[b] -= scratch[b];
    }

    // The gini impurity of each region, times its weight.
    template <class Word>
    void impurities(int regions, const Word& word, Real* impurity, Real* weight) const {
        for (int b = 0; b < regions; ++b) impurity[b] = weight[b] = 0;
        for (int k = 0; k < classes_; ++k) {
            for (int b = 0; b < regions; ++b) weight[b] += word(k, b);
        }
        for (int k = 0; k < classes_; ++k) {
            for (int b = 0; b < regions; ++b) {
                const Real n = word(k, b);
                if (weight[b] > 0) impurity[b] += n * (1 - n / weight[b]);
            }
        }
    }

private:
    template <class Word>
    void losses_by_cost(int regions, const Word& word, Real* loss, Real* scratch) const {
        for (int predicted = 0; predicted < classes_; ++predicted) {
            for (int b = 0; b < regions; ++b) scratch[b] = 0;
            for (int k = 0; k < classes_; ++k) {
                const Real cost = cost_[k * classes_ + predicted];
                for (int b = 0; b < regions; ++b) scratch[b] += cost * word(k, b);
            }
            for (int b = 0; b < regions; ++b) {
                loss[b] = predicted == 0 || scratch[b] < loss[b] ? scratch[b] : loss[b];
            }
        }
    }

    int classes_;
    std::vector<Real> cost_, max_cost_;
};

class SquaredLoss {
public:
    using Real = double;
    explicit SquaredLoss(const Problem&) {}

    int words() const { return 3; }                              // weight, sum, sum of squares
    double max_change(const Subset&, size_t) const { return 0; } // one row may change it by any amount

    template <class Cell>
    void count(const Subset& subset, int cells, double* sums, const Cell& cell) const {
        for (int64_t i = 0; i < subset.rows(); ++i) {
            const double w = subset.weight_of(static_cast<size_t>(i)), y = subset.target[i];
            double* sum = sums + cell(i);
            sum[0] += w;
            sum[cells] += w * y;
            sum[2 * cells] += w * y * y;
        }
    }

    template <class Word>
    void losses(int regions, const Word& word, double* loss, double*) const {
        for (int b = 0; b < regions; ++b) {
            const double w = word(0, b), s = word(1, b), q = word(2, b);
            const double rest = q - s * s / (w > 0 ? w : 1);
            loss[b] = w > 0 && rest > 0 ? rest : 0;
        }
    }

    template <class Word>
    void impurities(int regions, const Word& word, double* impurity, double* scratch) const {
        losses(regions, word, impurity, scratch);
    }
};

} // namespace tw

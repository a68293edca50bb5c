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

// Where the losses of the four leaves of a root cut and every cut of a child are written: [below or above the root's
// cut][below or above the child's].
template <class Sum>
struct FourLosses {
    Sum* at[2][2];
};

// Sums by word, one per bin: those of the rows up to each bin, below the root's cut (`low`) and on both sides (`all`).
template <class Loss, class Sum>
void four_losses_one_by_one(const Loss& of, int bins, const Sum* low, const Sum* all, const FourLosses<Sum>& loss,
                            Sum* scratch) {
    const auto total = [&](const Sum* words, int w) { return words[w * bins + bins - 1]; };
    const auto high = [&](int w, int b) { return all[w * bins + b] - low[w * bins + b]; };
    of.losses(bins, [&](int w, int b) { return low[w * bins + b]; }, loss.at[0][0], scratch);
    of.losses(bins, [&](int w, int b) { return total(low, w) - low[w * bins + b]; }, loss.at[0][1], scratch);
    of.losses(bins, high, loss.at[1][0], scratch);
    of.losses(bins, [&](int w, int b) { return (total(all, w) - total(low, w)) - high(w, b); }, loss.at[1][1], scratch);
}

// Sums of many regions side by side: word w of region b lies at word(w, b).
//
// The loss of each region is written to `loss`; `scratch` has room for as many numbers. Whole numbers must fit
// `Number`.
template <class Number>
class ClassLoss {
public:
    using Sum = Number;
    explicit ClassLoss(const Problem& problem)
        : classes_(problem.n_classes), cost_(problem.cost.begin(), problem.cost.end()) {
        for (int k = 0; k < classes_; ++k) {
            Sum most = 1;
            if (!cost_.empty()) most = *std::max_element(&cost_[k * classes_], &cost_[k * classes_] + classes_);
            max_cost_.push_back(most);
        }
    }

    int words() const { return classes_; }
    // A row moved from one side of a cut to the other changes the loss of no tree by more.
    double max_change(const Subset& subset, size_t i) const {
        return subset.weight_of(i) * static_cast<double>(max_cost_[subset.label[i]]);
    }

    // Adds every row to its sums: word w of it to sums[w * stride + place(row)].
    template <class Place>
    void count(const Subset& subset, int stride, Sum* sums, const Place& place) const {
        const int32_t* label = subset.label.data();
        const int64_t rows = subset.rows();
        if (subset.weight.empty()) {
            for (int64_t i = 0; i < rows; ++i) ++sums[label[i] * stride + place(i)];
        } else {
            for (int64_t i = 0; i < rows; ++i) {
                Sum& sum = sums[label[i] * stride + place(i)];
                sum = static_cast<Sum>(sum + static_cast<Sum>(subset.weight[i]));
            }
        }
    }

    template <class Word>
    void losses(int regions, const Word& word, Sum* loss, Sum* scratch) const {
        if (!cost_.empty()) return losses_by_cost(regions, word, loss, scratch);
        for (int b = 0; b < regions; ++b) loss[b] = scratch[b] = static_cast<Sum>(word(0, b));
        for (int k = 1; k < classes_; ++k) {
            for (int b = 0; b < regions; ++b) {
                const Sum n = static_cast<Sum>(word(k, b));
                loss[b] = static_cast<Sum>(loss[b] + n);
                scratch[b] = n > scratch[b] ? n : scratch[b];
            }
        }
        for (int b = 0; b < regions; ++b) loss[b] = static_cast<Sum>(loss[b] - scratch[b]);
    }

    // All rows of a region less those of its largest class, for four regions at a time.
    void four_losses(int bins, const Sum* low, const Sum* all, const FourLosses<Sum>& loss, Sum* scratch) const {
        if (!cost_.empty()) return four_losses_one_by_one(*this, bins, low, all, loss, scratch);
        Sum *below_low = scratch, *below_high = scratch + bins;
        for (Sum* each : {loss.at[0][0], loss.at[0][1], loss.at[1][0], loss.at[1][1], below_low, below_high}) {
            std::fill_n(each, bins, Sum{0});
        }
        for (int k = 0; k < classes_; ++k) {
            take_class(bins, low + k * bins, all + k * bins, loss.at[0][0], loss.at[0][1], loss.at[1][0], loss.at[1][1],
                       below_low, below_high);
        }
        for (int s = 0; s < 2; ++s) rest_of_most(bins, scratch + s * bins, loss.at[s][0], loss.at[s][1]);
    }

    // The gini impurity of each region, times its weight.
    template <class Word>
    void impurities(int regions, const Word& word, Sum* impurity, Sum* weight) const {
        for (int b = 0; b < regions; ++b) impurity[b] = weight[b] = 0;
        for (int k = 0; k < classes_; ++k) {
            for (int b = 0; b < regions; ++b) weight[b] += word(k, b);
        }
        for (int k = 0; k < classes_; ++k) {
            for (int b = 0; b < regions; ++b) {
                const Sum n = word(k, b);
                if (weight[b] > 0) impurity[b] += n * (1 - n / weight[b]);
            }
        }
    }

private:
    // The rows of one class in the four regions, at every bin: the most of any class so far, and the sum of all below.
    // The arrays are distinct, which lets the compiler add many numbers at once.
    static void take_class(int bins, const Sum* __restrict low, const Sum* __restrict all, Sum* __restrict low_below,
                           Sum* __restrict low_above, Sum* __restrict high_below, Sum* __restrict high_above,
                           Sum* __restrict rows_low, Sum* __restrict rows_high) {
        const Sum of_low = low[bins - 1], of_high = static_cast<Sum>(all[bins - 1] - of_low);
        for (int b = 0; b < bins; ++b) {
            const Sum x = low[b], y = static_cast<Sum>(all[b] - x);
            const Sum rest_x = static_cast<Sum>(of_low - x), rest_y = static_cast<Sum>(of_high - y);
            low_below[b] = x > low_below[b] ? x : low_below[b];
            low_above[b] = rest_x > low_above[b] ? rest_x : low_above[b];
            high_below[b] = y > high_below[b] ? y : high_below[b];
            high_above[b] = rest_y > high_above[b] ? rest_y : high_above[b];
            rows_low[b] = static_cast<Sum>(rows_low[b] + x);
            rows_high[b] = static_cast<Sum>(rows_high[b] + y);
        }
    }

    // All rows less those of the largest class, below and above every bin.
    static void rest_of_most(int bins, const Sum* __restrict rows, Sum* __restrict below, Sum* __restrict above) {
        const Sum all = rows[bins - 1];
        for (int b = 0; b < bins; ++b) {
            below[b] = static_cast<Sum>(rows[b] - below[b]);
            above[b] = static_cast<Sum>(all - rows[b] - above[b]);
        }
    }

    template <class Word>
    void losses_by_cost(int regions, const Word& word, Sum* loss, Sum* scratch) const {
        for (int predicted = 0; predicted < classes_; ++predicted) {
            for (int b = 0; b < regions; ++b) scratch[b] = 0;
            for (int k = 0; k < classes_; ++k) {
                const Sum cost = cost_[k * classes_ + predicted];
                for (int b = 0; b < regions; ++b) scratch[b] = static_cast<Sum>(scratch[b] + cost * word(k, b));
            }
            for (int b = 0; b < regions; ++b) {
                loss[b] = predicted == 0 || scratch[b] < loss[b] ? scratch[b] : loss[b];
            }
        }
    }

    int classes_;
    std::vector<Sum> cost_, max_cost_;
};

class SquaredLoss {
public:
    using Sum = double;
    explicit SquaredLoss(const Problem&) {}

    int words() const { return 3; }                              // weight, sum, sum of squares
    double max_change(const Subset&, size_t) const { return 0; } // one row may change it by any amount

    template <class Place>
    void count(const Subset& subset, int stride, double* sums, const Place& place) const {
        for (int64_t i = 0; i < subset.rows(); ++i) {
            const double w = subset.weight_of(static_cast<size_t>(i)), y = subset.target[i];
            double* sum = sums + place(i);
            sum[0] += w;
            sum[stride] += w * y;
            sum[2 * stride] += w * y * y;
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

    void four_losses(int bins, const double* low, const double* all, const FourLosses<double>& loss,
                     double* scratch) const {
        four_losses_one_by_one(*this, bins, low, all, loss, scratch);
    }

    template <class Word>
    void impurities(int regions, const Word& word, double* impurity, double* scratch) const {
        losses(regions, word, impurity, scratch);
    }
};

} // namespace tw

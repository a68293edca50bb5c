#include "linear/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tw {
namespace {

// Normal equations that are solved one term at a time (the sweep operator, Goodnight 1979). Columns are measured in
// powers of two near their deviation, so that their sizes do not matter. A cell is computed when it is asked for, from
// the row and the column of every term that has entered: of many columns only few enter.
class Equations {
public:
    Equations(const Moments& moments, std::span<const int> slots, double ridge)
        : moments_(moments), at_(slots.begin(), slots.end()), n_(static_cast<int>(slots.size())), ridge_(ridge) {
        at_.push_back(moments.size() - 1); // the target
        for (const int slot : at_) {
            const double squares = moments.of(slot, slot).value();
            int exponent = 0;
            if (squares > 0) std::frexp(std::sqrt(squares), &exponent);
            exponent_.push_back(exponent);
        }
        for (int i = 0; i <= n_; ++i) {
            diagonal_.push_back(given(i, i));
            target_.push_back(given(i, n_));
            squares_.push_back(diagonal_[i].high);
        }
        swept_.assign(static_cast<size_t>(n_), 0);
    }

    bool can_enter(int i) const { return !swept_[i] && squares_[i] > 0 && diagonal_[i].high > collinear * squares_[i]; }
    // How much the sum of squared residuals falls with this term, in the target's unit.
    double gain(int i) const { return (target_[i] * target_[i] / diagonal_[i]).value(); }
    double residual() const { return std::max(target_[n_].value(), 0.0); }

    void enter(int pivot) {
        Sweep sweep{pivot, Wide(1) / diagonal_[pivot], {}, {}};
        for (int i = 0; i <= n_; ++i) sweep.row.push_back(cell(pivot, i));
        for (int i = 0; i <= n_; ++i) sweep.factor.push_back(cell(i, pivot) * sweep.inverse);
        swept_[pivot] = 1;
        sweeps_.push_back(std::move(sweep));
        for (int i = 0; i <= n_; ++i) {
            diagonal_[i] = swept(diagonal_[i], i, i, sweeps_.back());
            target_[i] = swept(target_[i], i, n_, sweeps_.back());
        }
    }
    Wide coefficient(int i) const { return scaled_by(target_[i], exponent_[n_] - exponent_[i]); }

private:
    // What the entry of one term does to all cells.
    struct Sweep {
        int pivot;
        Wide inverse;
        std::vector<Wide> row, factor; // the row of the term, and its column times the inverse, before it entered
    };

    Wide given(int a, int b) const {
        const Wide product = scaled_by(moments_.of(at_[a], at_[b]), -exponent_[a] - exponent_[b]);
        return a == b && a < n_ ? product + product * Wide(ridge_) : product;
    }
    static Wide swept(Wide cell, int a, int b, const Sweep& sweep) {
        if (a == sweep.pivot) return b == sweep.pivot ? sweep.inverse : sweep.row[b] * sweep.inverse;
        return b == sweep.pivot ? -sweep.factor[a] : cell - sweep.factor[a] * sweep.row[b];
    }
    Wide cell(int a, int b) const {
        Wide found = given(a, b);
        for (const Sweep& sweep : sweeps_) found = swept(found, a, b, sweep);
        return found;
    }

    const Moments& moments_;
    std::vector<int> at_; // slots, the target last
    int n_;
    double ridge_;
    std::vector<int> exponent_;
    std::vector<Wide> diagonal_, target_; // the cells of the diagonal and those of the target's column, always at hand
    std::vector<double> squares_;
    std::vector<char> swept_;
    std::vector<Sweep> sweeps_;
};

LinearModel model_of(const Moments& moments, std::span<const int> slots, const Equations& solved,
                     const std::vector<int>& entered) {
    LinearModel model;
    const int target = moments.size() - 1;
    Wide intercept = moments.mean[target], residual = moments.of(target, target);
    std::vector<Wide> coefficients;
    for (const int i : entered) {
        const Wide coefficient(solved.coefficient(i).value()); // as it is stored
        model.slot.push_back(slots[i]);
        model.coefficient.push_back(coefficient.high);
        coefficients.push_back(coefficient);
        intercept = intercept - coefficient * moments.mean[slots[i]];
    }
    // With a ridge the solved equations have another residual, so it is computed from the coefficients.
    for (size_t a = 0; a < coefficients.size(); ++a) {
        Wide inner;
        for (size_t b = 0; b < coefficients.size(); ++b) {
            inner = inner + coefficients[b] * moments.of(model.slot[a], model.slot[b]);
        }
        residual = residual + coefficients[a] * (inner - Wide(2) * moments.of(model.slot[a], target));
    }
    model.intercept = intercept.value();
    model.residual = std::max(residual.value(), 0.0);
    return model;
}

// n ln(RSS / n) and the price of the parameters; less is better.
double information(double residual, double rows, double parameters, Selection selection) {
    const double price = selection == Selection::bic ? std::log(rows) : 2.0;
    return rows * std::log(residual / rows) + price * parameters;
}

double deviation_share(const Moments& moments, const LinearModel& model, size_t term) {
    const int target = moments.size() - 1, slot = model.slot[term];
    return std::abs(model.coefficient[term]) *
           std::sqrt(moments.of(slot, slot).value() / moments.of(target, target).value());
}

// The model without one of its terms.
LinearModel fit_without(const Moments& moments, const LinearModel& model, size_t term, const ModelOptions& options) {
    std::vector<int> slots = model.slot;
    slots.erase(slots.begin() + static_cast<std::ptrdiff_t>(term));
    return fit_model(moments, slots, options);
}

// M5's choice, as Weka makes it: while a coefficient, in deviations of its term and of the target, is beyond 1.5, the
// largest is dropped, for such terms nearly cancel each other; then the smallest, while Mallows' Cp falls.
LinearModel fit_by_cp(const Moments& moments, std::span<const int> slots, const ModelOptions& options) {
    constexpr double cancelling = 1.5;
    LinearModel model = fit_model(moments, slots, options);
    const auto shares = [&] {
        std::vector<double> found;
        for (size_t i = 0; i < model.slot.size(); ++i) found.push_back(deviation_share(moments, model, i));
        return found;
    };
    while (!model.slot.empty()) {
        const std::vector<double> found = shares();
        const auto largest = std::max_element(found.begin(), found.end());
        if (!(*largest > cancelling)) break;
        model = fit_without(moments, model, static_cast<size_t>(largest - found.begin()), options);
    }
    const double free = moments.rows - static_cast<double>(model.slot.size()) - 1;
    const double unit = model.residual / free; // of all terms that are left
    const auto cp = [&](const LinearModel& one) {
        return one.residual / unit + 2 * static_cast<double>(one.slot.size() + 1);
    };
    while (!model.slot.empty() && free > 0 && unit > 0) {
        const std::vector<double> found = shares();
        const auto smallest = static_cast<size_t>(std::min_element(found.begin(), found.end()) - found.begin());
        LinearModel smaller = fit_without(moments, model, smallest, options);
        if (!(cp(smaller) < cp(model))) break;
        model = std::move(smaller);
    }
    return model;
}

} // namespace

LinearModel fit_model(const Moments& moments, std::span<const int> slots, const ModelOptions& options) {
    Equations equations(moments, slots, options.share_for(moments.rows));
    std::vector<int> entered;
    for (int i = 0; i < static_cast<int>(slots.size()); ++i) {
        if (!equations.can_enter(i)) continue;
        equations.enter(i);
        entered.push_back(i);
    }
    return model_of(moments, slots, equations, entered);
}

LinearModel chosen_model(const Moments& moments, std::span<const int> slots, const ModelOptions& options) {
    if (options.selection == Selection::cp) return fit_by_cp(moments, slots, options);
    constexpr double perfect = 1e-24, tie = 1e-9; // shares of the target's sum of squares
    Equations equations(moments, slots, options.share_for(moments.rows));
    const double all = equations.residual();
    const double affordable = std::floor(moments.rows / options.min_rows_per_term) - 1;
    std::vector<int> entered;
    while (static_cast<int>(entered.size()) < options.max_terms && static_cast<double>(entered.size()) < affordable &&
           equations.residual() > perfect * all) {
        int best = -1;
        double most = 0;
        for (int i = 0; i < static_cast<int>(slots.size()); ++i) {
            if (!equations.can_enter(i)) continue;
            const double gain = equations.gain(i);
            if (gain > most + tie * all * (best >= 0)) {
                most = gain;
                best = i;
            }
        }
        if (best < 0) break;
        if (options.selection != Selection::none) {
            const double before = equations.residual(), after = std::max(before - most, perfect * all);
            const double parameters = 1 + static_cast<double>(entered.size());
            if (!(information(after, moments.rows, parameters + 1, options.selection) <
                  information(before, moments.rows, parameters, options.selection))) {
                break;
            }
        }
        equations.enter(best);
        entered.push_back(best);
    }
    std::sort(entered.begin(), entered.end()); // terms are shown in the order of the columns
    return model_of(moments, slots, equations, entered);
}

} // namespace tw

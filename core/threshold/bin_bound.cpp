#include "threshold/bin_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "threshold/median_scan.hpp"

namespace tw {

namespace {

// The same where rows score a cut.
template <ScoresRows Counter>
double bound_by_medians(const Counter& counter, const Measure& measure, int64_t rows, int64_t first, int64_t last) {
    std::vector<int64_t> order(static_cast<size_t>(rows)); // by target
    std::iota(order.begin(), order.end(), int64_t{0});
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return measure.target[a] < measure.target[b]; });
    std::vector<typename Counter::Item> items;
    Words<Counter> total = zero_words(counter);
    for (const int64_t row : order) {
        items.push_back(counter.item(row));
        counter.add(total.data(), items.back());
    }
    MedianSides<Counter> sides(items, true);
    const auto undivided = sides.deviations();
    for (size_t i = 0; i < order.size(); ++i) {
        if (order[i] < first) sides.move(i);
        if (order[i] >= first && order[i] < last) sides.leave_out(i);
    }
    return static_cast<double>(undivided - sides.deviations()) * counter.unit() / counter.weight(total.data());
}

} // namespace

double bound_of_bin(Criterion criterion, const Measure& measure, int64_t rows, int64_t first, int64_t last) {
    double bound = 0;
    with_counter_of_rows(criterion, measure, [&](const auto& counter) {
        using Counter = std::decay_t<decltype(counter)>;
        if constexpr (ScoresRows<Counter>) {
            bound = bound_by_medians(counter, measure, rows, first, last);
            return;
        } else {
            std::vector<typename Counter::Item> items;
            Words<Counter> total = zero_words(counter), low = total, bin = total, missing = total;
            for (int64_t row = 0; row < rows; ++row) {
                items.push_back(counter.item(row));
                counter.add(total.data(), items.back());
                if (row < first) counter.add(low.data(), items.back());
                if (row >= first && row < last) counter.add(bin.data(), items.back());
            }
            CutRules rules;
            rules.target_range = target_range_of<typename Counter::Item>(items);
            CutScorer<Counter> scorer(counter, rules, total.data(), missing.data(), false);
            // A bound is worked out only as far as it takes to fall short of what is to be beaten; repeat until it
            // cannot.
            double most = std::numeric_limits<double>::infinity(), before;
            do {
                before = most;
                most = std::min(most, scorer.bound(low.data(), bin.data(), before));
            } while (most < before);
            Words<Counter> end = low;
            for (int w = 0; w < counter.words(); ++w) end[w] += bin[w];
            const double ends = std::max({0.0, scorer.gain_at_edge(low.data()), scorer.gain_at_edge(end.data())});
            const auto [over, under] = scorer.leeway(low.data(), bin.data());
            const double root = std::sqrt(ends) + std::sqrt(over / under);
            most = std::min(most, root * root);
            bound = most * counter.unit() / counter.weight(total.data());
        }
    });
    return bound;
}

} // namespace tw

#include "tally.hpp"

#include <algorithm>
#include <cmath>

#include "draw.hpp"

namespace tw {

Entries all_entries(const Recipe& recipe, const Measure& measure, const std::vector<Column>& columns) {
    Entries all;
    for (int64_t row = 0; row < measure.rows; ++row) {
        if (measure.weight_of(row) == 0 || (recipe.drop_blank_rows && is_blank(columns, row))) continue;
        all.push_back({static_cast<uint32_t>(row), measure.weight_of(row)});
    }
    return all;
}

std::vector<double> shares_of(const Recipe& recipe, const Fork& fork, const std::vector<Column>& columns,
                              const Measure& measure, const std::vector<double>& factor, const Entries& entries) {
    const size_t children = fork.children.size();
    const size_t classes = factor.empty() ? 1 : factor.size();
    std::vector<int64_t> known(children * classes, 0);
    const Column& column = columns[fork.split.column];
    const int with_missing = scores_missing(recipe.missing) ? fork.split.missing : no_answer;
    for (const Entry& entry : entries) {
        int child = route(fork.split, column, entry.row);
        if (child == no_answer) child = with_missing;
        if (child >= 0) known[child * classes + (factor.empty() ? 0 : measure.classes[entry.row])] += entry.weight;
    }
    std::vector<double> share(children, 0);
    double total = 0;
    for (size_t i = 0; i < children; ++i) {
        for (size_t c = 0; c < classes; ++c) {
            share[i] += static_cast<double>(known[i * classes + c]) / (factor.empty() ? 1 : factor[c]);
        }
        total += share[i];
    }
    if (!(total > 0)) return fork.split.share;
    for (double& part : share) part /= total;
    return share;
}

Parts divide(const Fork& fork, uint64_t key, const std::vector<double>& share, const std::vector<Column>& columns,
             const Entries& entries) {
    const size_t children = fork.children.size();
    Parts parts;
    parts.of_child.resize(children);
    for (const Entry& entry : entries) {
        int child = destination(fork.split, fork.surrogates, columns, entry.row);
        if (child == random_child) child = draw_child(share, key, hash_row(columns, entry.row));
        if (child >= 0) {
            parts.of_child[child].push_back(entry);
        } else if (child == spread) {
            parts.spread = true;
            for (size_t i = 0; i < children; ++i) {
                const int64_t part = std::llround(static_cast<double>(entry.weight) * share[i]);
                if (part > 0) parts.of_child[i].push_back({entry.row, part});
            }
        } else {
            parts.stopped.push_back(entry);
        }
    }
    return parts;
}

std::vector<double> class_weights(const Measure& measure, const Entries& entries) {
    std::vector<Sum> sums(measure.sums(), 0);
    for (const Entry& entry : entries) measure.add(sums.data(), entry);
    std::vector<double> weights(measure.width());
    measure.read_moments(sums.data(), weights.data());
    return weights;
}

size_t answer_of(const std::vector<double>& cost, std::span<const double> weights) {
    const size_t classes = weights.size();
    if (cost.empty()) return std::max_element(weights.begin(), weights.end()) - weights.begin();
    size_t best = 0;
    double least = 0;
    for (size_t answer = 0; answer < classes; ++answer) {
        double paid = 0;
        for (size_t truth = 0; truth < classes; ++truth) paid += weights[truth] * cost[truth * classes + answer];
        if (answer > 0 && paid >= least) continue;
        best = answer;
        least = paid;
    }
    return best;
}

} // namespace tw

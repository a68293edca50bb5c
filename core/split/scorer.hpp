// Scores the candidates of one column and keeps the best.
//
// Candidates are numbered in the order offered, and the earlier wins a tie (split/ties.hpp); a user's function is
// called once, for all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "criterion/criterion.hpp"
#include "split/ties.hpp"
#include "target/measure.hpp"

namespace tw {

// scores[i] = the user's opinion of candidate i; children has the shape (candidates, children, width).
using CustomScore = std::function<void(std::span<const double> parent, std::span<const double> children, int candidates,
                                       int count, std::span<double> scores)>;

// The task every part of growing shares.
struct Task {
    const Recipe& recipe;
    const Measure& measure;
    const CustomScore& custom;
    int64_t table_rows; // rows the tree is grown on
};

// What candidates are compared with. Policies that score known entries only give the gain the factor known / all and
// count the missing weight as one more part of the split information.
struct Parent {
    std::vector<double> stat;
    double node_weight = 0;
    double factor = 1;
    double missing_weight = 0;
    double impurity = 0; // of all rows of the node: gains are compared to a fraction of it, as in threshold/cut.hpp
};

struct Children {
    int width = 0;
    std::vector<double> stats; // one after the other
    std::vector<int64_t> rows;

    explicit Children(int stat_width) : width(stat_width) {}
    int count() const { return static_cast<int>(rows.size()); }
    void resize(int n) {
        stats.assign(static_cast<size_t>(n) * width, 0.0);
        rows.assign(n, 0);
    }
    double* stat(int i) { return &stats[static_cast<size_t>(i) * width]; }
    Stat stat(int i) const { return {&stats[static_cast<size_t>(i) * width], static_cast<size_t>(width)}; }
};

constexpr double min_split_information = 1e-3; // C4.5: a division with less has no gain ratio

struct Rating {
    double score = 0;
    double gain = 0;
    double information = 0; // split information, for gain ratio
    double decrease = 0;    // of the impurity, whatever the criterion
    Test test;
};

// Weights of fractional rows carry rounding, so sizes are compared with a little patience.
inline double weight_tolerance(const Recipe& recipe) { return std::max(recipe.tie_tolerance, 1e-9); }

Rating rate(const Task& task, const Parent& parent, const Children& children);
// The score of each of these divisions by the user's function; NaN: none.
std::vector<double> custom_scores(const Task& task, const Parent& parent, std::span<const Children> divisions);

// Whether scores are at most of the size of the node's impurity.
inline bool has_impurity_scale(Criterion criterion) {
    return is_mean_impurity(criterion) || criterion == Criterion::gain_ratio;
}

// How the candidates of a node are compared. Mean impurities and gain ratio are at most of the size of the node's
// impurity, so rounding is relative to it; other scores to themselves.
TieRule tie_rule(const Task& task, double impurity);

class CandidateScorer {
public:
    // `by_gain`: compare by gain even where the score is a ratio. `min_side`: least weight of each non-empty child.
    CandidateScorer(const Task& task, const Parent& parent, bool by_gain, double min_side);

    // `same_cut`: the division of the candidate before, with the missing entries in another child. Of these the best
    // stands for all.
    void offer(const Children& children, bool same_cut = false);

    struct Best {
        int best = -1; // number of the best candidate, -1: none allowed
        double score = 0;
        int allowed = 0;
    };
    Best close();

private:
    bool allowed(const Children& children) const;
    void consider(int cut, int candidate, double score);
    void finish_cut();
    void score_custom();

    const Task& task_;
    const Parent& parent_;
    bool by_gain_;
    double min_side_;
    TieRule ties_;
    int offered_ = 0, allowed_ = 0, cut_ = 0, last_cut_ = 0;
    struct Scored {
        int candidate = -1;
        double score = 0;
    };
    FirstOfBest<Scored> best_, best_of_cut_;
    struct Waiting {
        int cut, candidate;
    };
    std::vector<Waiting> waiting_; // for the user's function
    std::vector<Children> waiting_children_;
};

} // namespace tw

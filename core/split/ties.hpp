// The tie rule: of all scores within a tolerance of the largest, the first wins.
//
// The winner does not depend on what is searched when: a chain of scores, each within the tolerance of the one before,
// has one winner too.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace tw {

// Scores that differ by no more are equal but for rounding, relative to the larger or to the scale of all scores.
constexpr double rounding = 1e-12;

// The first of the best among scores that come in the order that decides ties. Only a score above all earlier ones can
// win; those that still can are kept, and nearly always that is one.
template <class Item>
class FirstOfBest {
public:
    struct Entry {
        double score = -std::numeric_limits<double>::infinity();
        Item item{};
    };

    bool found() const { return most_ > -std::numeric_limits<double>::infinity(); }
    double most() const { return most_; } // the largest score
    const Entry& winner() const { return first_; }

    // `least`: the smallest score that ties with this one. It rises with the score.
    void offer(double score, double least, const Item& item) {
        if (!(score > most_)) return;
        if (!found() || (later_.empty() && first_.score < least)) {
            first_ = {score, item};
        } else {
            keep(score, least, item);
        }
        most_ = score;
    }
    // The first of at least this score; null: there is none.
    const Entry* first_from(double least) const {
        if (!found() || most_ < least) return nullptr;
        if (first_.score >= least) return &first_;
        return &*std::find_if(later_.begin(), later_.end(), [&](const Entry& entry) { return entry.score >= least; });
    }

private:
    void keep(double score, double least, const Item& item) {
        later_.push_back({score, item});
        if (!(first_.score < least)) return;
        auto next = later_.begin();
        while (next->score < least) ++next;
        first_ = *next;
        later_.erase(later_.begin(), next + 1);
    }

    double most_ = -std::numeric_limits<double>::infinity();
    Entry first_;
    std::vector<Entry> later_; // rising, none below the last `least`
};

// Which scores tie.
struct TieRule {
    double tolerance = 0;  // scores no further apart
    double relative = 0;   // or no further than this share of the larger
    bool in_order = false; // J48: a later score wins only by more than the tolerance over the best so far

    double least(double most) const {
        return std::isfinite(most) ? most - std::max(tolerance, relative * std::abs(most)) : most;
    }
    template <class Item>
    void offer(FirstOfBest<Item>& best, double score, const Item& item) const {
        if (!(score > best.most())) return;
        if (!in_order) return best.offer(score, least(score), item);
        if (best.found() && !(best.most() < least(score))) return;
        best.offer(score, score, item);
    }
};

} // namespace tw

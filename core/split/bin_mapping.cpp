// A mapping of bins to children, as statistics of the children and as a split.
#include <algorithm>
#include <cmath>
#include <limits>

#include "split/branching.hpp"

namespace tw {
namespace {

void to_breaks(const ColumnFacts& facts, const std::vector<int>& child_of_level, Split& split) {
    split.child_of_bin.clear();
    for (int level = 0; level < facts.levels; ++level) {
        const int child = child_of_level[level];
        if (!split.child_of_bin.empty() && split.child_of_bin.back() == child) continue;
        if (!split.child_of_bin.empty()) split.breaks.push_back(facts.bounds[level - 1]);
        split.child_of_bin.push_back(child);
    }
}

double stored_threshold(const Task& task, const ColumnFacts& facts, double below, double above) {
    const double middle = midpoint(below, above, task.recipe.threshold.closed);
    if (!task.recipe.threshold.observed) return middle;
    // J48 finds the observed value with its usual tolerance; it must still lie below the upper side.
    const double limit = std::min(middle + task.recipe.tie_tolerance, std::nextafter(above, below));
    const auto next = std::upper_bound(facts.distinct.begin(), facts.distinct.end(), limit);
    return next == facts.distinct.begin() ? middle : *(next - 1);
}

int last_of_most(std::span<const int64_t> rows) {
    return static_cast<int>(rows.rend() - std::max_element(rows.rbegin(), rows.rend())) - 1;
}

} // namespace

bool scores_missing(Missing missing) { return missing == Missing::own || missing == Missing::learned; }

double midpoint(double below, double above, bool closed) {
    const double middle = below / 2 + above / 2;
    // Neighbouring doubles have no number between them: the midpoint rounds onto one of the two.
    if (closed) return middle >= above ? below : middle;
    return middle <= below ? above : middle;
}

int level_of(const Histogram& histogram, int bin) { return static_cast<int>(histogram.at[bin]); }

// Missing becomes a level of its own: one more bin, the last.
Histogram with_missing_level(Histogram histogram) {
    if (!histogram.has_missing()) return histogram;
    histogram.at.push_back(missing_level); // the missing entries are the last bin;
                                           // now it counts, and none are missing
    histogram.append();
    if (!histogram.member_start.empty()) histogram.member_start.push_back(histogram.members.size());
    return histogram;
}

Parent parent_of(const Task& task, const NodeFacts& node, const Histogram& histogram) {
    Parent parent;
    parent.node_weight = node.weight;
    parent.impurity = impurity(task.recipe.criterion, node.stat, task.measure.offset);
    if (scores_missing(task.recipe.missing)) {
        parent.stat = node.stat;
        return parent;
    }
    Accumulator known(task.measure, histogram);
    for (int i = 0; i < histogram.size(); ++i) known.add(histogram.bin(i));
    parent.stat.resize(task.measure.width());
    known.read(parent.stat.data());
    const double weight = weight_of(task.recipe.criterion, parent.stat);
    parent.factor = histogram.has_missing() ? weight / node.weight : 1;
    parent.missing_weight = histogram.has_missing() ? std::max(0.0, node.weight - weight) : 0;
    return parent;
}

Children children_of(const Task& task, const Histogram& histogram, const BinMapping& mapping) {
    Children children(task.measure.width());
    children.resize(mapping.children);
    std::vector<Accumulator> accumulators(mapping.children, Accumulator(task.measure, histogram));
    for (int i = 0; i < histogram.size(); ++i) accumulators[mapping.child[i]].add(histogram.bin(i));
    if (mapping.missing >= 0) accumulators[mapping.missing].add(histogram.missing());
    for (int i = 0; i < mapping.children; ++i) {
        accumulators[i].read(children.stat(i));
        children.rows[i] = accumulators[i].rows();
    }
    return children;
}

int upper_child(const Task& task, std::span<const double> children) {
    const size_t width = static_cast<size_t>(task.measure.width());
    int upper = 0;
    double largest = -std::numeric_limits<double>::infinity();
    for (size_t at = 0; at < children.size(); at += width) {
        const Stat child = children.subspan(at, width);
        const double weight = weight_of(task.recipe.criterion, child);
        if (!(weight > 0)) continue;
        double mean = task.measure.statistic == Statistic::medians ? child[1] : child[1] / weight;
        for (int c = 2; c < task.measure.n_classes; ++c) mean += c * child[static_cast<size_t>(c)] / weight;
        if (mean > largest) {
            largest = mean;
            upper = static_cast<int>(at / width);
        }
    }
    return upper;
}

void set_missing_policy(const Task& task, int missing_child, std::span<const int64_t> rows, Split& split) {
    const int largest = largest_share(split);
    const bool unit_weights = std::count(split.share.begin(), split.share.end(), split.share[largest]) > 1;
    switch (task.recipe.missing) {
        case Missing::fractional:
            split.missing = fractional;
            break;
        case Missing::surrogates:
            split.missing = task.recipe.surrogates_then_majority && !unit_weights ? largest : stop_here;
            break;
        case Missing::own:
            split.missing = missing_child >= 0 ? missing_child : largest;
            break;
        case Missing::learned: // without missing entries, as scikit-learn: the child of most rows, of equals the last
            split.missing = missing_child >= 0 ? missing_child : last_of_most(rows);
            break;
        case Missing::majority:
            split.missing = largest;
            break;
        case Missing::random:
            split.missing = random_child;
            break;
        case Missing::ignore:
        case Missing::refuse:
            split.missing = stop_here;
            break;
    }
    split.unseen = task.recipe.unseen_to_majority ? largest : as_missing;
}

Split split_of(const Task& task, const ColumnFacts& facts, const Histogram& histogram, const BinMapping& mapping,
               const Children& children, const std::vector<int>& absent) {
    Split split;
    split.column = histogram.column;
    split.closed = facts.quantile_binned || task.recipe.threshold.closed;
    double total = 0;
    for (int i = 0; i < mapping.children; ++i) total += weight_of(task.recipe.criterion, children.stat(i));
    for (int i = 0; i < mapping.children; ++i) {
        split.share.push_back(weight_of(task.recipe.criterion, children.stat(i)) / total);
    }
    int missing_child = mapping.missing;
    if (facts.kind == Kind::number) {
        split.child_of_bin.push_back(mapping.child[0]);
        for (int i = 0; i + 1 < histogram.size(); ++i) {
            if (mapping.child[i] == mapping.child[i + 1]) continue;
            split.breaks.push_back(stored_threshold(task, facts, histogram.at[i], histogram.at[i + 1]));
            split.child_of_bin.push_back(mapping.child[i + 1]);
        }
    } else {
        std::vector<int> child_of_level = absent;
        for (int i = 0; i < histogram.size(); ++i) {
            const int level = level_of(histogram, i);
            if (level == missing_level) {
                missing_child = mapping.child[i];
            } else {
                child_of_level[level] = mapping.child[i];
            }
        }
        if (facts.quantile_binned) {
            to_breaks(facts, child_of_level, split);
        } else {
            split.child_of_bin.assign(child_of_level.begin(), child_of_level.end());
        }
    }
    split.upper = upper_child(task, children.stats);
    set_missing_policy(task, missing_child, children.rows, split);
    return split;
}

} // namespace tw

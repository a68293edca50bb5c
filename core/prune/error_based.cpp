#include "prune/error_based.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "criterion/criterion.hpp"
#include "criterion/leaf_value.hpp"

namespace tw {
namespace {

class Pruner {
public:
    Pruner(const FlatTree& flat, const std::vector<Column>& columns, const Recipe& recipe, const Measure& measure,
           const ErrorBased& choice)
        : flat_(flat),
          columns_(columns),
          recipe_(recipe),
          measure_(measure),
          choice_(choice),
          limit_(choice.confidence, choice.deviate),
          all_rows_(flat.stats.row(0)),
          routing_(routing_nodes_of(flat)),
          moved_(routing_.size(), false),
          by_values_(routing_.size(), true),
          weights_(routing_.size()),
          leaf_errors_(routing_.size(), 0),
          stats_(routing_.size()),
          value_(routing_.size()) {
        pruned_.kept.assign(routing_.size(), 0);
        pruned_.leaf.assign(routing_.size(), 0);
        pruned_.rows = flat.rows;
        pruned_.weight = flat.weight;
        pruned_.impurity = flat.impurity;
        pruned_.share = flat.share;
    }

    ErrorPruned run() {
        replace();
        describe();
        pruned_.stats = updated(flat_.stats, stats_);
        pruned_.value = updated(flat_.value, value_);
        return std::move(pruned_);
    }

private:
    // A node on the path from the root; its children are decided before it. A list and no recursion: trees may be deep.
    struct Frame {
        int node;
        uint64_t key;
        Entries entries;
        std::vector<double> counts;
        RoutedRows routed;
        std::vector<std::pair<size_t, size_t>> returned; // the range of `entries` that each child gave back
        size_t next = 0;
        double below = 0; // estimated errors of the children decided, and of entries that stop here
    };

    Frame enter(int node, uint64_t key, Entries entries) {
        Frame frame{node, key, std::move(entries), {}, {}, {}};
        std::vector<Weight> weights(measure_.n_classes, 0);
        add_weights(frame.entries, weights);
        frame.counts = counts_of(weights);
        weights_[node].clear();
        for (size_t c = 0; c < weights.size(); ++c) {
            if (weights[c] != 0) weights_[node].push_back({c, weights[c]});
        }
        const RoutingNode& routing = routing_[node];
        by_values_[node] = true;
        if (!routing.children.empty()) {
            frame.routed = route(node, key, frame.entries);
            frame.returned.resize(frame.routed.of_child.size());
            frame.below = stopped(frame.routed.stopped, frame.counts);
            by_values_[node] = frame.routed.by_values;
            // Every entry is in one child: children give theirs back, so that deep trees do not hold rows twice.
            if (!frame.routed.fractional) frame.entries = std::move(frame.routed.stopped);
        }
        return frame;
    }

    RoutedRows route(int node, uint64_t key, const Entries& entries) const {
        return route_rows(recipe_, routing_[node], key, columns_, measure_, choice_.factor, entries);
    }

    using Weight = int64_t; // per class, in the measure's units; the weight of all rows fits (measure.cpp)
    struct ClassWeight {
        size_t label;
        Weight weight;
    };

    void add_weights(const Entries& entries, std::vector<Weight>& weights) const {
        for (const Entry& entry : entries) weights[measure_.classes[entry.row]] += entry.weight;
    }

    std::vector<double> counts_of(const std::vector<Weight>& weights) const {
        std::vector<double> counts(measure_.n_classes);
        for (size_t c = 0; c < counts.size(); ++c) counts[c] = static_cast<double>(weights[c]) * measure_.weight_unit;
        return counts;
    }

    std::vector<double> counts_of(const Entries& entries) const {
        std::vector<Weight> weights(measure_.n_classes, 0);
        add_weights(entries, weights);
        return counts_of(weights);
    }

    // Estimated errors on entries of these counts if the class of the counts `whole` is predicted.
    double estimated_errors(const std::vector<double>& counts, const std::vector<double>& whole) const {
        double cases = 0;
        for (double count : counts) cases += count;
        const double errors = std::max(0.0, cases - counts[predicted_class(choice_.cost, whole)]);
        return errors + limit_.extra(cases, errors);
    }

    double as_leaf(const std::vector<double>& counts) const { return estimated_errors(counts, counts); }

    // Entries that stop at a node are predicted by it.
    double stopped(const Entries& entries, const std::vector<double>& whole) const {
        return entries.empty() ? 0 : estimated_errors(counts_of(entries), whole);
    }

    // The estimated errors of the node's largest branch if it had all entries of the node; inexact above `most`.
    double raised_errors(const Frame& frame, size_t largest, double most) const {
        const int branch = routing_[frame.node].children[largest];
        if (by_values_[branch] && !frame.routed.fractional) {
            const auto at = [&](size_t i) { return frame.entries.begin() + static_cast<ptrdiff_t>(i); };
            const auto [begin, end] = frame.returned[largest];
            Entries others(frame.entries.begin(), at(begin));
            others.insert(others.end(), at(end), frame.entries.end());
            if (const auto errors = errors_with(branch, frame.key, std::move(others), most)) return *errors;
        }
        return subtree_errors(branch, frame.key, frame.entries, most);
    }

    // The estimated errors of a decided subtree with further entries; given up above `most`. The subtree's own entries
    // stay in their leaves, as their way depends on their values alone; nothing is returned where a further entry's way
    // depends on more.
    std::optional<double> errors_with(int top, uint64_t key, Entries further, double most) const {
        struct Visit {
            int node;
            Entries further;
        };
        std::vector<Visit> open;
        open.push_back({top, std::move(further)});
        double errors = 0;
        while (!open.empty() && errors <= most) {
            const Visit visit = std::move(open.back());
            open.pop_back();
            const std::vector<int32_t>& children = routing_[visit.node].children;
            if (visit.further.empty()) {
                if (children.empty()) errors += leaf_errors_[visit.node];
                for (size_t i = children.size(); i-- > 0;) open.push_back({children[i], {}});
            } else if (children.empty()) {
                std::vector<Weight> weights(measure_.n_classes, 0);
                for (const ClassWeight& own : weights_[visit.node]) weights[own.label] = own.weight;
                add_weights(visit.further, weights);
                errors += as_leaf(counts_of(weights));
            } else {
                RoutedRows routed = route(visit.node, key, visit.further);
                if (!routed.by_values) return std::nullopt;
                for (size_t i = children.size(); i-- > 0;) open.push_back({children[i], std::move(routed.of_child[i])});
            }
        }
        return errors;
    }

    // The estimated errors of a subtree if these entries came to it; given up above `most`.
    double subtree_errors(int top, uint64_t key, const Entries& entries, double most) const {
        struct Visit {
            int node;
            uint64_t key;
            Entries entries;
        };
        std::vector<Visit> open{{top, key, entries}};
        double errors = 0;
        while (!open.empty() && errors <= most) {
            const Visit visit = std::move(open.back());
            open.pop_back();
            const RoutingNode& routing = routing_[visit.node];
            if (routing.children.empty()) {
                errors += as_leaf(counts_of(visit.entries));
                continue;
            }
            RoutedRows routed = route(visit.node, visit.key, visit.entries);
            errors += stopped(routed.stopped, counts_of(visit.entries));
            for (size_t i = routing.children.size(); i-- > 0;) {
                Entries& rows = routed.of_child[i];
                if (!rows.empty()) open.push_back({routing.children[i], child_key(visit.key, i), std::move(rows)});
            }
        }
        return errors;
    }

    bool at_most(double a, double b) const { return a <= b + recipe_.tie_tolerance; }

    size_t largest_child(const std::vector<double>& share) const {
        size_t largest = 0; // the last among equals
        for (size_t i = 1; i < share.size(); ++i) {
            if (at_most(share[largest], share[i])) largest = i;
        }
        return largest;
    }

    void replace() {
        std::vector<Frame> path;
        path.push_back(enter(0, root_key(recipe_.seed), training_entries(recipe_, measure_, columns_)));
        while (!path.empty()) {
            Frame& frame = path.back();
            if (frame.next < frame.routed.of_child.size()) {
                const size_t child = frame.next++;
                Entries& rows = frame.routed.of_child[child];
                if (rows.empty()) continue;
                path.push_back(
                    enter(routing_[frame.node].children[child], child_key(frame.key, child), std::move(rows)));
                continue;
            }
            const double leaf = leaf_errors_[frame.node] = as_leaf(frame.counts);
            double errors = leaf;
            if (!routing_[frame.node].children.empty()) {
                const int branch = better(frame, leaf);
                if (branch >= 0) {
                    raise(path, branch);
                    continue;
                }
                if (routing_[frame.node].children.empty()) {
                    by_values_[frame.node] = true;
                } else {
                    errors = frame.below;
                }
            }
            keep_counts(frame);
            const Entries done = std::move(frame.entries);
            const bool by_values = by_values_[frame.node];
            path.pop_back();
            if (path.empty()) break;
            Frame& above = path.back();
            above.below += errors;
            by_values_[above.node] = by_values_[above.node] && by_values;
            if (above.routed.fractional) continue;
            const size_t begin = above.entries.size();
            above.entries.insert(above.entries.end(), done.begin(), done.end());
            above.returned[above.next - 1] = {begin, above.entries.size()};
        }
    }

    // Makes the node a leaf if that is best; returns the branch to raise, or -1.
    int better(const Frame& frame, double leaf) {
        RoutingNode& routing = routing_[frame.node];
        const size_t largest = largest_child(frame.routed.share);
        const int branch = routing.children[largest];
        const double most = frame.below + choice_.margin;
        // Past `most` the branch can neither be raised nor keep a leaf from being made, so its exact number is not
        // needed.
        const double raised = raised_errors(frame, largest, most + recipe_.tie_tolerance);
        if (at_most(leaf, most) && at_most(leaf, raised + choice_.margin)) {
            routing.children.clear();
            pruned_.leaf[frame.node] = 1;
            pruned_.replacements.push_back({frame.node, -1, leaf, frame.below});
            return -1;
        }
        if (!at_most(raised, most)) return -1;
        pruned_.replacements.push_back({frame.node, branch, raised, frame.below});
        return branch;
    }

    // The branch replaces the last node of the path, and everything below it is decided again with all rows.
    void raise(std::vector<Frame>& path, int branch) {
        Frame& frame = path.back();
        if (path.size() > 1) {
            Frame& above = path[path.size() - 2];
            routing_[above.node].children[above.next - 1] = branch;
        } else {
            root_ = branch;
        }
        frame = enter(branch, frame.key, std::move(frame.entries));
    }

    void keep_counts(const Frame& frame) {
        if (!moved(frame)) return;
        if (!frame.routed.share.empty()) routing_[frame.node].split.share = frame.routed.share;
        moved_[frame.node] = true;
        pruned_.rows[frame.node] = static_cast<int64_t>(frame.entries.size());
        stats_[frame.node] = Packed(frame.counts);
    }

    // Whether other rows are at the node than were when it was grown; the same rows may add up to other last bits.
    bool moved(const Frame& frame) const {
        double total = 0, difference = 0;
        const std::vector<double> known = row_of(flat_.stats, stats_, frame.node);
        for (size_t c = 0; c < frame.counts.size(); ++c) {
            total += frame.counts[c];
            difference += std::abs(frame.counts[c] - known[c]);
        }
        return difference > 1e-9 * total;
    }

    // The numbers of a node: the new ones, or those of the tree as it came.
    static std::vector<double> row_of(const NodeTable& old, const std::vector<Packed>& changed, size_t node) {
        return changed[node].size() > 0 ? changed[node].all() : old.row(node);
    }

    static NodeTable updated(const NodeTable& old, const std::vector<Packed>& changed) {
        NodeTable table(changed.size(), old.width());
        for (size_t node = 0; node < changed.size(); ++node) table.append(Packed(row_of(old, changed, node)));
        return table;
    }

    // Marks the nodes that remain and updates their statistics and values where their rows have changed.
    void describe() {
        struct Step {
            int node;
            int parent;
        };
        std::vector<Step> open{{root_, -1}};
        while (!open.empty()) {
            const Step step = open.back();
            open.pop_back();
            const int node = step.node;
            pruned_.kept[node] = 1;
            const RoutingNode& routing = routing_[node];
            if (!routing.children.empty()) {
                std::copy(routing.split.share.begin(), routing.split.share.end(),
                          pruned_.share.begin() + flat_.share_start[flat_.split_start[node]]);
            }
            update_value(node, step.parent);
            for (int child : routing.children) open.push_back({child, node});
        }
    }

    void update_value(int node, int parent) {
        if (pruned_.rows[node] == 0) {
            // A majority was set when the tree was grown; a distribution is that of the parent as it is now.
            if (!recipe_.empty_takes_majority && parent >= 0) {
                value_[node] = Packed(row_of(flat_.value, value_, parent));
            }
            return;
        }
        if (!moved_[node]) return;
        const std::vector<double> stat = stats_[node].all();
        std::vector<double> seen = stat, value(stat.size());
        for (size_t c = 0; c < choice_.factor.size(); ++c) seen[c] /= choice_.factor[c];
        pruned_.weight[node] = weight_of(recipe_.criterion, stat);
        pruned_.impurity[node] = impurity(recipe_.criterion, seen, 0);
        class_probabilities(recipe_, stat, all_rows_, value.data());
        value_[node] = Packed(value);
    }

    const FlatTree& flat_;
    const std::vector<Column>& columns_;
    const Recipe& recipe_;
    const Measure& measure_;
    const ErrorBased& choice_;
    ErrorLimit limit_;
    std::vector<double> all_rows_; // the class weights of all rows
    std::vector<RoutingNode> routing_;
    std::vector<bool> moved_;                       // per node
    std::vector<bool> by_values_;                   // per node decided: RoutedRows::by_values, in its subtree too
    std::vector<std::vector<ClassWeight>> weights_; // per node decided: the classes of its rows
    std::vector<double> leaf_errors_;               // per node decided: estimated errors as a leaf
    std::vector<Packed> stats_, value_;             // per node: empty where it keeps those of `flat_`
    int root_ = 0;
    ErrorPruned pruned_;
};

} // namespace

ErrorPruned prune_by_errors(const FlatTree& flat, const std::vector<Column>& columns, const Recipe& recipe,
                            const Measure& measure, const ErrorBased& choice) {
    return Pruner(flat, columns, recipe, measure, choice).run();
}

} // namespace tw

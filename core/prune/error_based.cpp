#include "prune/error_based.hpp"

#include <algorithm>
#include <cmath>

#include "criterion/criterion.hpp"
#include "criterion/leaf_value.hpp"

namespace tw {
namespace {

class Pruner {
public:
    Pruner(const FlatTree& flat, const std::vector<Column>& columns, const Recipe& recipe, const Measure& measure,
           const ErrorBased& choice)
        : columns_(columns),
          recipe_(recipe),
          measure_(measure),
          choice_(choice),
          limit_(choice.confidence, choice.deviate),
          routing_(routing_nodes_of(flat)),
          moved_(routing_.size(), false),
          pruned_{std::vector<int32_t>(routing_.size(), 0),
                  std::vector<int32_t>(routing_.size(), 0),
                  flat.rows,
                  flat.weight,
                  {flat.stats.begin(), flat.stats.end()},
                  {flat.value.begin(), flat.value.end()},
                  flat.impurity,
                  flat.share,
                  {}} {}

    ErrorPruned run(const FlatTree& flat) {
        replace();
        describe(flat);
        return std::move(pruned_);
    }

private:
    // A node on the way down; its children are done before it. The way is a list and no recursion: trees may be deep.
    struct Frame {
        int node;
        uint64_t key;
        Entries entries;
        std::vector<double> counts;
        std::vector<double> share;
        RoutedRows routed;
        size_t next = 0;
        double below = 0; // estimated errors of the children done, and of entries that stop here
    };

    Frame enter(int node, uint64_t key, Entries entries) {
        Frame frame{node, key, std::move(entries), {}, {}, {}};
        frame.counts = class_weights(measure_, frame.entries);
        const RoutingNode& routing = routing_[node];
        if (!routing.children.empty()) {
            frame.share = child_shares(recipe_, routing, columns_, measure_, choice_.factor, frame.entries);
            frame.routed = route_rows(routing, key, frame.share, columns_, frame.entries);
            frame.below = stopped(frame.routed.stopped, frame.counts);
            // Every entry is in one part: those done bring theirs back, so that deep trees do not hold rows twice.
            if (!frame.routed.fractional) frame.entries = std::move(frame.routed.stopped);
        }
        return frame;
    }

    // Estimated errors, on entries of these counts, of a leaf that answers as the counts `whole` say.
    double estimated_errors(const std::vector<double>& counts, const std::vector<double>& whole) const {
        double cases = 0;
        for (double count : counts) cases += count;
        const double errors = std::max(0.0, cases - counts[predicted_class(choice_.cost, whole)]);
        return errors + limit_.extra(cases, errors);
    }

    double as_leaf(const std::vector<double>& counts) const { return estimated_errors(counts, counts); }

    // Entries that stop at a node are answered by it.
    double stopped(const Entries& entries, const std::vector<double>& whole) const {
        return entries.empty() ? 0 : estimated_errors(class_weights(measure_, entries), whole);
    }

    // What a subtree would promise if these entries came to it; given up once it is more than `most`.
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
                errors += as_leaf(class_weights(measure_, visit.entries));
                continue;
            }
            const std::vector<double> share =
                child_shares(recipe_, routing, columns_, measure_, choice_.factor, visit.entries);
            RoutedRows routed = route_rows(routing, visit.key, share, columns_, visit.entries);
            errors += stopped(routed.stopped, class_weights(measure_, visit.entries));
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
            const double leaf = as_leaf(frame.counts);
            double errors = leaf;
            if (!routing_[frame.node].children.empty()) {
                const int branch = better(frame, leaf);
                if (branch >= 0) {
                    raise(path, branch);
                    continue;
                }
                if (!routing_[frame.node].children.empty()) errors = frame.below;
            }
            keep_counts(frame);
            const Entries done = std::move(frame.entries);
            path.pop_back();
            if (path.empty()) break;
            Frame& above = path.back();
            above.below += errors;
            if (!above.routed.fractional) above.entries.insert(above.entries.end(), done.begin(), done.end());
        }
    }

    // Makes the node a leaf if that is best; returns the branch to raise, or -1.
    int better(const Frame& frame, double leaf) {
        RoutingNode& routing = routing_[frame.node];
        const int branch = routing.children[largest_child(frame.share)];
        const double most = frame.below + choice_.margin;
        // Past `most` the branch can neither be raised nor keep a leaf from being made, so its exact number is not
        // needed.
        const double raised = subtree_errors(branch, frame.key, frame.entries, most + recipe_.tie_tolerance);
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

    // The branch takes the place of the node on top of the way, and everything below is decided again with all rows.
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
        const size_t width = frame.counts.size();
        if (!moved(frame)) return;
        routing_[frame.node].split.share = frame.share;
        moved_[frame.node] = true;
        pruned_.rows[frame.node] = static_cast<int64_t>(frame.entries.size());
        std::copy(frame.counts.begin(), frame.counts.end(),
                  pruned_.stats.begin() + static_cast<ptrdiff_t>(frame.node * width));
    }

    // Whether other rows are at the node than were when it was grown; the same rows may add up to other last bits.
    bool moved(const Frame& frame) const {
        double total = 0, apart = 0;
        for (size_t c = 0; c < frame.counts.size(); ++c) {
            total += frame.counts[c];
            apart += std::abs(frame.counts[c] - pruned_.stats[frame.node * frame.counts.size() + c]);
        }
        return apart > 1e-9 * total;
    }

    // Marks the nodes that remain and brings what they tell up to date where their rows have changed.
    void describe(const FlatTree& flat) {
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
                          pruned_.share.begin() + flat.share_start[flat.split_start[node]]);
            }
            update_value(flat, node, step.parent);
            for (int child : routing.children) open.push_back({child, node});
        }
    }

    void update_value(const FlatTree& flat, int node, int parent) {
        const int classes = measure_.n_classes;
        const Stat stat(&pruned_.stats[static_cast<size_t>(node) * classes], classes);
        double* value = &pruned_.value[static_cast<size_t>(node) * classes];
        if (pruned_.rows[node] == 0) {
            // A majority was handed down for good; a distribution is the parent's, whatever it is now.
            if (!recipe_.empty_takes_majority && parent >= 0) {
                const double* above = &pruned_.value[static_cast<size_t>(parent) * classes];
                std::copy(above, above + classes, value);
            }
            return;
        }
        if (!moved_[node]) return;
        std::vector<double> seen(stat.begin(), stat.end());
        for (size_t c = 0; c < choice_.factor.size(); ++c) seen[c] /= choice_.factor[c];
        pruned_.weight[node] = weight_of(recipe_.criterion, stat);
        pruned_.impurity[node] = impurity(recipe_.criterion, seen, 0);
        class_probabilities(recipe_, stat, Stat(flat.stats.data(), classes), value);
    }

    const std::vector<Column>& columns_;
    const Recipe& recipe_;
    const Measure& measure_;
    const ErrorBased& choice_;
    ErrorLimit limit_;
    std::vector<RoutingNode> routing_;
    std::vector<bool> moved_; // per node
    int root_ = 0;
    ErrorPruned pruned_;
};

} // namespace

ErrorPruned prune_by_errors(const FlatTree& flat, const std::vector<Column>& columns, const Recipe& recipe,
                            const Measure& measure, const ErrorBased& choice) {
    return Pruner(flat, columns, recipe, measure, choice).run(flat);
}

} // namespace tw

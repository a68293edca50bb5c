#include "grow/grow.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "base/hash.hpp"
#include "base/thread_pool.hpp"
#include "criterion/leaf_value.hpp"
#include "grow/choose.hpp"
#include "grow/simplify.hpp"

namespace tw {
namespace {

class Grower {
public:
    Grower(RowStore& rows, const Task& task, ThreadPool& pool, const Costs& costs, const GrowOptions& options)
        : rows_(rows), task_(task), pool_(pool), costs_(costs), followers_(options.followers), options_(options) {
        for (const ColumnFacts& facts : rows.training().facts) facts_.push_back(&facts);
    }

    std::vector<GrownNode> run(const Given* given) {
        GrownNode root;
        root.key = root_key(task_.recipe.seed);
        if (followers_) {
            root.followers.resize(followers_->size());
            std::iota(root.followers.begin(), root.followers.end(), 0U);
        }
        nodes_.push_back(std::move(root));
        const Total total = rows_.total(0);
        root_.stat = stat_of(total);
        root_.weight = weight_of(task_.recipe.criterion, root_.stat);
        describe(0, total);
        if (options_.bare) root_.sure_leaf_risk = risk_of_sure_leaves(task_.recipe, costs_, nodes_[0]);
        const int start = given ? follow(given->path) : 0;
        if (given && given->split) {
            divide(start, *given->split);
        } else if (task_.recipe.stopping.max_leaf_nodes == std::numeric_limits<int64_t>::max()) {
            breadth_first(start);
        } else {
            best_first(start);
        }
        return std::move(nodes_);
    }

    // The subtree of a node that is already described; the rows are its rows alone.
    std::vector<GrownNode> run_below(GrownNode top, const RootStats& root) {
        root_ = root;
        nodes_.push_back(std::move(top));
        breadth_first(0);
        return std::move(nodes_);
    }

private:
    // A node's statistics as criteria read them.
    std::vector<double> stat_of(const Total& total) const {
        Accumulator accumulator(task_.measure, total.all);
        accumulator.add(total.all.bin(0));
        std::vector<double> stat(static_cast<size_t>(task_.measure.width()));
        accumulator.read(stat.data());
        return stat;
    }

    // Sends rows the given way and returns the node where it ends.
    int follow(const std::vector<GivenStep>& path) {
        int id = 0;
        for (const auto& [split, surrogates, child] : path) {
            reopen(id);
            GrownNode& node = nodes_[id];
            node.chosen = std::make_unique<Candidate>();
            node.chosen->split = split;
            for (const Split& surrogate : surrogates) node.surrogates.push_back({surrogate, 0, 0});
            for (const int made : partition({id})) {
                if (made != nodes_[id].children[child]) close(made);
            }
            id = nodes_[id].children[child];
        }
        return id;
    }

    // Splits a node as given, whatever the recipe would choose; its children stay leaves.
    void divide(int id, const GivenSplit& given) {
        const Stop stop = nodes_[id].stop;
        reopen(id);
        GrownNode& node = nodes_[id];
        std::vector<Candidate> others;
        if (stop == Stop::none) {
            Recipe recipe = task_.recipe;
            if (recipe.rivals > 0) ++recipe.rivals; // one of them may be the given split itself
            const Task task{recipe, task_.measure, task_.custom, task_.table_rows};
            others = std::move(rows_.candidates(task, {{id, {node.weight, node.stat, node.key}}}, pool_)[0]);
        }
        Decision decision = choose_given(task_, node, root_.weight, rows_.training(), rows_.entries(id), given, others);
        node.against = stop != Stop::none ? stop : decision.stop;
        node.chosen = std::move(decision.chosen);
        node.gain = node.chosen->rating.gain;
        node.rivals = std::move(decision.rivals);
        node.keeps_missing = given.missing.has_value();
        if (task_.recipe.missing == Missing::surrogates && !node.keeps_missing) find_surrogates({id});
        for (const int child : partition({id})) close(child);
    }

    // A node with a split that is given, even if the recipe would leave it whole.
    void reopen(int id) {
        nodes_[id].given = true;
        nodes_[id].stop = Stop::none;
        nodes_[id].stat = stat_of(rows_.total(id));
    }

    void close(int id) {
        if (nodes_[id].stop == Stop::none) nodes_[id].stop = Stop::by_hand;
        forget_stat(nodes_[id]);
    }

    // Fills in what the node is; its stop reason if it needs no looking at.
    void describe(int id, const Total& total) {
        GrownNode& node = nodes_[id];
        const Bin bin = total.all.bin(0);
        const Measure& measure = task_.measure;
        node.rows = bin.rows;
        node.stat.resize(measure.width());
        double median = 0;
        if (measure.statistic == Statistic::medians) {
            Accumulator accumulator(measure, total.all);
            accumulator.add(bin);
            accumulator.read(node.stat.data());
            if (node.rows > 0) median = accumulator.median();
        } else {
            measure.read(bin.stat, node.stat.data());
        }
        std::vector<double> reported(static_cast<size_t>(measure.width()));
        measure.to_report(bin.stat, reported.data());
        // Next to targets of another size a mean is rounded; it still lies among the node's own.
        if (measure.n_classes == 0 && node.rows > 0) reported[1] = std::clamp(reported[1], total.low, total.high);
        node.weight = weight_of(task_.recipe.criterion, node.stat);
        node.impurity = impurity(task_.recipe.criterion, node.stat, measure.offset);
        node.pure = is_pure(node, total);
        if (node.pure) node.impurity = 0;
        node.value = leaf_value(node, total, median, reported);
        node.reported = Packed(reported);
        node.stop = stop_before_search(task_, node);
        const double limit = root_.sure_leaf_risk;
        const bool is_sure_leaf = limit >= 0 && leaf_risk(task_.recipe, costs_, node) <= limit;
        if (node.stop == Stop::none && is_sure_leaf) node.stop = Stop::complexity;
        if (node.stop != Stop::none) forget_stat(node);
    }

    // What criteria read of a node is large where classes are many, and of no use once the node cannot be divided.
    static void forget_stat(GrownNode& node) { std::vector<double>().swap(node.stat); }

    bool is_pure(const GrownNode& node, const Total& total) const {
        if (node.rows == 0) return true;
        if (task_.measure.n_classes == 0) return total.low == total.high;
        return node.weight - *std::max_element(node.stat.begin(), node.stat.end()) <= task_.recipe.tie_tolerance;
    }

    Packed leaf_value(const GrownNode& node, const Total& total, double median,
                      const std::vector<double>& reported) const {
        if (node.rows == 0 && node.parent >= 0) {
            const GrownNode& parent = nodes_[node.parent];
            return empty_leaf_value(task_.recipe, parent.value, parent.stat);
        }
        if (task_.measure.n_classes == 0) {
            const bool takes_median = task_.measure.statistic == Statistic::medians;
            const double value = total.low == total.high ? total.low : takes_median ? median : reported[1];
            return Packed(std::span(&value, 1));
        }
        std::vector<double> value(node.stat.size());
        class_probabilities(task_.recipe, node.stat, root_.stat, value.data());
        return Packed(value);
    }

    // Decides about each of these nodes: a chosen split, or a reason to stop.
    void decide(const std::vector<int>& open) {
        std::vector<OpenNode> open_nodes;
        for (int id : open) open_nodes.push_back({id, {nodes_[id].weight, nodes_[id].stat, nodes_[id].key}});
        std::vector<std::vector<Candidate>> candidates = rows_.candidates(task_, open_nodes, pool_);
        for (size_t i = 0; i < open.size(); ++i) {
            GrownNode& node = nodes_[open[i]];
            Decision decision = choose(task_, node, root_.weight, std::move(candidates[i]), facts_);
            node.stop = decision.stop;
            node.chosen = std::move(decision.chosen);
            node.rivals = std::move(decision.rivals);
            if (node.chosen) node.gain = node.chosen->rating.gain;
            if (is_pruned(node) && !settles_majority()) make_pruned_leaf(node);
            if (node.stop != Stop::none) forget_stat(node);
        }
        if (task_.recipe.missing == Missing::surrogates) find_surrogates(still_open(open));
        report_progress(open);
    }

    // Whether the node is to be divided no more although it could be.
    bool is_pruned(const GrownNode& node) const {
        return options_.kept && node.stop == Stop::none && options_.kept->stop[static_cast<size_t>(node.kept)] != 0;
    }
    void make_pruned_leaf(GrownNode& node) {
        for (const int child : node.children) nodes_[child].stop = Stop::pruned; // they are not grown
        make_leaf(task_.recipe, node, static_cast<Stop>(options_.kept->stop[static_cast<size_t>(node.kept)]));
    }
    // Where a missing value goes then is known only once the rows are divided.
    bool settles_majority() const { return task_.recipe.majority_of_all && task_.recipe.surrogates_then_majority; }

    // Whether a row of the node, or one that follows, goes by a surrogate if there is one.
    bool needs_surrogates(const GrownNode& node) const {
        if (node.chosen->has_missing) return true;
        const Split& split = node.chosen->split;
        const Column& column = columns()[static_cast<size_t>(split.column)];
        return std::any_of(node.followers.begin(), node.followers.end(), [&](uint32_t follower) {
            const int child = route(split, column, (*followers_)[follower]);
            return child == value_missing || (child == level_unseen && split.unseen == as_missing);
        });
    }

    void find_surrogates(std::vector<int> ids) {
        const size_t most = static_cast<size_t>(task_.recipe.max_surrogates);
        if (most == 0) return;
        if (followers_) std::erase_if(ids, [&](int id) { return !needs_surrogates(nodes_[id]); });
        std::vector<ChosenSplit> chosen;
        for (const int id : ids) chosen.push_back({id, &nodes_[id].chosen->split});
        std::vector<std::vector<Surrogate>> found = rows_.surrogates(task_, chosen, pool_);
        for (size_t i = 0; i < ids.size(); ++i) {
            nodes_[ids[i]].surrogates = best_surrogates(std::move(found[i]), most);
        }
    }

    // Gives each of these nodes its children and returns them.
    std::vector<int> partition(const std::vector<int>& decided) {
        std::vector<int> made;
        std::vector<NodeSplit> splits;
        for (int id : decided) {
            const int first = static_cast<int>(nodes_.size());
            splits.push_back({id, nodes_[id].key, nodes_[id].chosen->split, surrogate_splits(nodes_[id]), first});
            for (int c = 0; c < nodes_[id].chosen->split.children(); ++c) {
                GrownNode child;
                child.parent = id;
                child.depth = nodes_[id].depth + 1;
                child.key = child_key(nodes_[id].key, static_cast<size_t>(c));
                if (const auto& kept = options_.kept; kept && !is_pruned(nodes_[id])) {
                    child.kept = kept->children[static_cast<size_t>(kept->child_start[nodes_[id].kept] + c)];
                }
                made.push_back(static_cast<int>(nodes_.size()));
                nodes_.push_back(std::move(child));
            }
            nodes_[id].children = {first, static_cast<int>(nodes_.size())};
        }
        if (made.empty()) return made;
        rows_.partition(std::move(splits), task_.recipe.stopping.max_depth - nodes_[made.back()].depth, pool_);
        pool_.run(static_cast<int64_t>(made.size()), [&](int64_t i) { describe(made[i], rows_.total(made[i])); });
        for (int id : made) refuse_undivided(nodes_[id]);
        for (int id : decided) forget_stat(nodes_[id]);
        report_progress(made);
        for (int id : decided) {
            if (settles_majority() && !nodes_[id].keeps_missing) {
                nodes_[id].chosen->split.missing = majority_child(nodes_, nodes_[id]);
            }
            if (is_pruned(nodes_[id])) make_pruned_leaf(nodes_[id]);
        }
        for (int id : decided) {
            if (followers_) send_followers(nodes_[id]);
            if (!options_.keeps_splits) nodes_[id].forget_split();
        }
        return made;
    }

    // Followers go where prediction sends them: by the split as it is when the node is done.
    void send_followers(GrownNode& node) {
        const std::vector<Split> surrogates = surrogate_splits(node);
        const Split& split = node.chosen->split;
        erase_if(node.followers, [&](uint32_t follower) {
            const int64_t row = (*followers_)[follower];
            const int child = route_row(split, surrogates, columns(), row, split.share, node.key).child;
            if (child >= 0) nodes_[node.children[child]].followers.push_back(follower);
            return child >= 0;
        });
    }
    const std::vector<Column>& columns() const { return rows_.training().table.columns; }

    // A split divides its node, or growing would never end: it does, unless values are not what they were.
    void refuse_undivided(const GrownNode& child) const {
        if (child.rows < nodes_[child.parent].rows) return;
        throw std::runtime_error(
            "the table was changed while a tree was grown from it; give a copy that is not written to");
    }

    // A row is done with once it lies in a leaf.
    void report_progress(const std::vector<int>& ids) {
        int64_t done = 0;
        for (int id : ids) done += nodes_[id].stop == Stop::none ? 0 : nodes_[id].rows;
        if (done > 0) pool_.advance(static_cast<double>(done) / static_cast<double>(task_.table_rows));
    }

    std::vector<int> still_open(const std::vector<int>& ids) const {
        std::vector<int> open;
        for (int id : ids) {
            if (nodes_[id].stop == Stop::none) open.push_back(id);
        }
        return open;
    }

    void breadth_first(int start) {
        std::vector<int> open = still_open({start});
        std::vector<int> detached;
        while (!open.empty()) {
            const auto large = std::stable_partition(open.begin(), open.end(), [&](int id) {
                const int64_t levels = task_.recipe.stopping.max_depth - nodes_[id].depth;
                return !rows_.should_detach(id, levels);
            });
            detached.insert(detached.end(), large, open.end());
            open.erase(large, open.end());
            decide(open);
            open = still_open(partition(still_open(open)));
        }
        grow_detached(detached);
    }

    // Subtrees that need nothing of each other: each is grown by one thread, large ones first, and put in its place.
    void grow_detached(std::vector<int> tops) {
        std::stable_sort(tops.begin(), tops.end(), [&](int a, int b) { return nodes_[a].rows > nodes_[b].rows; });
        std::vector<std::pair<int, std::vector<GrownNode>>> subtrees;
        for (size_t done = 0; done < tops.size();) {
            const size_t first = done;
            std::vector<MakeRows> makers = rows_.detach(std::span<const int>(tops).subspan(first));
            done += makers.size();
            subtrees.resize(done);
            const auto grow_one = [&](int64_t i) {
                const int top = tops[first + static_cast<size_t>(i)];
                const std::unique_ptr<RowStore> rows = makers[static_cast<size_t>(i)]();
                subtrees[first + static_cast<size_t>(i)] = {
                    top, Grower(*rows, task_, pool_, costs_, options_).run_below(std::move(nodes_[top]), root_)};
            };
            try {
                if (done - first == 1) {
                    grow_one(0); // with the help of all threads
                } else {
                    pool_.run(static_cast<int64_t>(done - first), grow_one);
                }
            } catch (...) {
                // Freeing many nodes takes a while; after Ctrl-C the user waits for it, so all threads help.
                pool_.run(static_cast<int64_t>(done),
                          [&](int64_t i) { std::vector<GrownNode>().swap(subtrees[i].second); });
                throw;
            }
        }
        // In the order of nodes, so that their numbers do not depend on sizes.
        std::sort(subtrees.begin(), subtrees.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        size_t grown = nodes_.size();
        for (const auto& [top, subtree] : subtrees) grown += subtree.size();
        nodes_.reserve(grown);
        for (auto& [top, subtree] : subtrees) graft(nodes_, top, std::move(subtree));
    }

    void best_first(int start) {
        std::vector<int> waiting = still_open({start});
        decide(waiting);
        waiting = still_open(waiting);
        int64_t leaves =
            std::count_if(nodes_.begin(), nodes_.end(), [](const GrownNode& node) { return node.children.empty(); });
        while (!waiting.empty()) {
            const auto worth = [&](int id) { return nodes_[id].weight * nodes_[id].chosen->rating.decrease; };
            const auto best =
                std::max_element(waiting.begin(), waiting.end(), [&](int a, int b) { return worth(a) < worth(b); });
            const int id = *best;
            waiting.erase(best);
            const int more = nodes_[id].chosen->split.children() - 1;
            if (leaves + more > task_.recipe.stopping.max_leaf_nodes) {
                nodes_[id].stop = Stop::leaf_limit;
                nodes_[id].surrogates.clear();
                nodes_[id].rivals.insert(nodes_[id].rivals.begin(), std::move(*nodes_[id].chosen));
                continue;
            }
            leaves += more;
            std::vector<int> open = still_open(partition({id}));
            decide(open);
            for (int child : still_open(open)) waiting.push_back(child);
        }
    }

    RowStore& rows_;
    const Task& task_;
    ThreadPool& pool_;
    const Costs& costs_;
    const std::optional<Followers>& followers_;
    const GrowOptions& options_;
    RootStats root_;
    std::vector<const ColumnFacts*> facts_;
    std::vector<GrownNode> nodes_;
};

} // namespace

std::vector<GrownNode> grow(RowStore& rows, const Task& task, ThreadPool& pool, const Costs& costs,
                            const GrowOptions& options) {
    std::vector<GrownNode> nodes = Grower(rows, task, pool, costs, options).run(options.given);
    restore_class_weights(task.recipe, costs, nodes);
    if (!options.kept) simplify(task.recipe, costs, nodes);
    return nodes;
}

} // namespace tw

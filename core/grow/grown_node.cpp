#include "grow/grown_node.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "threshold/histogram_scan.hpp"

namespace tw {
namespace {

void append_split(FlatTree& flat, const Split& split, double score, double adjusted, const Rating& rating,
                  double log_multiplier) {
    flat.column.push_back(split.column);
    flat.closed.push_back(split.closed ? 1 : 0);
    flat.missing.push_back(split.missing);
    flat.unseen.push_back(split.unseen);
    flat.score.push_back(score);
    flat.adjusted.push_back(adjusted);
    flat.split_gain.push_back(rating.gain);
    flat.statistic.push_back(rating.test.statistic);
    flat.degrees.push_back(rating.test.degrees);
    flat.log_p.push_back(rating.test.log_p);
    flat.log_multiplier.push_back(log_multiplier);
    // Zero without a sign: which of 0.0 and -0.0 a column has first depends on the order of rows.
    for (double edge : split.breaks) flat.breaks.push_back(edge + 0.0);
    flat.break_start.push_back(static_cast<int32_t>(flat.breaks.size()));
    flat.child_of_bin.insert(flat.child_of_bin.end(), split.child_of_bin.begin(), split.child_of_bin.end());
    flat.bin_start.push_back(static_cast<int32_t>(flat.child_of_bin.size()));
    flat.share.insert(flat.share.end(), split.share.begin(), split.share.end());
    flat.share_start.push_back(static_cast<int32_t>(flat.share.size()));
}

void append_candidate(FlatTree& flat, const Candidate& candidate) {
    append_split(flat, candidate.split, candidate.rating.score, 0, candidate.rating, candidate.log_multiplier);
}

void append_splits(FlatTree& flat, const GrownNode& node) {
    flat.n_surrogates.push_back(static_cast<int32_t>(node.surrogates.size()));
    if (!node.children.empty()) append_candidate(flat, *node.chosen);
    for (const Surrogate& surrogate : node.surrogates) {
        append_split(flat, surrogate.split, surrogate.agreement, surrogate.adjusted, Rating{}, 0);
    }
    for (const Candidate& rival : node.rivals) append_candidate(flat, rival);
    flat.split_start.push_back(static_cast<int32_t>(flat.column.size()));
}

void append_node(FlatTree& flat, const GrownNode& node, int parent, const std::vector<int32_t>& new_id) {
    flat.parent.push_back(parent);
    flat.depth.push_back(node.depth);
    flat.stop.push_back(static_cast<int32_t>(node.stop));
    flat.rows.push_back(node.rows);
    flat.weight.push_back(node.weight);
    flat.stats.append(node.reported);
    flat.value.append(node.value);
    flat.impurity.push_back(node.impurity);
    flat.gain.push_back(node.children.empty() ? 0 : node.gain);
    for (int child : node.children) flat.children.push_back(new_id[child]);
    flat.child_start.push_back(static_cast<int32_t>(flat.children.size()));
}

} // namespace

DepthFirst::DepthFirst(const std::vector<GrownNode>& nodes) : new_id(nodes.size(), -1) {
    order.reserve(nodes.size());
    std::vector<int> open{0};
    while (!open.empty()) {
        const int node = open.back();
        open.pop_back();
        new_id[node] = static_cast<int32_t>(order.size());
        order.push_back(node);
        const auto children = nodes[node].children;
        for (const int child : children) prefetch(&nodes[child]);
        for (const int child : std::views::reverse(children)) open.push_back(child);
    }
}

FlatTree flatten(const std::vector<GrownNode>& nodes, const DepthFirst& depth_first, bool with_splits) {
    const auto& [order, new_id] = depth_first;
    FlatTree flat;
    flat.stats = NodeTable(order.size(), nodes[0].reported.size());
    flat.value = NodeTable(order.size(), nodes[0].value.size());
    each_array(flat, [&](const char*, auto& values) { values.reserve(order.size() + 1); });
    for (auto* start : {&flat.child_start, &flat.split_start, &flat.break_start, &flat.bin_start, &flat.share_start}) {
        start->push_back(0);
    }
    constexpr size_t ahead = 8; // the nodes stand in another order, far apart
    for (size_t i = 0; i < order.size(); ++i) {
        const int node = order[i];
        if (i + 2 * ahead < order.size()) prefetch(&nodes[order[i + 2 * ahead]]);
        if (i + ahead < order.size()) prefetch(nodes[order[i + ahead]].chosen.get());
        if (node % 4096 == 0) check_interrupt();
        const int parent = nodes[node].parent;
        append_node(flat, nodes[node], parent < 0 ? -1 : new_id[parent], new_id);
        if (with_splits) append_splits(flat, nodes[node]);
    }
    return flat;
}

std::vector<int32_t> follower_nodes(const std::vector<GrownNode>& nodes, const DepthFirst& depth_first,
                                    size_t followers) {
    const std::vector<int32_t>& new_id = depth_first.new_id;
    std::vector<int32_t> found(followers, 0);
    for (size_t i = 0; i < nodes.size(); ++i) {
        size_t node = i;
        while (new_id[node] < 0) node = static_cast<size_t>(nodes[node].parent);
        for (const uint32_t follower : nodes[i].followers) found[follower] = new_id[node];
    }
    return found;
}

std::vector<Split> surrogate_splits(const GrownNode& node) {
    std::vector<Split> splits;
    for (const Surrogate& surrogate : node.surrogates) splits.push_back(surrogate.split);
    return splits;
}

int majority_child(const std::vector<GrownNode>& nodes, const GrownNode& node) {
    int largest = 0;
    for (size_t c = 1; c < node.children.size(); ++c) {
        if (nodes[node.children[c]].rows > nodes[node.children[largest]].rows) largest = static_cast<int>(c);
    }
    const auto equals = std::count_if(node.children.begin(), node.children.end(), [&](int child) {
        return nodes[child].rows == nodes[node.children[largest]].rows;
    });
    return equals > 1 ? stop_here : largest;
}

void forget(std::vector<GrownNode> nodes, ThreadPool& pool) {
    constexpr size_t block = 1 << 9;
    pool.run(static_cast<int64_t>((nodes.size() + block - 1) / block), [&](int64_t b) {
        const size_t begin = static_cast<size_t>(b) * block, end = std::min(nodes.size(), begin + block);
        for (size_t i = begin; i < end; ++i) nodes[i] = GrownNode();
    });
}

void graft(std::vector<GrownNode>& nodes, int position, std::vector<GrownNode> subtree) {
    const int shift = static_cast<int>(nodes.size()) - 1; // node 0 of the subtree is the place itself
    const int parent = nodes[position].parent;
    const auto moved = [&](int id) { return id == 0 ? position : id + shift; };
    for (size_t i = 0; i < subtree.size(); ++i) {
        GrownNode& node = subtree[i];
        node.parent = i == 0 ? parent : moved(node.parent);
        if (!node.children.empty()) node.children = {node.children.front() + shift, node.children.back() + shift + 1};
        if (i == 0) {
            nodes[position] = std::move(node);
        } else {
            nodes.push_back(std::move(node));
        }
    }
}

} // namespace tw

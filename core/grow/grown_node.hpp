// The tree while it grows: a list of nodes, a parent before its children.
#pragma once

#include <cstdint>
#include <memory>
#include <ranges>
#include <vector>

#include "base/flat_tree.hpp"
#include "base/packed.hpp"
#include "base/thread_pool.hpp"
#include "split/branching.hpp"
#include "split/surrogate.hpp"

namespace tw {

// Why a node has no children. Python words these (tree.py); the numbers are part of the saved format.
enum class Stop {
    none = 0,
    pure = 1,
    depth = 2,
    few_rows = 3,
    no_column = 4,
    no_gain = 5,
    small_children = 6,
    leaf_limit = 7,
    low_impurity = 8,
    not_significant = 9,
    collapsed = 10,
    complexity = 11,
    empty = 12,
    small_decrease = 13,
    pruned = 14,
    by_hand = 15,
};

struct GrownNode {
    int parent = -1;
    int depth = 0;
    std::ranges::iota_view<int, int> children; // which stand one after the other
    std::unique_ptr<Candidate> chosen;         // of inner nodes
    uint64_t key = 0;                          // names the node by its path, for draws
    int64_t rows = 0;
    double weight = 0;
    std::vector<double> stat; // as criteria read it; only while the node may still be divided
    Packed reported;          // as the tree reports it
    Packed value;
    double impurity = 0;
    double gain = 0; // of the split that was chosen
    bool pure = false;
    Stop stop = Stop::none;
    bool given = false;         // its split was given, not searched
    bool keeps_missing = false; // and where it sends missing values
    Stop against = Stop::none;  // why the recipe would not have chosen the split that was given
    std::vector<Surrogate> surrogates;
    std::vector<Candidate> rivals;
    int kept = 0;                       // its number in the tree it is to become (KeptNodes)
    SmallVector<uint32_t, 2> followers; // those that end here, by their number (grow/grow.hpp)

    // The memory is then that of the next split, while it still lies in the nearest cache.
    void forget_split() {
        chosen.reset();
        surrogates.clear();
    }
};

// The whole table, which some rules compare a node with.
struct RootStats {
    double weight = 0;
    std::vector<double> stat;
    double sure_leaf_risk = -1; // nodes that risk no more need no search (risk_of_sure_leaves)
};

// The nodes of the tree, depth first, and the place of each in that order; -1: cut off while the tree was simplified.
struct DepthFirst {
    std::vector<int> order;
    std::vector<int32_t> new_id;

    explicit DepthFirst(const std::vector<GrownNode>& nodes);
};

// `with_splits`: otherwise the arrays of splits stay empty.
FlatTree flatten(const std::vector<GrownNode>& nodes, const DepthFirst& depth_first, bool with_splits = true);

// The node of the flat tree where each of so many followers ends.
std::vector<int32_t> follower_nodes(const std::vector<GrownNode>& nodes, const DepthFirst& depth_first,
                                    size_t followers);

// The splits of the node's surrogates.
std::vector<Split> surrogate_splits(const GrownNode& node);
// The child where most rows ended, which rpart's predict follows, not the one where most known ones went; stop_here if
// there are several.
int majority_child(const std::vector<GrownNode>& nodes, const GrownNode& node);
// Frees many nodes, which takes one thread as long as growing some of them.
void forget(std::vector<GrownNode> nodes, ThreadPool& pool);
// Puts a subtree, grown apart, in the place of a node.
void graft(std::vector<GrownNode>& nodes, int position, std::vector<GrownNode> subtree);

} // namespace tw

#include "predict/branchless_walk.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tw {
namespace {

// Steps between two looks at whether all rows have arrived; a shallow tree is walked down without looking.
constexpr int steps_at_once = 4, shallow = 16;

// The largest float that is not above x: for floats, being above the one is being above the other.
float float_below(double x) {
    constexpr float most = std::numeric_limits<float>::max();
    if (x >= most) return most;
    if (x < -most) return -std::numeric_limits<float>::infinity();
    const float near = static_cast<float>(x);
    return static_cast<double>(near) <= x ? near : std::nextafter(near, -std::numeric_limits<float>::infinity());
}

} // namespace

BranchlessTree::BranchlessTree(const std::vector<WalkNode>& walk_nodes) : node_{0} {
    // Level by level; a place's children are added behind all places there are.
    int depth = 0;
    size_t level_end = 1;
    for (size_t slot = 0; slot < node_.size(); ++slot) {
        if (slot == level_end) {
            ++depth;
            level_end = node_.size();
        }
        const WalkNode& walk_node = walk_nodes[node_[slot]];
        const auto here = static_cast<int32_t>(slot), next = static_cast<int32_t>(node_.size());
        // The comparison at a leaf is ignored; the root's column is one that every row has shown already.
        const double limit = walk_node.leaf ? std::numeric_limits<double>::infinity() : walk_node.limit;
        const int32_t column = walk_node.leaf ? walk_nodes[0].column : walk_node.column;
        twice_.push_back({limit, column, walk_node.leaf ? here : next});
        single_.push_back({walk_node.leaf ? std::numeric_limits<float>::infinity() : float_below(limit), column,
                           walk_node.leaf ? here : next});
        if (walk_node.leaf) continue;
        node_.insert(node_.end(), {walk_node.child[0], walk_node.child[1]});
        columns_.push_back(walk_node.column);
    }
    levels_at_once_ = depth <= shallow ? depth : steps_at_once;
    std::sort(columns_.begin(), columns_.end());
    columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
}

BranchlessTable::BranchlessTable(const BranchlessTree& tree, const std::vector<Column>& columns) {
    if (tree.empty()) return;
    const Numbers& root = columns[tree.columns_[0]].numbers;
    single_ = root.single();
    stride_ = root.stride();
    const bool alike = std::all_of(tree.columns_.begin(), tree.columns_.end(), [&](int32_t column) {
        const Numbers& numbers = columns[column].numbers;
        return numbers.single() == single_ && numbers.stride() == stride_;
    });
    if (!alike) return;
    first_.resize(columns.size());
    for (const int32_t column : tree.columns_) {
        first_[column] = static_cast<const char*>(columns[column].numbers.address(0));
    }
}

template <class Value>
void BranchlessTree::walk_as(const std::vector<Slot<Value>>& slots, const BranchlessTable& table, int64_t begin,
                             std::span<int32_t> end) const {
    const char* const* first = table.first_.data();
    const Slot<Value>* tree = slots.data();
    const std::ptrdiff_t stride = table.stride_;
    const size_t rows = end.size();
    std::array<int32_t, rows_per_walk> at{};
    bool moving = true;
    while (moving) {
        for (int i = 0; i < levels_at_once_; ++i) {
            std::ptrdiff_t offset = begin * stride;
            for (size_t r = 0; r < rows; ++r, offset += stride) {
                const Slot<Value>& slot = tree[at[r]];
                const Value x = *reinterpret_cast<const Value*>(first[slot.column] + offset);
                at[r] = slot.first_child + static_cast<int32_t>(x > slot.limit);
            }
        }
        moving = false;
        for (size_t r = 0; r < rows; ++r) moving |= tree[at[r]].first_child != at[r];
    }
    for (size_t r = 0; r < rows; ++r) end[r] = node_[at[r]];
}

void BranchlessTree::walk(const BranchlessTable& table, int64_t begin, std::span<int32_t> end) const {
    if (table.single_) {
        walk_as(single_, table, begin, end);
    } else {
        walk_as(twice_, table, begin, end);
    }
}

} // namespace tw

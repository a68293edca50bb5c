#include "plain_walk.hpp"

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

PlainTree::PlainTree(const std::vector<Step>& steps) : node_{0} {
    // Level by level; a place's children are added behind all places there are.
    int depth = 0;
    size_t level_end = 1;
    for (size_t place = 0; place < node_.size(); ++place) {
        if (place == level_end) {
            ++depth;
            level_end = node_.size();
        }
        const Step& step = steps[node_[place]];
        const auto here = static_cast<int32_t>(place), next = static_cast<int32_t>(node_.size());
        // What a leaf asks is ignored; the root's column is one that every row has shown already.
        const double limit = step.leaf ? std::numeric_limits<double>::infinity() : step.limit;
        const int32_t column = step.leaf ? steps[0].column : step.column;
        twice_.push_back({limit, column, step.leaf ? here : next});
        single_.push_back(
            {step.leaf ? std::numeric_limits<float>::infinity() : float_below(limit), column, step.leaf ? here : next});
        if (step.leaf) continue;
        node_.insert(node_.end(), {step.child[0], step.child[1]});
        asked_.push_back(step.column);
    }
    stride_ = depth <= shallow ? depth : steps_at_once;
    std::sort(asked_.begin(), asked_.end());
    asked_.erase(std::unique(asked_.begin(), asked_.end()), asked_.end());
}

PlainTable::PlainTable(const PlainTree& tree, const std::vector<Column>& columns) {
    if (tree.empty()) return;
    const Numbers& root = columns[tree.asked_[0]].numbers;
    single_ = root.single();
    apart_ = root.apart();
    const bool alike = std::all_of(tree.asked_.begin(), tree.asked_.end(), [&](int32_t column) {
        const Numbers& numbers = columns[column].numbers;
        return numbers.single() == single_ && numbers.apart() == apart_;
    });
    if (!alike) return;
    first_.resize(columns.size());
    for (const int32_t column : tree.asked_) {
        first_[column] = static_cast<const char*>(columns[column].numbers.address(0));
    }
}

template <class Value>
void PlainTree::walk_as(const std::vector<Place<Value>>& places, const PlainTable& table, int64_t begin,
                        std::span<int32_t> end) const {
    const char* const* first = table.first_.data();
    const Place<Value>* tree = places.data();
    const std::ptrdiff_t apart = table.apart_;
    const size_t rows = end.size();
    std::array<int32_t, side_by_side> at{};
    bool moving = true;
    while (moving) {
        for (int i = 0; i < stride_; ++i) {
            std::ptrdiff_t offset = begin * apart;
            for (size_t r = 0; r < rows; ++r, offset += apart) {
                const Place<Value>& place = tree[at[r]];
                const Value x = *reinterpret_cast<const Value*>(first[place.column] + offset);
                at[r] = place.first_child + static_cast<int32_t>(x > place.limit);
            }
        }
        moving = false;
        for (size_t r = 0; r < rows; ++r) moving |= tree[at[r]].first_child != at[r];
    }
    for (size_t r = 0; r < rows; ++r) end[r] = node_[at[r]];
}

void PlainTree::walk(const PlainTable& table, int64_t begin, std::span<int32_t> end) const {
    if (table.single_) {
        walk_as(single_, table, begin, end);
    } else {
        walk_as(twice_, table, begin, end);
    }
}

} // namespace tw

// The fast path of prediction: trees whose splits are all thresholds on numbers, walked without branches.
//
// Columns must have one type and stride, and no value may be missing.
#pragma once

#include <span>
#include <vector>

#include "base/table.hpp"

namespace tw {

// A node as most are: numbers up to a limit go to one child, larger ones to the other. A leaf leads to itself.
struct WalkNode {
    double limit = 0;
    int32_t column = 0;
    int32_t child[2] = {0, 0};
    bool is_threshold = false;
    bool leaf = false;
};

constexpr size_t rows_per_walk = 32; // rows that walk together

class BranchlessTree;

// The numbers of a table whose columns have one precision and one distance between values.
class BranchlessTable {
public:
    BranchlessTable(const BranchlessTree& tree, const std::vector<Column>& columns);
    bool usable() const { return !first_.empty(); }

private:
    friend class BranchlessTree;
    std::vector<const char*> first_; // per column
    std::ptrdiff_t stride_ = 0;
    bool single_ = false;
};

class BranchlessTree {
public:
    BranchlessTree() = default;
    explicit BranchlessTree(const std::vector<WalkNode>& walk_nodes); // every one plain or a leaf, the first one plain

    bool empty() const { return node_.empty(); }
    // At most `rows_per_walk` rows from `begin` on.
    void walk(const BranchlessTable& table, int64_t begin, std::span<int32_t> end) const;

private:
    friend class BranchlessTable;
    // Children lie side by side, so that one number names both. A leaf's limit is never passed and leads to itself.
    template <class Value>
    struct Slot {
        Value limit;
        int32_t column;
        int32_t first_child;
    };
    template <class Value>
    void walk_as(const std::vector<Slot<Value>>& slots, const BranchlessTable& table, int64_t begin,
                 std::span<int32_t> end) const;

    std::vector<Slot<double>> twice_;
    std::vector<Slot<float>> single_;
    std::vector<int32_t> node_;    // per place
    std::vector<int32_t> columns_; // columns
    int levels_at_once_ = 0;
};

} // namespace tw

// The quick way down: trees that ask of numbers alone whether they are above a limit.
//
// Comes in: the steps of such a tree, and a table whose columns lie alike. Goes out: the node where each row ends.
// Always holds: no step needs a branch, and none of the rows lacks a value.
#pragma once

#include <span>
#include <vector>

#include "table.hpp"

namespace tw {

// A node as most are: numbers up to a limit go to one child, larger ones to the other. A leaf leads to itself.
struct Step {
    double limit = 0;
    int32_t column = 0;
    int32_t child[2] = {0, 0};
    bool plain = false;
    bool leaf = false;
};

constexpr size_t side_by_side = 32; // rows that walk together

class PlainTree;

// The numbers of a table whose columns have one precision and one distance between values.
class PlainTable {
public:
    PlainTable(const PlainTree& tree, const std::vector<Column>& columns);
    bool usable() const { return !first_.empty(); }

private:
    friend class PlainTree;
    std::vector<const char*> first_; // per column
    std::ptrdiff_t apart_ = 0;
    bool single_ = false;
};

class PlainTree {
public:
    PlainTree() = default;
    explicit PlainTree(const std::vector<Step>& steps); // every one plain or a leaf, the first one plain

    bool empty() const { return node_.empty(); }
    // At most `side_by_side` rows from `begin` on.
    void walk(const PlainTable& table, int64_t begin, std::span<int32_t> end) const;

private:
    friend class PlainTable;
    // Children lie side by side, so that one number names both. A leaf's limit is never passed and leads to itself.
    template <class Value>
    struct Place {
        Value limit;
        int32_t column;
        int32_t first_child;
    };
    template <class Value>
    void walk_as(const std::vector<Place<Value>>& places, const PlainTable& table, int64_t begin,
                 std::span<int32_t> end) const;

    std::vector<Place<double>> twice_;
    std::vector<Place<float>> single_;
    std::vector<int32_t> node_;  // per place
    std::vector<int32_t> asked_; // columns
    int stride_ = 0;
};

} // namespace tw

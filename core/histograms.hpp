// Histograms of nodes: which must be counted, and which are what remains of their parent.
//
// Comes in: families as nodes are divided, histograms as they are counted. Goes out: a histogram for every node asked
// for. Always holds: of two siblings that share all of their parent's rows only the smaller is counted; histograms of
// nodes that can no longer be parents are not kept, but their memory is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "pool.hpp"

namespace tw {

template <class Word>
class Histograms {
public:
    using Histogram = std::vector<Word>; // all bins of all columns

    void reserve(size_t nodes) {
        family_.resize(std::max(family_.size(), nodes));
        kept_.resize(family_.size());
    }
    // A node of so many rows was divided into these two.
    void divided(int node, int first, size_t rows) {
        family_[first] = {node, first + 1, rows};
        family_[first + 1] = {node, first, rows};
    }

    // Which nodes must be counted so that all of these can be known; `size(node)` is a node's rows.
    template <class Size>
    std::vector<int> to_count(const std::vector<int>& nodes, const Size& size) {
        std::vector<int> counted;
        remaining_.clear();
        for (const int node : nodes) {
            if (!kept_[node].empty()) continue; // counted before it was asked for
            if (!is_remainder(node, size)) {
                counted.push_back(node);
                continue;
            }
            remaining_.push_back(node);
            if (kept_[family_[node].sibling].empty()) counted.push_back(family_[node].sibling);
        }
        std::sort(counted.begin(), counted.end());
        counted.erase(std::unique(counted.begin(), counted.end()), counted.end());
        return counted;
    }
    // Once these are counted: the others, by subtraction.
    void subtract(Pool& pool) {
        for (const int node : remaining_) kept_[node] = std::move(kept_[family_[node].parent]);
        pool.run(static_cast<int64_t>(remaining_.size()), [&](int64_t i) {
            Histogram& rest = kept_[remaining_[i]];
            const Histogram& part = kept_[family_[remaining_[i]].sibling];
            for (size_t cell = 0; cell < rest.size(); ++cell) rest[cell] -= part[cell];
        });
    }

    Histogram& of(int node) { return kept_[node]; }
    // Room for a node's counts, all zero.
    Histogram& make(int node, size_t cells) {
        if (!unused_.empty()) {
            kept_[node] = std::move(unused_.back());
            unused_.pop_back();
        }
        kept_[node].assign(cells, Word{0});
        return kept_[node];
    }
    // Only these nodes can still be parents.
    void keep_only(const std::vector<int>& nodes) {
        std::vector<bool> wanted(kept_.size(), false);
        for (const int node : nodes) wanted[node] = true;
        for (size_t node = 0; node < kept_.size(); ++node) {
            if (wanted[node] || kept_[node].empty()) continue;
            unused_.push_back(std::move(kept_[node]));
            kept_[node].clear();
        }
    }

private:
    struct Family {
        int parent = -1, sibling = -1; // of a node with one sibling
        size_t rows = 0;               // of the parent
    };

    // Whether the node is its parent less its smaller sibling, and both are still there to tell.
    template <class Size>
    bool is_remainder(int node, const Size& size) const {
        const Family& family = family_[node];
        if (family.parent < 0 || kept_[family.parent].empty()) return false;
        const size_t own = size(node), other = size(family.sibling);
        return own + other == family.rows && (own > other || (own == other && node > family.sibling));
    }

    std::vector<Family> family_;  // per node
    std::vector<Histogram> kept_; // per node, empty where none is kept
    std::vector<Histogram> unused_;
    std::vector<int> remaining_; // of the last look at what to count
};

} // namespace tw

// Histograms of open nodes: which must be counted, and which are the difference of parent and sibling.
//
// Of two siblings that share all of their parent's rows only the smaller is counted. Memory of histograms that are no
// longer needed is reused.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/thread_pool.hpp"

namespace tw {

template <class Word>
class NodeHistograms {
public:
    using Counters = std::vector<Word>; // all bins of all columns

    void reserve(size_t nodes) {
        family_.resize(std::max(family_.size(), nodes));
        kept_.resize(family_.size());
    }
    // A node of so many rows was split into these two.
    void add_children(int node, int first, size_t rows) {
        family_[first] = {node, first + 1, rows};
        family_[first + 1] = {node, first, rows};
    }

    // Which nodes must be counted so that all of these can be known; `size(node)` is a node's rows.
    template <class Size>
    std::vector<int> to_count(const std::vector<int>& nodes, const Size& size) {
        std::vector<int> candidates_by_value;
        subtracted_.clear();
        for (const int node : nodes) {
            if (!kept_[node].empty()) continue; // counted ahead
            if (!is_remainder(node, size)) {
                candidates_by_value.push_back(node);
                continue;
            }
            subtracted_.push_back(node);
            if (kept_[family_[node].sibling].empty()) candidates_by_value.push_back(family_[node].sibling);
        }
        std::sort(candidates_by_value.begin(), candidates_by_value.end());
        candidates_by_value.erase(std::unique(candidates_by_value.begin(), candidates_by_value.end()),
                                  candidates_by_value.end());
        return candidates_by_value;
    }
    // Once these are counted: the others, by subtraction.
    void subtract(ThreadPool& pool) {
        for (const int node : subtracted_) kept_[node] = std::move(kept_[family_[node].parent]);
        pool.run(static_cast<int64_t>(subtracted_.size()), [&](int64_t i) {
            Counters& rest = kept_[subtracted_[i]];
            const Counters& sibling = kept_[family_[subtracted_[i]].sibling];
            for (size_t cell = 0; cell < rest.size(); ++cell) rest[cell] -= sibling[cell];
        });
    }

    Counters& of(int node) { return kept_[node]; }
    // Room for a node's counts, all zero.
    Counters& make(int node, size_t cells) {
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

    // Whether the node is its parent less its smaller sibling, and both histograms are kept.
    template <class Size>
    bool is_remainder(int node, const Size& size) const {
        const Family& family = family_[node];
        if (family.parent < 0 || kept_[family.parent].empty()) return false;
        const size_t own = size(node), other = size(family.sibling);
        return own + other == family.rows && (own > other || (own == other && node > family.sibling));
    }

    std::vector<Family> family_; // per node
    std::vector<Counters> kept_; // per node, empty where none is kept
    std::vector<Counters> unused_;
    std::vector<int> subtracted_; // of the last look at what to count
};

} // namespace tw

// Rows with coded columns: exact cuts at the price of histograms.
//
// Numbers without missing values are coded into at most 256 bins. Counting a node gives the merit of every cut between
// bins; a bin is looked into (zoomed) only where a cut inside it could still be best, which merit.hpp's bound tells.
// Comes in: rows of weight one. Goes out: the same candidates as an exhaustive search. Always holds: the larger of two
// children is counted by subtraction; small nodes leave histograms behind (rows_small).
#pragma once

#include <array>
#include <memory>

#include "coding.hpp"
#include "cut.hpp"
#include "rows_cpu.hpp"

namespace tw {

template <class Counter>
class RowsCoded final : public RowsCpu {
public:
    RowsCoded(const Table& table, const Recipe& recipe, const Measure& measure, int threads);

    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<Ask>& asks,
                                                   int threads) override;
    void divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates,
                int first) override;
    void reserve(int nodes) override;
    std::unique_ptr<Detached> detach(int node) const override;
    int64_t small() const override { return small_rows; }

    static constexpr int64_t small_rows = 1024;

private:
    using Word = typename Counter::Word;
    using Histogram = std::vector<Word>; // coded columns x 256 x words

    struct Family {
        int parent = -1, sibling = -1; // of a node with one sibling
        size_t rows = 0;               // of the parent
    };
    // A cut between bins: everything up to bin `last` is low.
    struct BinCut {
        double merit = -std::numeric_limits<double>::infinity();
        int last = -1, next = -1;
        int64_t low_rows = 0;
    };

    bool is_remainder(int node, const Family& family) const;
    void count_histograms(const std::vector<Ask>& asks, int threads);
    void fill(int node, size_t which);
    const Word* bins(int node, size_t which) const { return &histogram_[node][which * 256 * words_]; }
    BinCut cut_between(const Yardstick& node, const std::vector<Word>& total, int id, size_t which) const;
    Cut zoom(const Yardstick& node, const std::vector<Word>& total, int id, size_t which, const BinCut& coarse,
             double to_beat) const;
    void find_ends(int id, size_t which, const BinCut& coarse, Cut& cut) const;

    Counter counter_;
    int words_;
    std::vector<int> coded_; // columns, rising
    std::vector<Codes> codes_;
    std::vector<Histogram> histogram_; // per node, empty where none is kept
    std::vector<Family> family_;       // per node
};

// Whether the recipe and the table allow it; otherwise null, and RowsCpu serves.
std::unique_ptr<Rows> coded_rows(const Table& table, const Recipe& recipe, const Measure& measure, int threads);

} // namespace tw

// Rows of a small node, whose whole subtree fits in cache: every column is ordered once, and dividing keeps the order.
//
// Comes in: the node's rows copied out of the table and renumbered. Goes out: exact cuts, each column read once per
// node. Always holds: columns listed as `ordered` are numbers without missing values, and every row weighs one.
#pragma once

#include <cstdint>

#include "cut.hpp"
#include "rows_cpu.hpp"

namespace tw {

// A node's rows as a table of their own.
struct Extract {
    Table table;
    Measure measure;
    std::vector<std::vector<double>> numbers;
    std::vector<std::vector<int32_t>> codes;

    Extract(const Table& from, const Measure& measured, const std::vector<Entry>& entries);
};

template <class Counter>
class RowsSmall final : public RowsCpu {
public:
    RowsSmall(const Extract& extract, const Recipe& recipe, std::shared_ptr<const std::vector<ColumnFacts>> facts,
              const std::vector<int>& ordered);

    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<Ask>& asks,
                                                   int threads) override;
    void divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates,
                int first) override;

private:
    // A row at its place in the order of a column; equal ranks are equal values.
    struct Place {
        uint16_t rank;
        uint16_t row;
    };
    struct Range {
        size_t begin = 0, end = 0;
    };
    Cut best_cut(const Yardstick& node, const std::vector<typename Counter::Word>& total, int which, Range range) const;

    Counter counter_;
    const std::vector<int>& ordered_;
    std::vector<std::vector<Place>> order_; // per ordered column
    std::vector<Range> range_;              // per node
    std::vector<Place> spare_;
};

} // namespace tw

// The histogram of one column at one node: target statistics per bin, one more bin for missing values. No rows.
//
// Only bins with entries are listed, in rising order of value or level code.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "target/measure.hpp"

namespace tw {

// One target value (by its local rank) and its weight; kept only for criteria of the median.
struct TargetWeight {
    uint32_t rank;
    int64_t weight;

    auto fields() { return std::tie(rank, weight); }
};

// One bin of a Histogram: a view, valid as long as they are.
struct Bin {
    int64_t rows;
    const Sum* stat;
    std::span<const TargetWeight> members;
};

// Bins lie one after the other in flat arrays; the missing entries are the bin after the last.
struct Histogram {
    int column = -1;
    int width = 0;               // sums per bin
    std::vector<double> at;      // each bin's value, or its level code
    std::vector<int64_t> rows;   // size() + 1
    std::vector<Sum> stats;      // (size() + 1) x width
    std::vector<uint32_t> ranks; // distinct target ranks at the node, rising (medians only)
    std::vector<TargetWeight> members;
    std::vector<size_t> member_start; // size() + 2 (medians only)

    int size() const { return static_cast<int>(at.size()); }
    Bin bin(int i) const {
        const size_t position = static_cast<size_t>(i);
        if (member_start.empty()) return {rows[position], &stats[position * width], {}};
        const std::span<const TargetWeight> all(members);
        const size_t start = member_start[position];
        return {rows[position], &stats[position * width], all.subspan(start, member_start[position + 1] - start)};
    }
    Bin missing() const { return bin(size()); }
    bool has_missing() const { return rows.back() > 0; }

    // Appends an empty bin's storage and returns its sums.
    Sum* append() {
        rows.push_back(0);
        stats.resize(stats.size() + width, 0);
        return &stats[stats.size() - width];
    }
    // The same column at the same node, of other rows.
    void merge(const Histogram& other);

    auto fields() { return std::tie(column, width, at, rows, stats, ranks, members, member_start); }
};

// The rows of some bins, added up: bins come and go, the sum is read at any time.
class Accumulator {
public:
    Accumulator(const Measure& measure, const Histogram& histogram);

    void add(const Bin& bin) { change(bin, 1); }
    void remove(const Bin& bin) { change(bin, -1); }
    int64_t rows() const { return rows_; }
    // `out` has Measure::width() numbers.
    void read(double* out) const;
    // The lower median as it stands in the table (criteria of the median only).
    double median() const { return measure_.rank_value[histogram_.ranks[find_median().below]]; }

private:
    void change(const Bin& bin, int sign);
    void change_many(std::span<const TargetWeight> members, int sign);
    struct Median {
        size_t below; // local ranks below the median
        Sum weight_below, sum_below;
    };
    Median find_median() const;
    void read_median(double* out) const;

    const Measure& measure_;
    const Histogram& histogram_;
    int64_t rows_ = 0;
    uint32_t changes_ = 0; // of the trees below, which take their time
    std::vector<Sum> stat_;
    std::vector<Sum> weight_tree_; // Fenwick trees over local ranks: weight, and
                                   // weight x target
    std::vector<Sum> sum_tree_;
};

} // namespace tw

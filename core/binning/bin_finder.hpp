// From values to bins: the ends of bins, and the bin of each value without a search over all ends.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/sorted_union.hpp"
#include "binning/binned_table.hpp"

namespace tw {

constexpr size_t max_bins = 255;

constexpr int64_t block_rows = 512; // a block of a matrix stays in cache while its columns are read one by one

inline std::vector<double> quantile_ends(const std::vector<double>& sorted) {
    std::vector<double> ends;
    for (size_t i = 1; i < max_bins; ++i) {
        const double end = sorted[i * sorted.size() / max_bins];
        if (ends.empty() || ends.back() < end) ends.push_back(end);
    }
    return ends;
}

// The code is the number of ends below the value. A grid of equal cells gives most of it at once: ends in lower cells
// are below, ends in higher cells are not, and only those in the value's own cell are searched, in steps of fixed size.
class BinFinder {
public:
    explicit BinFinder(const std::vector<double>& ends) {
        ends_.fill(std::numeric_limits<double>::infinity());
        std::copy(ends.begin(), ends.end(), ends_.begin());
        if (ends.size() > 1 && std::isfinite(ends.back() - ends.front())) {
            low_ = ends.front();
            scale_ = (cells - 1) / (ends.back() - ends.front());
            if (!std::isfinite(scale_)) scale_ = 0;
        }
        std::array<size_t, cells> inside{};
        for (const double end : ends) ++inside[cell(end)];
        size_t before = 0, most = 0;
        for (size_t i = 0; i < cells; ++i) {
            before_[i] = static_cast<uint8_t>(before);
            before += inside[i];
            most = std::max(most, inside[i]);
        }
        steps_ = static_cast<int>(std::bit_width(most));
    }

    // Writes one code per value.
    void assign(std::span<const double> values, uint8_t missing, uint8_t* out) const {
        if (steps_ <= 1) return assign_with<1>(values, missing, out);
        if (steps_ <= 2) return assign_with<2>(values, missing, out);
        if (steps_ <= 4) return assign_with<4>(values, missing, out);
        assign_with<8>(values, missing, out);
    }

    double end(size_t assign) const { return ends_[assign]; }

private:
    static constexpr size_t cells = 1024;

    // Rises with x; a missing value lies in the first.
    size_t cell(double x) const {
        const double index = std::min(std::max(0.0, (x - low_) * scale_), static_cast<double>(cells - 1));
        return static_cast<size_t>(static_cast<int32_t>(index));
    }

    template <int steps>
    void assign_with(std::span<const double> values, uint8_t missing, uint8_t* out) const {
        for (const double x : values) {
            size_t below = before_[cell(x)];
            for (size_t step = size_t{1} << (steps - 1); step > 0; step /= 2) {
                below += step * static_cast<size_t>(ends_[below + step - 1] < x);
            }
            *out++ = x == x ? static_cast<uint8_t>(below) : missing;
        }
    }

    double low_ = 0, scale_ = 0;
    int steps_ = 0;
    std::array<uint8_t, cells> before_{};
    std::array<double, 512> ends_; // as many again as there can be, so that a search may look past the last
};

// Gives every column its place among all bins; returns their number.
inline int lay_out(std::vector<ColumnBins>& columns) {
    int bins = 0;
    for (ColumnBins& column : columns) {
        if (column.exact && !column.end.empty()) column.end.pop_back(); // the last bin has no end
        column.bins = static_cast<int>(column.end.size()) + 1;
        column.start = bins;
        bins += column.bins + (column.has_missing ? 1 : 0);
    }
    return bins;
}

} // namespace tw

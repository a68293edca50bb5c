// The cuts of one column at a node of a tree by linear pieces: the best of each kind, as if every cut were tried.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/pieces.hpp"
#include "linear/pilot.hpp"

namespace tw {

constexpr int unit_places = 40; // bits of a value, so that products of two and their sums fit a Sum

// Numbers as integers from the middle of their range.
struct NumberUnits {
    double middle = 0;
    int exponent = 0;
    double scale = 1;

    NumberUnits(double low, double high) : middle(low / 2 + high / 2) {
        const double most = std::max(high - middle, middle - low);
        if (!(most > 0)) return;
        int places = 0;
        std::frexp(most, &places);
        exponent = std::min(unit_places - places, 900);
        scale = std::ldexp(1.0, exponent);
    }
    int64_t of(double value) const { return std::llrint((value - middle) * scale); }
    double size() const { return std::ldexp(1.0, -exponent); }
};

// A row in the order of a column, with its value, so that a pass over a node reads values one after the other.
struct OrderedRow {
    double value;
    int32_t row;
};

// What the rows weigh: 1 each, or whole units whose sum leaves room for products of two values in a Sum.
// Only their ratios matter.
struct RowWeights {
    std::vector<int64_t> units; // per row; empty: 1 each
    double unit = 1;

    RowWeights(const double* weight, int64_t rows) {
        if (!weight) return;
        constexpr int total_places = 126 - 2 * unit_places - 1; // one is left for what rounding adds
        int places = 0;
        std::frexp(*std::max_element(weight, weight + rows), &places);
        const int row_places = total_places - std::bit_width(static_cast<uint64_t>(rows));
        unit = std::ldexp(1.0, -row_places);
        for (int64_t row = 0; row < rows; ++row) {
            units.push_back(std::max<int64_t>(1, std::llrint(std::ldexp(weight[row], row_places - places))));
        }
    }
    int64_t of(int32_t row) const { return units.empty() ? 1 : units[static_cast<size_t>(row)]; }
};

// The cuts of one column at one node. The rows in order of their values are divided into blocks. Every cut between
// blocks is tried first; then those inside a block, unless what lies on both sides of the block already leaves more
// than a cut may leave.
class ColumnCuts {
public:
    struct Best {
        Piece piece;
        PieceFit fit;
        double threshold = 0;
    };
    using Found = std::array<Best, 3>; // of each kind of cut
    using Limits = std::array<double, 3>;

    ColumnCuts(std::span<const OrderedRow> rows, const std::vector<int64_t>& y, const RowWeights& weights,
               const PilotOptions& options)
        : rows_(rows), y_(y), weights_(weights), options_(options), units_(rows.front().value, rows.back().value) {
        blocks_ = divided({0, rows.size()}, std::max(fine, rows.size() / most_blocks), {});
        all_ = blocks_.back().after;
        noise_ = 1e-11 * constant_fit(whole()).residual;
        for (size_t b = 1; b < blocks_.size(); ++b) offer(blocks_[b]);
    }

    LineSums<double> whole() const { return as_doubles(all_.sums); }
    int64_t values() const { return all_.values; }
    const NumberUnits& units() const { return units_; }
    const Found& found() const { return found_; }

    // Finds the best cut of each kind that leaves no more than this.
    void refine(const Limits& most) {
        for (const Block& block : blocks_) {
            if (is_hopeless(block, most)) continue;
            if (block.rows.size() <= 4 * fine) {
                scan(block);
                continue;
            }
            const std::vector<Block> parts = divided(block.rows, fine, block.before);
            for (size_t i = 1; i < parts.size(); ++i) offer(parts[i]);
            for (const Block& part : parts) {
                if (!is_hopeless(part, most)) scan(part);
            }
        }
    }

private:
    static constexpr size_t fine = 16, most_blocks = 256;
    struct Range {
        size_t begin, end;
        size_t size() const { return end - begin; }
    };
    // Rows up to some place.
    struct Side {
        LineSums<Sum> sums;
        int64_t values = 0; // different ones
    };
    struct Block {
        Range rows;
        Side before, after; // up to its beginning and its end
    };

    double value(size_t i) const { return rows_[i].value; }
    bool is_new(size_t i) const { return i == 0 || value(i) != value(i - 1); }
    void add_row(Side& side, size_t i) const {
        const int64_t x = units_.of(value(i)), y = y_[rows_[i].row], weight = weights_.of(rows_[i].row);
        const Sum wx = static_cast<Sum>(weight) * x, wy = static_cast<Sum>(weight) * y;
        LineSums<Sum>& sums = side.sums;
        sums.n += weight;
        sums.x += wx;
        sums.xx += wx * x;
        sums.y += wy;
        sums.xy += wx * y;
        sums.yy += wy * y;
        side.values += is_new(i);
    }
    LineSums<double> as_doubles(const LineSums<Sum>& sums) const {
        const auto number = [this](Sum sum) { return static_cast<double>(sum) * weights_.unit; };
        return {number(sums.n), number(sums.x), number(sums.xx), number(sums.y), number(sums.xy), number(sums.yy)};
    }

    // Blocks of about `size` rows; equal values stay together.
    std::vector<Block> divided(Range rows, size_t size, const Side& before) const {
        std::vector<Block> blocks;
        Side side = before;
        for (size_t begin = rows.begin; begin < rows.end;) {
            size_t end = std::min(begin + size, rows.end);
            while (end < rows.end && !is_new(end)) ++end;
            const Side start = side;
            for (size_t i = begin; i < end; ++i) add_row(side, i);
            blocks.push_back({{begin, end}, start, side});
            begin = end;
        }
        return blocks;
    }

    void offer(const Block& block) { offer(block.rows.begin, block.before); }
    // Tries the cut before row i.
    void offer(size_t i, const Side& low) {
        const auto least = static_cast<size_t>(options_.min_samples_leaf);
        if (i < least || rows_.size() - i < least) return;
        const double threshold = value(i - 1) / 2 + value(i) / 2;
        const LineSums<double> left = as_doubles(low.sums), right = as_doubles(all_.sums - low.sums);
        const bool lines = low.values >= options_.min_values && all_.values - low.values >= options_.min_values;
        const auto take = [&](size_t kind, const PieceFit& fit) {
            // Of equals the lowest cut.
            const double most = found_[kind].fit.residual, near = std::isfinite(most) ? 1e-12 * most : 0;
            if (!(fit.residual < most - near) &&
                !(std::isfinite(fit.residual) && fit.residual <= most + near && threshold < found_[kind].threshold)) {
                return;
            }
            found_[kind] = {found_[kind].piece, fit, threshold};
        };
        take(0, two_constants(left, right));
        if (!lines) return;
        const PieceFit two = two_lines(left, right);
        if (two.residual <= as_good(1)) { // two lines that meet leave no less
            take(1, broken_line(left, right, static_cast<double>(units_.of(threshold))));
        }
        take(2, two);
    }

    void scan(const Block& block) {
        Side low = block.before;
        for (size_t i = block.rows.begin; i < block.rows.end; ++i) {
            if (i > block.rows.begin && is_new(i)) offer(i, low);
            add_row(low, i);
        }
    }

    // More than this leaves no cut of a kind that is as good as the best, whatever rounding adds.
    double as_good(size_t kind) const { return found_[kind].fit.residual * (1 + 2e-12) + noise_; }

    // Whether every cut inside leaves more than the best of its kind, or than `most`: as much as the best models of the
    // rows on both sides, or more.
    bool is_hopeless(const Block& block, const Limits& most) const {
        if (block.after.values - block.before.values < 2) return true;
        const LineSums<double> left = as_doubles(block.before.sums), right = as_doubles(all_.sums - block.after.sums);
        const auto limit = [&](size_t kind) { return std::min(most[kind] + noise_, as_good(kind)); };
        const auto least = [&](LineFit (*fit)(const LineSums<double>&)) {
            return (left.n > 0 ? fit(left).residual : 0) + (right.n > 0 ? fit(right).residual : 0);
        };
        return least(constant_fit) > limit(0) && least(line_fit) > std::max(limit(1), limit(2));
    }

    std::span<const OrderedRow> rows_;
    const std::vector<int64_t>& y_;
    const RowWeights& weights_;
    const PilotOptions& options_;
    NumberUnits units_;
    std::vector<Block> blocks_;
    Side all_;
    double noise_ = 0; // what rounding may add to a residual
    Found found_{Best{Piece::two_constants, {}}, Best{Piece::broken_line, {}}, Best{Piece::two_lines, {}}};
};

} // namespace tw

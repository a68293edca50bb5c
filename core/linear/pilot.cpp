#include "linear/pilot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "binning/digit_sort.hpp"
#include "binning/number_key.hpp"

namespace tw {
namespace {

constexpr int unit_places = 40; // bits of a value, so that products of two and their sums fit a Sum
constexpr double tie = 1e-9;    // BIC differences below it are none

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

// The best model of one column.
struct ColumnChoice {
    Piece piece = Piece::constant;
    double bic = std::numeric_limits<double>::infinity();
    double threshold = 0;
    LineFit low, high;
};

// Lines in units to lines in the numbers themselves.
LineFit unscaled(const LineFit& fit, const NumberUnits& x, const NumberUnits& y) {
    LineFit out;
    out.slope = fit.slope * y.size() / x.size();
    out.intercept = y.middle + fit.intercept * y.size() - out.slope * x.middle;
    out.residual = fit.residual * y.size() * y.size();
    return out;
}

LineSums<double> as_doubles(const LineSums<Sum>& sums) {
    const auto number = [](Sum sum) { return static_cast<double>(sum); };
    return {number(sums.n), number(sums.x), number(sums.xx), number(sums.y), number(sums.xy), number(sums.yy)};
}

void add(LineSums<Sum>& sums, int64_t x, int64_t y) {
    sums.n += 1;
    sums.x += x;
    sums.xx += static_cast<Sum>(x) * x;
    sums.y += y;
    sums.xy += static_cast<Sum>(x) * y;
    sums.yy += static_cast<Sum>(y) * y;
}

// The cuts of one column at one node. The rows in order of their values are divided into blocks; every cut between
// blocks is tried and, next to the best of each kind of model, every cut within a block. Up to `few` rows are one cut
// per value, so that nothing is left out.
class ColumnCuts {
public:
    struct Best {
        Piece piece;
        PieceFit fit;
        double threshold = 0;
    };

    ColumnCuts(std::span<const OrderedRow> rows, const std::vector<int64_t>& y, const PilotOptions& options)
        : rows_(rows), y_(y), options_(options), units_(rows.front().value, rows.back().value) {
        const size_t size = rows.size() <= few ? 1 : rows.size() / blocks;
        size_t begin = 0;
        while (begin < rows.size()) {
            size_t end = std::min(begin + size, rows.size());
            while (end < rows.size() && value(end) == value(end - 1)) ++end; // equal values stay together
            blocks_.push_back({begin, end, sums_, values_});
            for (size_t i = begin; i < end; ++i) {
                values_ += i == 0 || value(i) != value(i - 1);
                add(sums_, units_.of(value(i)), y_[rows_[i].row]);
            }
            begin = end;
        }
    }

    const LineSums<Sum>& all() const { return sums_; }
    int64_t values() const { return values_; }
    const NumberUnits& units() const { return units_; }

    std::array<Best, 3> best() const {
        std::array<Best, 3> found{Best{Piece::two_constants, {}}, Best{Piece::broken_line, {}},
                                  Best{Piece::two_lines, {}}};
        std::array<size_t, 3> at{};
        for (size_t b = 1; b < blocks_.size(); ++b) {
            const std::array<bool, 3> better = offer(found, blocks_[b].begin, blocks_[b].before, blocks_[b].values);
            for (size_t kind = 0; kind < 3; ++kind) {
                if (better[kind]) at[kind] = b;
            }
        }
        std::array<size_t, 6> beside{}; // the models often agree on where to cut
        for (size_t kind = 0; kind < 3; ++kind) {
            beside[2 * kind] = at[kind] > 0 ? at[kind] - 1 : 0;
            beside[2 * kind + 1] = at[kind];
        }
        std::sort(beside.begin(), beside.end());
        const auto last = std::unique(beside.begin(), beside.end());
        for (auto b = beside.begin(); b != last; ++b) scan_block(blocks_[*b], found);
        return found;
    }

private:
    static constexpr size_t few = 1024, blocks = 256;
    struct Block {
        size_t begin, end;
        LineSums<Sum> before; // of all rows before it
        int64_t values;       // different values before it
    };

    double value(size_t i) const { return rows_[i].value; }

    // Whether each model with its cut before row i is better than the best so far.
    std::array<bool, 3> offer(std::array<Best, 3>& found, size_t i, const LineSums<Sum>& low, int64_t below) const {
        const auto least = static_cast<size_t>(options_.min_samples_leaf);
        if (i < least || rows_.size() - i < least) return {};
        const double threshold = value(i - 1) / 2 + value(i) / 2;
        const LineSums<double> left = as_doubles(low), right = as_doubles(sums_ - low);
        const bool lines = below >= options_.min_values && values_ - below >= options_.min_values;
        std::array<bool, 3> better{};
        const auto take = [&](size_t kind, const PieceFit& fit) {
            // Of equals the lowest cut.
            const double most = found[kind].fit.residual, near = std::isfinite(most) ? 1e-12 * most : 0;
            if (!(fit.residual < most - near) &&
                !(std::isfinite(fit.residual) && fit.residual <= most + near && threshold < found[kind].threshold)) {
                return;
            }
            found[kind] = {found[kind].piece, fit, threshold};
            better[kind] = true;
        };
        take(0, two_constants(left, right));
        if (lines) take(1, broken_line(left, right, static_cast<double>(units_.of(threshold))));
        if (lines) take(2, two_lines(left, right));
        return better;
    }

    void scan_block(const Block& block, std::array<Best, 3>& found) const {
        LineSums<Sum> low = block.before;
        int64_t below = block.values;
        for (size_t i = block.begin; i < block.end; ++i) {
            const bool is_new = i == 0 || value(i) != value(i - 1);
            if (is_new && i > block.begin) offer(found, i, low, below);
            below += is_new;
            add(low, units_.of(value(i)), y_[rows_[i].row]);
        }
    }

    std::span<const OrderedRow> rows_;
    const std::vector<int64_t>& y_;
    const PilotOptions& options_;
    NumberUnits units_;
    LineSums<Sum> sums_;
    int64_t values_ = 0;
    std::vector<Block> blocks_;
};

class Growth {
public:
    Growth(const std::vector<Column>& columns, const double* target, int64_t rows, const PilotOptions& options,
           ThreadPool& pool)
        : columns_(columns), left_(target, target + rows), units_(rows), options_(options), pool_(pool) {
        order_.resize(columns.size());
        pool_.run(static_cast<int64_t>(columns.size()), [&](int64_t c) {
            const Numbers& x = columns_[c].numbers;
            std::vector<KeyAndRow> keys(rows);
            for (int32_t row = 0; row < rows; ++row) keys[row] = {key_of(x[row]), row};
            sort_by_digits(keys);
            order_[c].reserve(rows);
            for (const KeyAndRow& each : keys) order_[c].push_back({number_of(each.key), each.row});
        });
        is_low_.resize(rows);
    }

    std::vector<PilotNode> grow() {
        nodes_.push_back({});
        struct Open {
            int node;
            int64_t begin, end;
        };
        std::vector<Open> open{{0, 0, static_cast<int64_t>(left_.size())}};
        while (!open.empty()) {
            const Open at = open.back();
            open.pop_back();
            pool_.check_interrupt();
            const int64_t middle = settle(at.node, at.begin, at.end);
            if (middle < 0) continue;
            open.push_back({nodes_[at.node].high, middle, at.end});
            open.push_back({nodes_[at.node].low, at.begin, middle});
        }
        return std::move(nodes_);
    }

private:
    // Takes lines off the rows of a node until none helps; where two pieces are better, splits it and returns where its
    // second child begins, otherwise -1.
    int64_t settle(int node, int64_t begin, int64_t end) {
        nodes_[node].rows = end - begin;
        for (int lines = 0; end - begin >= options_.min_samples_split; ++lines) {
            const auto [column, choice] = best(node, begin, end, lines < options_.max_lines);
            if (choice.piece == Piece::constant) break;
            if (choice.piece == Piece::line) {
                take(node, begin, end, column, choice.low);
                continue;
            }
            nodes_[node].rest = mean_left(begin, end);
            return split(node, begin, end, column, choice);
        }
        nodes_[node].rest = mean_left(begin, end);
        return -1;
    }

    std::span<const OrderedRow> rows_of(int64_t begin, int64_t end, int column = 0) const {
        return std::span<const OrderedRow>(order_[column])
            .subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    }

    NumberUnits measure_left(int64_t begin, int64_t end) {
        const auto rows = rows_of(begin, end);
        double low = left_[rows[0].row], high = low;
        for (const OrderedRow& at : rows) {
            low = std::min(low, left_[at.row]);
            high = std::max(high, left_[at.row]);
        }
        const NumberUnits units(low, high);
        for (const OrderedRow& at : rows) units_[at.row] = units.of(left_[at.row]);
        return units;
    }

    double mean_left(int64_t begin, int64_t end) {
        if (begin == end) return 0;
        const NumberUnits units = measure_left(begin, end);
        Sum sum = 0;
        for (const OrderedRow& at : rows_of(begin, end)) sum += units_[at.row];
        return units.middle + static_cast<double>(sum) / static_cast<double>(end - begin) * units.size();
    }

    std::pair<int, ColumnChoice> best(int node, int64_t begin, int64_t end, bool may_take_line) {
        const NumberUnits units = measure_left(begin, end);
        const bool may_split = nodes_[node].depth < options_.max_depth;
        std::vector<ColumnChoice> found(columns_.size());
        pool_.run(static_cast<int64_t>(columns_.size()), [&](int64_t c) {
            found[c] = best_of(static_cast<int>(c), begin, end, units, may_split, may_take_line);
        });
        int chosen = 0;
        for (int c = 1; c < static_cast<int>(found.size()); ++c) {
            if (found[c].bic < found[chosen].bic - tie) chosen = c;
        }
        return {chosen, found[chosen]};
    }

    ColumnChoice best_of(int column, int64_t begin, int64_t end, const NumberUnits& y, bool may_split,
                         bool may_line) const {
        const ColumnCuts cuts(rows_of(begin, end, column), units_, options_);
        const LineSums<double> whole = as_doubles(cuts.all());
        const double n = whole.n, floor = n * 0x1p-60 * std::max(constant_fit(whole).residual / n, 1.0);
        ColumnChoice best;
        const auto offer = [&](Piece piece, const PieceFit& fit, double threshold) {
            const double found = bic(fit.residual, n, options_.parameters[static_cast<size_t>(piece)], floor);
            if (!(found < best.bic - tie)) return;
            best = {piece, found, threshold, unscaled(fit.low, cuts.units(), y), unscaled(fit.high, cuts.units(), y)};
        };
        const LineFit flat = constant_fit(whole), line = line_fit(whole);
        offer(Piece::constant, {flat.residual, flat, flat}, 0);
        if (may_line && cuts.values() >= options_.min_values) offer(Piece::line, {line.residual, line, line}, 0);
        if (!may_split) return best;
        for (const auto& [piece, fit, threshold] : cuts.best()) {
            if (std::isfinite(fit.residual)) offer(piece, fit, threshold);
        }
        return best;
    }

    void take(int node, int64_t begin, int64_t end, int column, const LineFit& fit) {
        nodes_[node].taken.push_back({column, fit.intercept, fit.slope});
        for (const OrderedRow& at : rows_of(begin, end, column)) {
            left_[at.row] -= fit.intercept + fit.slope * at.value;
        }
    }

    int64_t split(int node, int64_t begin, int64_t end, int column, const ColumnChoice& choice) {
        int64_t middle = begin;
        for (const OrderedRow& at : rows_of(begin, end, column)) {
            is_low_[at.row] = at.value <= choice.threshold;
            middle += is_low_[at.row];
        }
        pool_.run(static_cast<int64_t>(columns_.size()), [&](int64_t c) {
            partition_in_two(std::span(order_[c]).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)),
                             static_cast<size_t>(middle - begin));
        });
        const int depth = nodes_[node].depth + 1, low = static_cast<int>(nodes_.size());
        nodes_[node].column = column;
        nodes_[node].threshold = choice.threshold;
        nodes_[node].low = low;
        nodes_[node].high = low + 1;
        for (int side = 0; side < 2; ++side) {
            nodes_.push_back({});
            nodes_.back().depth = depth;
        }
        take(low, begin, middle, column, choice.low);
        take(low + 1, middle, end, column, choice.high);
        return middle;
    }

    // Puts the low rows first, so many of them; both sides keep their order.
    void partition_in_two(std::span<OrderedRow> rows, size_t n_low) const {
        std::vector<OrderedRow> above(rows.size() - n_low + 1); // one place more, for what is written and not kept
        size_t low = 0, high = 0;
        for (const OrderedRow& at : rows) {
            const size_t is_low = static_cast<size_t>(is_low_[at.row]);
            const OrderedRow moved = at;
            rows[low] = moved;
            above[high] = moved;
            low += is_low;
            high += 1 - is_low;
        }
        std::copy_n(above.begin(), high, rows.begin() + static_cast<std::ptrdiff_t>(low));
    }

    const std::vector<Column>& columns_;
    std::vector<double> left_;   // of the target, per row
    std::vector<int64_t> units_; // the same in units of the node at work
    std::vector<char> is_low_;
    std::vector<std::vector<OrderedRow>> order_; // per column, rows by value within each node
    const PilotOptions& options_;
    ThreadPool& pool_;
    std::vector<PilotNode> nodes_;
};

} // namespace

std::vector<PilotNode> grow_pilot(const std::vector<Column>& columns, const double* target, int64_t rows,
                                  const PilotOptions& options, ThreadPool& pool) {
    return Growth(columns, target, rows, options, pool).grow();
}

} // namespace tw

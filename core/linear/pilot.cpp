#include "linear/pilot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "binning/digit_sort.hpp"
#include "binning/number_key.hpp"
#include "linear/piece_cuts.hpp"

namespace tw {
namespace {

constexpr double tie = 1e-9; // BIC differences below it are none

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

class Growth {
public:
    Growth(const std::vector<Column>& columns, const double* target, const double* weight, int64_t rows,
           const PilotOptions& options, ThreadPool& pool)
        : columns_(columns),
          left_(target, target + rows),
          units_(rows),
          weights_(weight, rows),
          options_(options),
          pool_(pool) {
        order_.resize(columns.size());
        pool_.run(static_cast<int64_t>(columns.size()), [&](int64_t c) {
            const Numbers& x = columns_[c].numbers;
            std::vector<KeyAndRow> keys(rows);
            for (int32_t row = 0; row < rows; ++row) keys[row] = {key_of(x[row]), row};
            sort_by_digits(keys);
            order_[c].reserve(rows);
            for (const KeyAndRow& each : keys) order_[c].push_back({number_of(each.key), each.row});
        });
        if (order_.empty()) { // there is nothing to fit, but a mean
            order_.emplace_back();
            for (int32_t row = 0; row < rows; ++row) order_[0].push_back({0, row});
        }
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
        for (int lines = 0; !columns_.empty() && end - begin >= options_.min_samples_split; ++lines) {
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
        Sum sum = 0, weight = 0;
        for (const OrderedRow& at : rows_of(begin, end)) {
            sum += static_cast<Sum>(weights_.of(at.row)) * units_[at.row];
            weight += weights_.of(at.row);
        }
        return weight == 0 ? units.middle
                           : units.middle + static_cast<double>(sum) / static_cast<double>(weight) * units.size();
    }

    // The best model of all columns. Those that may be it are refined: each column knows then what the others have
    // between blocks.
    std::pair<int, ColumnChoice> best(int node, int64_t begin, int64_t end, bool may_take_line) {
        const NumberUnits units = measure_left(begin, end);
        const bool may_split = nodes_[node].depth < options_.max_depth;
        std::vector<std::optional<ColumnCuts>> cuts(columns_.size());
        std::vector<ColumnChoice> found(columns_.size());
        const auto choose = [&](int64_t c) {
            found[c] = choice_of(*cuts[c], end - begin, units, may_split, may_take_line);
        };
        pool_.run(static_cast<int64_t>(columns_.size()), [&](int64_t c) {
            cuts[c].emplace(rows_of(begin, end, static_cast<int>(c)), units_, weights_, options_);
            choose(c);
        });
        const auto least = [&] { return std::ranges::min_element(found, {}, &ColumnChoice::bic)->bic; };
        if (may_split) {
            const double before = least();
            pool_.run(static_cast<int64_t>(columns_.size()), [&](int64_t c) {
                cuts[c]->refine(limits(*cuts[c], end - begin, before));
                choose(c);
            });
        }
        const double most = least() + tie;
        const auto chosen = std::ranges::find_if(found, [&](const ColumnChoice& choice) { return choice.bic <= most; });
        return {static_cast<int>(chosen - found.begin()), *chosen};
    }

    // What a cut of each kind may leave if its BIC is to reach this.
    ColumnCuts::Limits limits(const ColumnCuts& cuts, int64_t rows, double wanted) const {
        const double n = static_cast<double>(rows), per_row = cuts.whole().n / n;
        const double slack = 2 * tie + 4e-12 * n; // what ties, and what cuts of a kind that are equal may differ by
        const auto limit = [&](Piece piece) {
            const double price = std::log(n) * options_.parameters[static_cast<size_t>(piece)];
            return n * std::exp((wanted + slack - price) / n) * per_row;
        };
        return {limit(Piece::two_constants), limit(Piece::broken_line), limit(Piece::two_lines)};
    }

    ColumnChoice choice_of(const ColumnCuts& cuts, int64_t rows, const NumberUnits& y, bool may_split,
                           bool may_line) const {
        const LineSums<double> whole = cuts.whole();
        const LineFit flat = constant_fit(whole), line = line_fit(whole);
        // Residuals count as those of rows that weigh one on average, so that the unit of weights does not matter.
        const double n = static_cast<double>(rows), per_weight = n / whole.n;
        const double floor = n * 0x1p-60 * std::max(flat.residual / whole.n, 1.0);
        std::vector<ColumnChoice> models;
        const auto offer = [&](Piece piece, const PieceFit& fit, double threshold) {
            const double price = options_.parameters[static_cast<size_t>(piece)];
            models.push_back({piece, bic(fit.residual * per_weight, n, price, floor), threshold,
                              unscaled(fit.low, cuts.units(), y), unscaled(fit.high, cuts.units(), y)});
        };
        offer(Piece::constant, {flat.residual, flat, flat}, 0);
        if (may_line && cuts.values() >= options_.min_values) offer(Piece::line, {line.residual, line, line}, 0);
        if (may_split) {
            for (const auto& [piece, fit, threshold] : cuts.found()) {
                if (std::isfinite(fit.residual)) offer(piece, fit, threshold);
            }
        }
        const double most = std::ranges::min_element(models, {}, &ColumnChoice::bic)->bic + tie;
        return *std::ranges::find_if(models, [&](const ColumnChoice& choice) { return choice.bic <= most; });
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
    const RowWeights weights_;
    std::vector<char> is_low_;
    std::vector<std::vector<OrderedRow>> order_; // per column, rows by value within each node
    const PilotOptions& options_;
    ThreadPool& pool_;
    std::vector<PilotNode> nodes_;
};

} // namespace

std::vector<PilotNode> grow_pilot(const std::vector<Column>& columns, const double* target, const double* weight,
                                  int64_t rows, const PilotOptions& options, ThreadPool& pool) {
    return Growth(columns, target, weight, rows, options, pool).grow();
}

} // namespace tw

#include "linear/row_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>

namespace tw {
namespace {

constexpr int64_t rows_per_task = 8192;
constexpr size_t rows_at_once = 256; // of all slots, within the second-level cache

// Rows of one node, with their weights (null: one each).
struct Chunk {
    int64_t node;
    std::span<const int64_t> rows;
    const double* weight;
};

// The rows in the order of the nodes where they end, in chunks; a counting sort.
struct Chunks {
    std::vector<int64_t> row;
    std::vector<double> weight;
    std::vector<Chunk> chunks;

    explicit Chunks(const LinearRows& rows) : row(static_cast<size_t>(rows.ends.count)) {
        const int64_t nodes = rows.slots.nodes();
        std::vector<int64_t> start(static_cast<size_t>(nodes) + 1, 0);
        for (int64_t i = 0; i < rows.ends.count; ++i) ++start[static_cast<size_t>(rows.ends.node[i]) + 1];
        for (int64_t node = 0; node < nodes; ++node) start[node + 1] += start[node];
        if (rows.ends.weight) weight.resize(row.size());
        std::vector<int64_t> next(start.begin(), start.end() - 1);
        for (int64_t i = 0; i < rows.ends.count; ++i) {
            const int64_t place = next[rows.ends.node[i]]++;
            row[place] = rows.ends.row[i];
            if (rows.ends.weight) weight[place] = rows.ends.weight[i];
        }
        const std::span<const int64_t> all(row);
        for (int64_t node = 0; node < nodes; ++node) {
            for (int64_t begin = start[node]; begin < start[node + 1]; begin += rows_per_task) {
                const int64_t count = std::min(rows_per_task, start[node + 1] - begin);
                chunks.push_back({node, all.subspan(static_cast<size_t>(begin), static_cast<size_t>(count)),
                                  weight.empty() ? nullptr : weight.data() + begin});
            }
        }
    }
};

// `function(rows, weight)` for every few rows of a chunk.
template <class Function>
void each_block(const Chunk& chunk, const Function& function) {
    for (size_t begin = 0; begin < chunk.rows.size(); begin += rows_at_once) {
        function(chunk.rows.subspan(begin, std::min(rows_at_once, chunk.rows.size() - begin)),
                 chunk.weight ? chunk.weight + begin : nullptr);
    }
}

// The values of some rows at one slot; NaN where missing.
void read_slot(const LinearRows& rows, int32_t regressor, std::span<const int64_t> some, double* out) {
    if (regressor < 0) {
        for (const int64_t row : some) *out++ = rows.target[row];
        return;
    }
    const Regressor& one = rows.regressors[regressor];
    const Column& column = rows.columns[one.column];
    for (const int64_t row : some) *out++ = value_of(one, column, row);
}

// The nearest integer, the one farther from 0 of two: llround without a call, for less than 2^52.
int64_t rounded(double x) {
    const auto whole = static_cast<int64_t>(x);
    const double rest = x - static_cast<double>(whole); // exact
    return whole + (rest >= 0.5) - (rest <= -0.5);
}

void add(std::vector<Sum>& to, int64_t first, const std::vector<Sum>& found) {
    for (size_t i = 0; i < found.size(); ++i) to[static_cast<size_t>(first) + i] += found[i];
}

// Adds the products of `a` with some columns that lie `rows_at_once` apart.
template <size_t columns>
void add_products(const int64_t* a, const int64_t* b, size_t rows, Sum* to) {
    std::array<Sum, columns> sum{};
    for (size_t i = 0; i < rows; ++i) {
        for (size_t k = 0; k < columns; ++k) sum[k] += static_cast<Sum>(a[i]) * b[k * rows_at_once + i];
    }
    for (size_t k = 0; k < columns; ++k) to[k] += sum[k];
}

// Of every pair of `n` columns, the first not after the second.
void add_pair_products(const int64_t* units, size_t n, size_t rows, Sum* to) {
    constexpr size_t together = 4; // one column's values are read once for so many others
    for (size_t a = 0; a < n; ++a) {
        const int64_t* first = units + a * rows_at_once;
        size_t b = a;
        for (; b + together <= n; b += together, to += together) {
            add_products<together>(first, units + b * rows_at_once, rows, to);
        }
        for (; b < n; ++b, ++to) add_products<1>(first, units + b * rows_at_once, rows, to);
    }
}

double middle(const SlotRanges& ranges, size_t slot) { return ranges.low[slot] / 2 + ranges.high[slot] / 2; }

double farthest(const SlotRanges& ranges, size_t slot, double from) {
    if (ranges.low[slot] > ranges.high[slot]) return 0;
    return std::max(std::abs(ranges.high[slot] - from), std::abs(ranges.low[slot] - from));
}

} // namespace

int scale_exponent(double max_abs) {
    if (!(max_abs > 0)) return 0;
    int exponent = std::numeric_limits<double>::max_exponent + 1; // of a difference beyond all numbers
    if (std::isfinite(max_abs)) std::frexp(max_abs, &exponent);
    return std::min(unit_bits - exponent, 900);
}

std::vector<int64_t> pair_starts(const NodeSlots& slots, const SlotRanges& ranges) {
    std::vector<int64_t> starts{0};
    for (int64_t node = 0; node < slots.nodes(); ++node) {
        const int64_t n = ranges.max_weight[node] > 0 ? slots.size(node) : 0;
        starts.push_back(starts.back() + n * (n + 1) / 2);
    }
    return starts;
}

SlotRanges slot_ranges(const LinearRows& rows, ThreadPool& pool) {
    constexpr double none = std::numeric_limits<double>::infinity();
    const size_t n_slots = rows.slots.regressor.size();
    SlotRanges found{std::vector<double>(n_slots, none), std::vector<double>(n_slots, -none),
                     std::vector<double>(static_cast<size_t>(rows.slots.nodes()), 0.0)};
    const Chunks all(rows);
    std::mutex guard;
    pool.run(static_cast<int64_t>(all.chunks.size()), [&](int64_t task) {
        const Chunk& chunk = all.chunks[task];
        const int first = rows.slots.start[chunk.node], n = rows.slots.size(chunk.node);
        std::vector<double> low(n, none), high(n, -none);
        std::array<double, rows_at_once> values;
        double max_weight = chunk.weight ? 0 : 1;
        each_block(chunk, [&](std::span<const int64_t> some, const double* weight) {
            for (size_t i = 0; weight && i < some.size(); ++i) max_weight = std::max(max_weight, weight[i]);
            for (int slot = 0; slot < n; ++slot) {
                read_slot(rows, rows.slots.regressor[first + slot], some, values.data());
                double least = low[slot], most = high[slot];
                for (size_t i = 0; i < some.size(); ++i) { // a missing value is neither less nor more
                    least = values[i] < least ? values[i] : least;
                    most = values[i] > most ? values[i] : most;
                }
                low[slot] = least;
                high[slot] = most;
            }
        });
        const std::lock_guard<std::mutex> lock(guard);
        for (int slot = 0; slot < n; ++slot) {
            found.low[first + slot] = std::min(found.low[first + slot], low[slot] + 0.0); // -0 and 0 are one value
            found.high[first + slot] = std::max(found.high[first + slot], high[slot] + 0.0);
        }
        found.max_weight[chunk.node] = std::max(found.max_weight[chunk.node], max_weight);
    });
    return found;
}

SlotMeans slot_means(const LinearRows& rows, const SlotRanges& ranges, ThreadPool& pool) {
    const size_t n_slots = rows.slots.regressor.size();
    SlotMeans found{std::vector<Sum>(n_slots, 0), std::vector<Sum>(n_slots, 0)};
    const Chunks all(rows);
    std::mutex guard;
    pool.run(static_cast<int64_t>(all.chunks.size()), [&](int64_t task) {
        const Chunk& chunk = all.chunks[task];
        const int first = rows.slots.start[chunk.node], n = rows.slots.size(chunk.node);
        std::vector<Sum> sum(n, 0), known(n, 0);
        std::array<double, rows_at_once> values, share;
        std::array<int64_t, rows_at_once> share_units;
        share.fill(1.0);
        share_units.fill(int64_t{1} << unit_bits);
        each_block(chunk, [&](std::span<const int64_t> some, const double* weight) {
            for (size_t i = 0; weight && i < some.size(); ++i) {
                share[i] = weight[i] / ranges.max_weight[chunk.node];
                share_units[i] = rounded(std::ldexp(share[i], unit_bits));
            }
            for (int slot = 0; slot < n; ++slot) {
                const auto at = static_cast<size_t>(first + slot);
                const double from = middle(ranges, at),
                             scale = std::ldexp(1.0, scale_exponent(farthest(ranges, at, from)));
                read_slot(rows, rows.slots.regressor[at], some, values.data());
                int64_t some_sum = 0, some_known = 0; // at most 256 numbers of 50 bits
                for (size_t i = 0; i < some.size(); ++i) {
                    const bool is_known = values[i] == values[i];
                    some_sum += rounded(is_known ? (values[i] - from) * scale * share[i] : 0.0);
                    some_known += is_known ? share_units[i] : 0;
                }
                sum[slot] += some_sum;
                known[slot] += some_known;
            }
        });
        const std::lock_guard<std::mutex> lock(guard);
        add(found.sum, first, sum);
        add(found.known_weight, first, known);
    });
    return found;
}

SlotProducts slot_products(const LinearRows& rows, const SlotRanges& ranges, std::span<const double> mean,
                           ThreadPool& pool) {
    const std::vector<int64_t> pairs = pair_starts(rows.slots, ranges);
    const auto nodes = static_cast<size_t>(rows.slots.nodes());
    SlotProducts found{std::vector<Sum>(static_cast<size_t>(pairs.back()), 0),
                       std::vector<Sum>(rows.slots.regressor.size(), 0), std::vector<Sum>(nodes, 0),
                       std::vector<int64_t>(nodes, 0)};
    const Chunks all(rows);
    std::mutex guard;
    pool.run(static_cast<int64_t>(all.chunks.size()), [&](int64_t task) {
        const Chunk& chunk = all.chunks[task];
        const auto first = static_cast<size_t>(rows.slots.start[chunk.node]);
        const auto n = static_cast<size_t>(rows.slots.size(chunk.node));
        // The roots of the weights stand for one more slot: its products are the sums of the others and the weight.
        std::vector<Sum> product((n + 1) * (n + 2) / 2, 0);
        std::vector<int64_t> units((n + 1) * rows_at_once, int64_t{1} << unit_bits);
        std::array<double, rows_at_once> root, values;
        root.fill(1.0);
        each_block(chunk, [&](std::span<const int64_t> some, const double* weight) {
            for (size_t i = 0; weight && i < some.size(); ++i) {
                root[i] = std::sqrt(weight[i] / ranges.max_weight[chunk.node]);
                units[n * rows_at_once + i] = rounded(std::ldexp(root[i], unit_bits));
            }
            for (size_t slot = 0; slot < n; ++slot) {
                const size_t at = first + slot;
                const double scale = std::ldexp(1.0, scale_exponent(farthest(ranges, at, mean[at]))),
                             scaled_from = mean[at] * scale; // a difference may be beyond all numbers
                read_slot(rows, rows.slots.regressor[at], some, values.data());
                int64_t* out = &units[slot * rows_at_once];
                for (size_t i = 0; i < some.size(); ++i) {
                    out[i] = rounded(values[i] == values[i] ? (values[i] * scale - scaled_from) * root[i] : 0.0);
                }
            }
            add_pair_products(units.data(), n + 1, some.size(), product.data());
        });
        const std::lock_guard<std::mutex> lock(guard);
        const Sum* from = product.data();
        Sum* to = &found.product[static_cast<size_t>(pairs[chunk.node])];
        for (size_t a = 0; a < n; ++a) {
            for (size_t b = a; b < n; ++b) *to++ += *from++;
            found.sum[first + a] += *from++;
        }
        found.weight[chunk.node] += *from;
        found.rows[chunk.node] += static_cast<int64_t>(chunk.rows.size());
    });
    return found;
}

} // namespace tw

#include "linear/row_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

namespace tw {
namespace {

constexpr int64_t rows_per_task = 8192;
constexpr int64_t rows_at_once = 256; // of all slots, within the second-level cache

// Rows of one node.
struct Chunk {
    int64_t node;
    std::span<const int64_t> entries;
};

// Entries by node, in chunks; a counting sort.
struct Chunks {
    std::vector<int64_t> order;
    std::vector<Chunk> chunks;

    explicit Chunks(const LinearRows& rows) : order(static_cast<size_t>(rows.ends.count)) {
        const int64_t nodes = rows.slots.nodes();
        std::vector<int64_t> start(static_cast<size_t>(nodes) + 1, 0);
        for (int64_t i = 0; i < rows.ends.count; ++i) ++start[static_cast<size_t>(rows.ends.node[i]) + 1];
        for (int64_t node = 0; node < nodes; ++node) start[node + 1] += start[node];
        std::vector<int64_t> next(start.begin(), start.end() - 1);
        for (int64_t i = 0; i < rows.ends.count; ++i) order[next[rows.ends.node[i]]++] = i;
        const std::span<const int64_t> all(order);
        for (int64_t node = 0; node < nodes; ++node) {
            for (int64_t begin = start[node]; begin < start[node + 1]; begin += rows_per_task) {
                const int64_t count = std::min(rows_per_task, start[node + 1] - begin);
                chunks.push_back({node, all.subspan(static_cast<size_t>(begin), static_cast<size_t>(count))});
            }
        }
    }
};

double slot_value(const LinearRows& rows, int32_t regressor, int64_t row) {
    if (regressor < 0) return rows.target[row];
    const Regressor& one = rows.regressors[regressor];
    return value_of(one, rows.columns[one.column], row);
}

double weight_of(const LinearRows& rows, int64_t entry) { return rows.ends.weight ? rows.ends.weight[entry] : 1.0; }

void add(std::vector<Sum>& to, int64_t first, const std::vector<Sum>& found) {
    for (size_t i = 0; i < found.size(); ++i) to[static_cast<size_t>(first) + i] += found[i];
}

// The integers of some rows at one slot, times the roots of their weights; 0 where the value is missing.
void read_units(const LinearRows& rows, int32_t regressor, std::span<const int64_t> entries, double from, int exponent,
                const double* root, int64_t* out) {
    const double scale = std::ldexp(1.0, exponent),
                 scaled_from = from * scale; // a difference may be beyond all numbers
    for (size_t i = 0; i < entries.size(); ++i) {
        const double x = slot_value(rows, regressor, rows.ends.row[entries[i]]);
        out[i] = x == x ? std::llround((x * scale - scaled_from) * root[i]) : 0;
    }
}

Sum dot(const int64_t* a, const int64_t* b, size_t n) {
    Sum sum = 0;
    for (size_t i = 0; i < n; ++i) sum += static_cast<Sum>(a[i]) * b[i];
    return sum;
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

std::vector<int64_t> pair_starts(const NodeSlots& slots) {
    std::vector<int64_t> starts{0};
    for (int64_t node = 0; node < slots.nodes(); ++node) {
        const int64_t n = slots.size(node);
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
        const auto& [node, entries] = all.chunks[task];
        const int first = rows.slots.start[node], n = rows.slots.size(node);
        std::vector<double> low(n, none), high(n, -none);
        double max_weight = 0;
        for (const int64_t entry : entries) max_weight = std::max(max_weight, weight_of(rows, entry));
        for (int slot = 0; slot < n; ++slot) {
            for (const int64_t entry : entries) {
                const double x = slot_value(rows, rows.slots.regressor[first + slot], rows.ends.row[entry]);
                if (x < low[slot]) low[slot] = x;
                if (x > high[slot]) high[slot] = x;
            }
        }
        const std::lock_guard<std::mutex> lock(guard);
        for (int slot = 0; slot < n; ++slot) {
            found.low[first + slot] = std::min(found.low[first + slot], low[slot] + 0.0); // -0 and 0 are one value
            found.high[first + slot] = std::max(found.high[first + slot], high[slot] + 0.0);
        }
        found.max_weight[node] = std::max(found.max_weight[node], max_weight);
    });
    return found;
}

SlotMeans slot_means(const LinearRows& rows, const SlotRanges& ranges, ThreadPool& pool) {
    const size_t n_slots = rows.slots.regressor.size();
    SlotMeans found{std::vector<Sum>(n_slots, 0), std::vector<Sum>(n_slots, 0)};
    const Chunks all(rows);
    std::mutex guard;
    pool.run(static_cast<int64_t>(all.chunks.size()), [&](int64_t task) {
        const auto& [node, entries] = all.chunks[task];
        const int first = rows.slots.start[node], n = rows.slots.size(node);
        const double max_weight = ranges.max_weight[node];
        std::vector<Sum> sum(n, 0), known(n, 0);
        for (int slot = 0; slot < n; ++slot) {
            const int32_t regressor = rows.slots.regressor[first + slot];
            const double from = middle(ranges, static_cast<size_t>(first + slot));
            const double scale =
                std::ldexp(1.0, scale_exponent(farthest(ranges, static_cast<size_t>(first + slot), from)));
            for (const int64_t entry : entries) {
                const double x = slot_value(rows, regressor, rows.ends.row[entry]);
                if (x != x) continue;
                const double share = weight_of(rows, entry) / max_weight;
                sum[slot] += std::llround((x - from) * scale * share);
                known[slot] += std::llround(std::ldexp(share, unit_bits));
            }
        }
        const std::lock_guard<std::mutex> lock(guard);
        add(found.sum, first, sum);
        add(found.known_weight, first, known);
    });
    return found;
}

SlotProducts slot_products(const LinearRows& rows, const SlotRanges& ranges, std::span<const double> mean,
                           ThreadPool& pool) {
    const std::vector<int64_t> pairs = pair_starts(rows.slots);
    const auto nodes = static_cast<size_t>(rows.slots.nodes());
    SlotProducts found{std::vector<Sum>(static_cast<size_t>(pairs.back()), 0),
                       std::vector<Sum>(rows.slots.regressor.size(), 0), std::vector<Sum>(nodes, 0),
                       std::vector<int64_t>(nodes, 0)};
    const Chunks all(rows);
    std::mutex guard;
    pool.run(static_cast<int64_t>(all.chunks.size()), [&](int64_t task) {
        const auto& [node, entries] = all.chunks[task];
        const int first = rows.slots.start[node], n = rows.slots.size(node);
        std::vector<Sum> product(static_cast<size_t>(n) * (n + 1) / 2, 0), sum(n, 0);
        Sum weight = 0;
        std::vector<int64_t> units(static_cast<size_t>(n) * rows_at_once), ones(rows_at_once);
        std::vector<double> roots(rows_at_once);
        for (size_t begin = 0; begin < entries.size(); begin += rows_at_once) {
            const auto some = entries.subspan(begin, std::min<size_t>(rows_at_once, entries.size() - begin));
            for (size_t i = 0; i < some.size(); ++i) {
                roots[i] = std::sqrt(weight_of(rows, some[i]) / ranges.max_weight[node]);
                ones[i] = std::llround(std::ldexp(roots[i], unit_bits));
            }
            for (int slot = 0; slot < n; ++slot) {
                const size_t at = static_cast<size_t>(first + slot);
                const int exponent = scale_exponent(farthest(ranges, at, mean[at]));
                read_units(rows, rows.slots.regressor[at], some, mean[at], exponent, roots.data(),
                           &units[slot * rows_at_once]);
            }
            size_t pair = 0;
            for (int a = 0; a < n; ++a) {
                const int64_t* values = &units[a * rows_at_once];
                sum[a] += dot(values, ones.data(), some.size());
                for (int b = a; b < n; ++b) product[pair++] += dot(values, &units[b * rows_at_once], some.size());
            }
            weight += dot(ones.data(), ones.data(), some.size());
        }
        const std::lock_guard<std::mutex> lock(guard);
        add(found.product, pairs[node], product);
        add(found.sum, first, sum);
        found.weight[node] += weight;
        found.rows[node] += static_cast<int64_t>(entries.size());
    });
    return found;
}

} // namespace tw

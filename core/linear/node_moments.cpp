#include "linear/node_moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tw {
namespace {

// Beyond these a square is no ordinary number; such a column has no slope.
constexpr double too_large = 1e140, too_small = 1e-140;

bool is_usable(double max_abs) { return max_abs > too_small && max_abs < too_large; }

Moments own_moments(int64_t node, const NodeSlots& slots, const SlotRanges& ranges, std::span<const double> mean,
                    const SlotProducts& sums, int64_t first_pair) {
    const int first = slots.start[node], n = slots.size(node);
    Moments found;
    found.mean.resize(n);
    found.product.resize(static_cast<size_t>(n) * (n + 1) / 2);
    found.target_low = ranges.low[first + n - 1];
    found.target_high = ranges.high[first + n - 1];
    for (int i = 0; i < n; ++i) found.mean[i] = Wide(mean[first + i]);
    if (sums.rows[node] == 0) return found;
    found.rows = static_cast<double>(sums.rows[node]);
    const Wide heaviest(ranges.max_weight[node]);
    const Wide share = scaled_by(wide_of(sums.weight[node]), -2 * unit_bits); // in weights of the heaviest row
    found.weight = share * heaviest;
    std::vector<int> exponent(n);
    std::vector<char> usable(n);
    std::vector<Wide> sum(n);
    for (int i = 0; i < n; ++i) {
        const double low = ranges.low[first + i], high = ranges.high[first + i], from = mean[first + i];
        const double max_abs = low > high ? 0 : std::max(std::abs(high - from), std::abs(low - from));
        exponent[i] = scale_exponent(max_abs);
        usable[i] = is_usable(max_abs);
        if (!usable[i]) continue;
        sum[i] = scaled_by(wide_of(sums.sum[first + i]), -exponent[i] - unit_bits);
        found.mean[i] = found.mean[i] + sum[i] / share;
    }
    size_t pair = 0;
    for (int a = 0; a < n; ++a) {
        for (int b = a; b < n; ++b, ++pair) {
            if (!usable[a] || !usable[b]) continue;
            const Wide product =
                scaled_by(wide_of(sums.product[static_cast<size_t>(first_pair) + pair]), -exponent[a] - exponent[b]);
            found.product[pair] = (product - sum[a] * sum[b] / share) * heaviest;
        }
    }
    return found;
}

// Where each slot of the parent stands among those of the child.
std::vector<int> places_in(const NodeSlots& slots, int64_t parent, int64_t child) {
    std::vector<int> places;
    const auto own = slots.regressor.subspan(slots.start[child], slots.size(child));
    for (int i = 0; i < slots.size(parent); ++i) {
        const auto at = std::find(own.begin(), own.end(), slots.regressor[slots.start[parent] + i]);
        places.push_back(static_cast<int>(at - own.begin()));
    }
    return places;
}

// The moments of both together (Chan, Golub and LeVeque 1983).
void add(Moments& to, const Moments& child, const std::vector<int>& places) {
    if (!(child.weight.high > 0)) return;
    const int n = to.size();
    to.target_low = std::min(to.target_low, child.target_low);
    to.target_high = std::max(to.target_high, child.target_high);
    to.rows += child.rows;
    const bool empty = !(to.weight.high > 0);
    const Wide weight = to.weight + child.weight;
    const Wide part = child.weight / weight, factor = to.weight * part;
    std::vector<Wide> distance(n);
    for (int i = 0; i < n; ++i) distance[i] = child.mean[places[i]] - to.mean[i];
    size_t pair = 0;
    for (int a = 0; a < n; ++a) {
        for (int b = a; b < n; ++b, ++pair) {
            const Wide own = child.of(places[a], places[b]);
            to.product[pair] = empty ? own : to.product[pair] + own + distance[a] * distance[b] * factor;
        }
    }
    for (int i = 0; i < n; ++i) to.mean[i] = empty ? child.mean[places[i]] : to.mean[i] + distance[i] * part;
    to.weight = weight;
}

} // namespace

std::vector<Moments> node_moments(std::span<const int32_t> parent, const NodeSlots& slots, const SlotRanges& ranges,
                                  std::span<const double> mean, const SlotProducts& sums, ThreadPool& pool) {
    const std::vector<int64_t> pairs = pair_starts(slots, ranges);
    std::vector<Moments> found(static_cast<size_t>(slots.nodes()));
    pool.run(slots.nodes(),
             [&](int64_t node) { found[node] = own_moments(node, slots, ranges, mean, sums, pairs[node]); });
    // A child comes after its parent. Children are added from the last to the first, whatever the rows.
    for (int64_t node = slots.nodes() - 1; node > 0; --node) {
        add(found[parent[node]], found[node], places_in(slots, parent[node], node));
    }
    return found;
}

} // namespace tw

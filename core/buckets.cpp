#include "buckets.hpp"

#include <bit>

namespace tw {

Pile::Pile(const Measure& measure, const Buckets& buckets)
    : measure_(measure), buckets_(buckets), stat_(measure.sums(), 0) {
    if (measure.needs == Needs::medians) {
        weight_tree_.assign(buckets.ranks.size() + 1, 0);
        sum_tree_.assign(buckets.ranks.size() + 1, 0);
    }
}

void Pile::change(const Bin& bin, int sign) {
    rows_ += sign * bin.rows;
    for (size_t i = 0; i < stat_.size(); ++i) stat_[i] += sign * bin.stat[i];
    for (const Member& member : bin.members) {
        const Sum weight = sign * member.weight;
        const Sum sum = weight * measure_.rank_target[buckets_.ranks[member.rank]];
        for (size_t i = member.rank + 1; i < weight_tree_.size(); i += i & (~i + 1)) {
            weight_tree_[i] += weight;
            sum_tree_[i] += sum;
        }
    }
}

void Pile::read(double* out) const {
    if (measure_.needs == Needs::medians) {
        read_median(out);
    } else {
        measure_.read(stat_.data(), out);
    }
}

// The lower median is the smallest target whose cumulative weight reaches half; the walk keeps below it.
Pile::Median Pile::find_median() const {
    Median found{0, 0, 0};
    for (size_t step = std::bit_floor(weight_tree_.size() - 1); step > 0; step /= 2) {
        const size_t next = found.below + step;
        if (next >= weight_tree_.size() || 2 * (found.weight_below + weight_tree_[next]) >= stat_[0]) continue;
        found.below = next;
        found.weight_below += weight_tree_[next];
        found.sum_below += sum_tree_[next];
    }
    return found;
}

void Pile::read_median(double* out) const {
    const Sum total = stat_[0];
    out[0] = static_cast<double>(total) * measure_.weight_unit;
    out[1] = out[2] = 0;
    if (total <= 0) return;
    const Median found = find_median();
    const Sum median = measure_.rank_target[buckets_.ranks[found.below]];
    const Sum below = median * found.weight_below - found.sum_below;
    const Sum above = (stat_[1] - found.sum_below) - median * (total - found.weight_below);
    out[1] = static_cast<double>(median) * measure_.target_unit;
    out[2] = static_cast<double>(below + above) * measure_.sum_unit;
}

} // namespace tw

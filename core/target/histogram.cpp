#include "target/histogram.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/interrupt.hpp"
#include "base/sorted_union.hpp"

namespace tw {
void Histogram::merge(const Histogram& other) {
    SortedUnion<double> both(at, other.at);
    both.of_first.push_back(both.all.size()); // the missing bin comes last
    both.of_second.push_back(both.all.size());
    const size_t bins = both.all.size() + 1;
    std::vector<int64_t> all_rows(bins, 0);
    std::vector<Sum> all_stats(bins * static_cast<size_t>(width), 0);
    const bool has_members = !member_start.empty() || !other.member_start.empty();
    std::vector<std::vector<TargetWeight>> members_of(has_members ? bins : 0);
    std::vector<uint32_t> all_ranks;
    std::set_union(ranks.begin(), ranks.end(), other.ranks.begin(), other.ranks.end(), std::back_inserter(all_ranks));
    const auto add = [&](const Histogram& from, const std::vector<size_t>& positions) {
        for (size_t i = 0; i < positions.size(); ++i) {
            const Bin bin = from.bin(static_cast<int>(i));
            all_rows[positions[i]] += bin.rows;
            for (int s = 0; s < width; ++s) all_stats[positions[i] * static_cast<size_t>(width) + s] += bin.stat[s];
            for (const TargetWeight& member : bin.members) {
                const auto rank = std::lower_bound(all_ranks.begin(), all_ranks.end(), from.ranks[member.rank]);
                members_of[positions[i]].push_back({static_cast<uint32_t>(rank - all_ranks.begin()), member.weight});
            }
        }
    };
    add(*this, both.of_first);
    add(other, both.of_second);
    std::vector<TargetWeight> all_members;
    std::vector<size_t> start;
    for (std::vector<TargetWeight>& bin : members_of) {
        start.push_back(all_members.size());
        std::sort(bin.begin(), bin.end(), [](const TargetWeight& a, const TargetWeight& b) { return a.rank < b.rank; });
        for (const TargetWeight& member : bin) {
            if (all_members.size() > start.back() && all_members.back().rank == member.rank) {
                all_members.back().weight += member.weight;
            } else {
                all_members.push_back(member);
            }
        }
    }
    if (!members_of.empty()) start.push_back(all_members.size());
    at = std::move(both.all);
    rows = std::move(all_rows);
    stats = std::move(all_stats);
    ranks = std::move(all_ranks);
    members = std::move(all_members);
    member_start = std::move(start);
}

Accumulator::Accumulator(const Measure& measure, const Histogram& histogram)
    : measure_(measure), histogram_(histogram), stat_(measure.sums(), 0) {
    if (measure.statistic == Statistic::medians) {
        weight_tree_.assign(histogram.ranks.size() + 1, 0);
        sum_tree_.assign(histogram.ranks.size() + 1, 0);
    }
}

void Accumulator::change(const Bin& bin, int sign) {
    rows_ += sign * bin.rows;
    for (size_t i = 0; i < stat_.size(); ++i) stat_[i] += sign * bin.stat[i];
    if (bin.members.size() > weight_tree_.size() / 8) return change_many(bin.members, sign);
    for (const TargetWeight& member : bin.members) {
        if (++changes_ % 4096 == 0) check_interrupt();
        const Sum weight = sign * member.weight;
        const Sum sum = weight * measure_.rank_target[histogram_.ranks[member.rank]];
        for (size_t i = member.rank + 1; i < weight_tree_.size(); i += i & (~i + 1)) {
            weight_tree_[i] += weight;
            sum_tree_[i] += sum;
        }
    }
}

// One pass over the whole trees: every node of a tree passes what was added to it on to its parent.
void Accumulator::change_many(std::span<const TargetWeight> members, int sign) {
    check_interrupt();
    std::vector<Sum> weights(weight_tree_.size(), 0), sums(weight_tree_.size(), 0);
    for (const TargetWeight& member : members) {
        const Sum weight = sign * member.weight;
        weights[member.rank + 1] += weight;
        sums[member.rank + 1] += weight * measure_.rank_target[histogram_.ranks[member.rank]];
    }
    for (size_t i = 1; i < weights.size(); ++i) {
        weight_tree_[i] += weights[i];
        sum_tree_[i] += sums[i];
        const size_t parent = i + (i & (~i + 1));
        if (parent >= weights.size()) continue;
        weights[parent] += weights[i];
        sums[parent] += sums[i];
    }
}

void Accumulator::read(double* out) const {
    if (measure_.statistic == Statistic::medians) {
        read_median(out);
    } else {
        measure_.read(stat_.data(), out);
    }
}

// The lower median is the smallest target whose cumulative weight reaches half; the walk keeps below it.
Accumulator::Median Accumulator::find_median() const {
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

void Accumulator::read_median(double* out) const {
    const Sum total = stat_[0];
    out[0] = static_cast<double>(total) * measure_.weight_unit;
    out[1] = out[2] = 0;
    if (total <= 0) return;
    const Median found = find_median();
    const Sum median = measure_.rank_target[histogram_.ranks[found.below]];
    const Sum below = median * found.weight_below - found.sum_below;
    const Sum above = (stat_[1] - found.sum_below) - median * (total - found.weight_below);
    out[1] = static_cast<double>(median) * measure_.target_unit;
    out[2] = static_cast<double>(below + above) * measure_.sum_unit;
}

} // namespace tw

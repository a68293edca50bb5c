#include "split/group_similarity.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/interrupt.hpp"
#include "split/ties.hpp"

namespace tw {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Ranges of degrees of freedom: one each for chi-square; for F, which has one between two groups, those within groups
// in eight ranges from one power of two to the next.
constexpr int dropped_bits = 49;
constexpr uint64_t first_range = std::bit_cast<uint64_t>(1.0) >> dropped_bits;

size_t range_of(bool classes, const Test& pair) {
    if (classes) return static_cast<size_t>(pair.degrees);
    if (!(pair.degrees_within >= 1)) return 0;
    return static_cast<size_t>((std::bit_cast<uint64_t>(pair.degrees_within) >> dropped_bits) - first_range) + 1;
}

// The smallest degrees of freedom within groups of a range.
double smallest_in(size_t range) {
    return range == 0 ? 0 : std::bit_cast<double>((range - 1 + first_range) << dropped_bits);
}

} // namespace

bool LargestP::offer(Criterion criterion, const Test& pair) {
    const bool classes = is_for_classes(criterion);
    const size_t range = range_of(classes, pair);
    if (range >= low_.size()) low_.resize(range + 1, classes || low_.empty() ? infinity : low_.back());
    if (pair.statistic >= low_[range]) return false;
    Test limit = pair;
    if (!classes) limit.degrees_within = smallest_in(range);
    const double limit_log_p = test_log_p(criterion, limit);
    const bool is_exact = limit.degrees_within == pair.degrees_within || limit_log_p <= log_p_;
    const double log_p = is_exact ? limit_log_p : test_log_p(criterion, pair);
    const bool is_larger = log_p > log_p_;
    if (is_larger) log_p_ = log_p;
    if (classes) {
        low_[range] = pair.statistic;
    } else {
        for (size_t i = limit_log_p <= log_p_ ? range : range + 1; i < low_.size() && low_[i] > pair.statistic; ++i)
            low_[i] = pair.statistic;
    }
    return is_larger;
}

GroupSimilarity::GroupSimilarity(Criterion criterion, bool ordered, int width, std::span<const double> stats)
    : criterion_(criterion),
      ordered_(ordered),
      width_(static_cast<size_t>(width)),
      stats_(stats.begin(), stats.end()),
      groups_(stats.size() / width_),
      rows_(groups_.size()),
      column_(width_) {
    for (size_t slot = 0; slot < groups_.size(); ++slot) {
        slots_.push_back(slot);
        write(slot, stats.subspan(slot * width_, width_));
    }
    for (const size_t slot : slots_) scan(slot);
}

void GroupSimilarity::set(size_t slot, Stat stat) {
    const auto position = std::lower_bound(slots_.begin(), slots_.end(), slot);
    if (position == slots_.end() || *position != slot) slots_.insert(position, slot);
    write(slot, stat);
    forget(slot);
    scan(slot);
    const auto end = std::lower_bound(slots_.begin(), slots_.end(), slot);
    for (auto earlier = ordered_ && end != slots_.begin() ? end - 1 : slots_.begin(); earlier != end; ++earlier)
        offer(*earlier, slot);
}

void GroupSimilarity::erase(size_t slot) {
    const auto position = slots_.erase(std::lower_bound(slots_.begin(), slots_.end(), slot));
    forget(slot);
    if (ordered_ && position != slots_.begin() && position != slots_.end()) offer(*(position - 1), *position);
}

GroupSimilarity::Pair GroupSimilarity::most_alike() {
    check_interrupt();
    size_t top = slots_.front();
    while (true) {
        for (const size_t slot : slots_) {
            if (rows_[slot].largest.log_p() > rows_[top].largest.log_p()) top = slot;
        }
        if (rows_[top].exact) break;
        scan(top);
    }
    // Nothing beats the first pair this close to the largest, unless a pair before it is so close to both that it would
    // have been taken and kept.
    const double most = rows_[top].largest.log_p();
    for (const size_t slot : slots_) {
        if (rows_[slot].largest.log_p() < most - 2 * rounding) continue;
        if (!rows_[slot].exact) scan(slot);
        if (rows_[slot].largest.log_p() < most - 2 * rounding) continue;
        return rows_[slot].largest.log_p() > most - rounding ? first_in_row(slot, most) : scan_all();
    }
    return scan_all();
}

Test GroupSimilarity::test(size_t a, size_t b) {
    const TestGroup pair[2] = {groups_[a], groups_[b]};
    return test_statistic(criterion_, std::span<const TestGroup, 2>(pair), column_);
}

template <class Act>
void GroupSimilarity::each_partner(size_t slot, const Act& act) const {
    auto partner = std::upper_bound(slots_.begin(), slots_.end(), slot);
    const auto end = ordered_ && partner != slots_.end() ? partner + 1 : slots_.end();
    while (partner != end && !act(*partner)) ++partner;
}

void GroupSimilarity::write(size_t slot, Stat stat) {
    double* to = &stats_[slot * width_];
    std::copy(stat.begin(), stat.end(), to);
    groups_[slot] = test_group(criterion_, {to, width_});
}

void GroupSimilarity::scan(size_t slot) {
    check_interrupt();
    rows_[slot] = {};
    each_partner(slot, [&](size_t partner) {
        offer(slot, partner);
        return false;
    });
    rows_[slot].exact = true;
}

void GroupSimilarity::offer(size_t slot, size_t partner) {
    Row& row = rows_[slot];
    if (!row.largest.offer(criterion_, test(slot, partner))) return;
    row.partner = partner;
    row.exact = true;
}

void GroupSimilarity::forget(size_t slot) {
    for (const size_t earlier : slots_) {
        if (earlier >= slot) break;
        if (rows_[earlier].partner == slot) rows_[earlier].exact = false;
    }
}

GroupSimilarity::Pair GroupSimilarity::first_in_row(size_t slot, double most) {
    Pair found;
    LargestP largest(most - 2 * rounding);
    each_partner(slot, [&](size_t partner) {
        if (!largest.offer(criterion_, test(slot, partner))) return false;
        found = {slot, partner, largest.log_p()};
        return true;
    });
    return found.log_p > most - rounding ? found : scan_all();
}

GroupSimilarity::Pair GroupSimilarity::scan_all() {
    Pair best;
    for (const size_t slot : slots_) {
        check_interrupt();
        each_partner(slot, [&](size_t partner) {
            const double log_p = test_log_p(criterion_, test(slot, partner));
            if (log_p > best.log_p + rounding) best = {slot, partner, log_p};
            return false;
        });
    }
    return best;
}

} // namespace tw

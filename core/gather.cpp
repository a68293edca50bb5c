#include "gather.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tw {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Placed = std::vector<std::pair<double, size_t>>; // value and entry

// Orders by value, then by entry. Level codes are sorted by counting them, unless there are far more levels than rows.
void order(Placed& placed, int levels) {
    if (levels == 0 || static_cast<size_t>(levels) > 4 * placed.size()) {
        std::sort(placed.begin(), placed.end());
        return;
    }
    std::vector<size_t> next(static_cast<size_t>(levels) + 1, 0);
    for (const auto& [code, entry] : placed) ++next[static_cast<size_t>(code) + 1];
    for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    Placed ordered(placed.size());
    for (const auto& each : placed) ordered[next[static_cast<size_t>(each.first)]++] = each;
    placed.swap(ordered);
}

// Which target ranks lie in which bin; `bin_of(entry number)` names it.
template <class BinOf>
void attach_members(const Measure& measure, std::span<const Entry> entries, Buckets& buckets, BinOf bin_of) {
    for (const Entry& entry : entries) buckets.ranks.push_back(measure.rank[entry.row]);
    std::sort(buckets.ranks.begin(), buckets.ranks.end());
    buckets.ranks.erase(std::unique(buckets.ranks.begin(), buckets.ranks.end()), buckets.ranks.end());
    // A counting sort of the entries by bin.
    std::vector<size_t>& start = buckets.member_start;
    start.assign(buckets.at.size() + 2, 0);
    for (size_t i = 0; i < entries.size(); ++i) ++start[bin_of(i) + 1];
    for (size_t b = 1; b < start.size(); ++b) start[b] += start[b - 1];
    std::vector<size_t> next(start.begin(), start.end() - 1);
    buckets.members.resize(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
        const uint32_t rank = measure.rank[entries[i].row];
        const auto place = std::lower_bound(buckets.ranks.begin(), buckets.ranks.end(), rank);
        buckets.members[next[bin_of(i)]++] = {static_cast<uint32_t>(place - buckets.ranks.begin()), entries[i].weight};
    }
}

// Buckets of the entries for which add(sums, entry) returns true.
template <class Add>
Buckets gather(const Source& source, std::span<const Entry> entries, int column, int width, Add add) {
    Buckets buckets;
    buckets.column = column;
    buckets.width = width;
    Placed placed; // known ones only
    std::vector<size_t> missing;
    placed.reserve(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
        const double x = source.value(column, entries[i].row);
        if (std::isnan(x)) {
            missing.push_back(i);
        } else {
            placed.push_back({x, i});
        }
    }
    order(placed, source.facts[column].levels);
    Sum* sums = nullptr;
    for (const auto& [x, i] : placed) {
        if (buckets.at.empty() || buckets.at.back() != x) {
            buckets.at.push_back(x);
            sums = buckets.append();
        }
        if (add(sums, entries[i])) ++buckets.rows.back();
    }
    sums = buckets.append();
    for (size_t i : missing) {
        if (add(sums, entries[i])) ++buckets.rows.back();
    }
    if (source.measure.needs == Needs::medians) {
        std::vector<size_t> bin_of(entries.size(), buckets.at.size());
        size_t bin = 0;
        for (const auto& [x, i] : placed) {
            while (buckets.at[bin] != x) ++bin;
            bin_of[i] = bin;
        }
        attach_members(source.measure, entries, buckets, [&](size_t i) { return bin_of[i]; });
    }
    return buckets;
}

} // namespace

double Source::value(int column, uint32_t row) const {
    const Column& data = table.columns[column];
    if (data.kind == Kind::number && !facts[column].binned) return data.numbers[row];
    const int code = facts[column].binned ? bin_codes[column][row] : data.codes[row];
    return code < 0 ? nan : code;
}

Total total_of(const Source& source, std::span<const Entry> entries) {
    const Measure& measure = source.measure;
    Total total;
    Buckets& all = total.all;
    all.width = measure.sums();
    all.at.push_back(0);
    Sum* sums = all.append();
    for (const Entry& entry : entries) measure.add(sums, entry);
    all.rows.back() = static_cast<int64_t>(entries.size());
    all.append();
    if (measure.n_classes > 0 || entries.empty()) return total;
    const double* y = measure.raw;
    const auto [low, high] = std::minmax_element(entries.begin(), entries.end(),
                                                 [y](const Entry& a, const Entry& b) { return y[a.row] < y[b.row]; });
    total.low = y[low->row];
    total.high = y[high->row];
    if (measure.needs == Needs::medians) attach_members(measure, entries, all, [](size_t) { return size_t{0}; });
    return total;
}

Buckets count_target(const Source& source, std::span<const Entry> entries, int column) {
    return gather(source, entries, column, source.measure.sums(), [&](Sum* stat, const Entry& entry) {
        source.measure.add(stat, entry);
        return true;
    });
}

Buckets count_children(const Source& source, std::span<const Entry> entries, int column, const Split& split) {
    const int children = split.children();
    const Column& asked = source.table.columns[split.column];
    return gather(source, entries, column, 2 * children, [&, children](Sum* stat, const Entry& entry) {
        const int child = route(split, asked, entry.row);
        if (child < 0) return false;
        stat[child] += entry.weight;
        stat[children + child] += 1;
        return true;
    });
}

} // namespace tw

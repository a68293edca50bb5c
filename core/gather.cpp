#include "gather.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "breathe.hpp"

namespace tw {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Placed = std::vector<std::pair<double, size_t>>; // value and entry

// Which target ranks lie in which bin; `bin_of(entry number)` names it.
template <class BinOf>
void attach_members(const Measure& measure, std::span<const Entry> entries, Buckets& buckets, BinOf bin_of) {
    for (const Entry& entry : entries) buckets.ranks.push_back(measure.rank[entry.row]);
    sort_long(buckets.ranks.begin(), buckets.ranks.end());
    buckets.ranks.erase(std::unique(buckets.ranks.begin(), buckets.ranks.end()), buckets.ranks.end());
    // A counting sort of the entries by bin.
    std::vector<size_t>& start = buckets.member_start;
    start.assign(buckets.at.size() + 2, 0);
    for (size_t i = 0; i < entries.size(); ++i) ++start[bin_of(i) + 1];
    for (size_t b = 1; b < start.size(); ++b) start[b] += start[b - 1];
    std::vector<size_t> next(start.begin(), start.end() - 1);
    buckets.members.resize(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
        if (i % 65536 == 65535) breathe();
        const uint32_t rank = measure.rank[entries[i].row];
        const auto place = std::lower_bound(buckets.ranks.begin(), buckets.ranks.end(), rank);
        buckets.members[next[bin_of(i)]++] = {static_cast<uint32_t>(place - buckets.ranks.begin()), entries[i].weight};
    }
}

// The codes of a column of levels or binned numbers; null for other numbers.
const int32_t* codes_of(const Source& source, int column) {
    if (source.facts[column].binned) return source.bin_codes[column].data();
    return source.table.columns[column].codes;
}

// Levels are counted where they stand, without ordering the entries: worth it unless there are far more of them.
template <class Add>
Buckets gather_levels(const Source& source, std::span<const Entry> entries, int column, int width, Add add) {
    const int32_t* codes = codes_of(source, column);
    const size_t levels = static_cast<size_t>(source.facts[column].levels), all = static_cast<size_t>(width);
    const bool has_members = source.measure.needs == Needs::medians;
    std::vector<size_t> places; // of entries: a code that is read twice may be two codes
    std::vector<Sum> sums((levels + 1) * all, 0);
    std::vector<int64_t> rows(levels + 1, 0), listed(levels + 1, 0);
    for (const Entry& entry : entries) {
        const size_t place = std::min(levels, static_cast<size_t>(codes[entry.row])); // missing ones come last
        if (has_members) places.push_back(place);
        ++listed[place];
        rows[place] += static_cast<int64_t>(add(&sums[place * all], entry));
    }
    Buckets buckets;
    buckets.column = column;
    buckets.width = width;
    std::vector<size_t> bin_of(levels + 1);
    for (size_t place = 0; place <= levels; ++place) {
        bin_of[place] = buckets.at.size();
        if (listed[place] == 0 && place < levels) continue;
        if (place < levels) buckets.at.push_back(static_cast<double>(place));
        std::copy_n(&sums[place * all], all, buckets.append());
        buckets.rows.back() = rows[place];
    }
    if (has_members) {
        attach_members(source.measure, entries, buckets, [&](size_t i) { return bin_of[places[i]]; });
    }
    return buckets;
}

// Values are ordered and counted as they come.
template <class Add>
Buckets gather_values(const Source& source, std::span<const Entry> entries, int column, int width, Add add) {
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
    sort_long(placed.begin(), placed.end());
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

// Buckets of the entries for which add(sums, entry) returns true.
template <class Add>
Buckets gather(const Source& source, std::span<const Entry> entries, int column, int width, const Add& add) {
    const size_t levels = static_cast<size_t>(source.facts[column].levels);
    if (levels > 0 && levels <= 4 * entries.size()) return gather_levels(source, entries, column, width, add);
    return gather_values(source, entries, column, width, add);
}

} // namespace

double Source::value(int column, uint32_t row) const {
    const int32_t* codes = codes_of(*this, column);
    if (!codes) return table.columns[column].numbers[row];
    const int32_t code = codes[row];
    return code < 0 || code >= facts[static_cast<size_t>(column)].levels ? nan : code;
}

Total total_of(const Source& source, std::span<const Entry> entries) {
    const Measure& measure = source.measure;
    Total total;
    Buckets& all = total.all;
    all.width = measure.sums();
    all.at.push_back(0);
    Sum* sums = all.append();
    if (measure.n_classes > 0) {
        std::vector<int64_t> weight(static_cast<size_t>(measure.n_classes), 0); // all of it fits
        for (const Entry& entry : entries) weight[static_cast<size_t>(measure.classes[entry.row])] += entry.weight;
        std::copy(weight.begin(), weight.end(), sums);
    } else {
        for (const Entry& entry : entries) measure.add(sums, entry);
    }
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

Sides count_sides(const Source& source, std::span<const Entry> entries, int column, bool is_cut, double at) {
    const size_t width = static_cast<size_t>(source.measure.sums());
    const double far = std::numeric_limits<double>::infinity();
    Sides sides{std::vector<Sum>(3 * width, 0), {0, 0, 0}, -far, far};
    for (const Entry& entry : entries) {
        const double x = source.value(column, entry.row);
        const size_t side = x != x ? 2 : is_cut && x > at ? 1 : 0;
        source.measure.add(&sides.stats[side * width], entry);
        ++sides.rows[side];
        if (side == 0) sides.below = std::max(sides.below, x);
        if (side == 1) sides.above = std::min(sides.above, x);
    }
    return sides;
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

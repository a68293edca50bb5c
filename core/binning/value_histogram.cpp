#include "binning/value_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/interrupt.hpp"
#include "base/sorted_union.hpp"

namespace tw {
namespace {

using ValueAndEntry = std::vector<std::pair<double, size_t>>; // value and entry

// Which target ranks lie in which bin; `bin_of(entry number)` names it.
template <class BinOf>
void attach_members(const Measure& measure, std::span<const Entry> entries, Histogram& histogram, BinOf bin_of) {
    std::vector<uint32_t>& ranks = histogram.ranks;
    ranks.reserve(entries.size());
    for (const Entry& entry : entries) ranks.push_back(measure.rank[entry.row]);
    if (!std::is_sorted(ranks.begin(), ranks.end())) std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    // A counting sort of the entries by bin.
    std::vector<size_t>& start = histogram.member_start;
    start.assign(histogram.at.size() + 2, 0);
    for (size_t i = 0; i < entries.size(); ++i) ++start[bin_of(i) + 1];
    for (size_t b = 1; b < start.size(); ++b) start[b] += start[b - 1];
    std::vector<size_t> next(start.begin(), start.end() - 1);
    histogram.members.resize(entries.size());
    size_t place = 0; // where the rank before was found: in rows by target the next is there, or one further on
    for (size_t i = 0; i < entries.size(); ++i) {
        if (i % 65536 == 65535) check_interrupt();
        const uint32_t rank = measure.rank[entries[i].row];
        if (place + 1 < ranks.size() && ranks[place + 1] == rank) ++place;
        if (ranks[place] != rank) {
            place = static_cast<size_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
        }
        histogram.members[next[bin_of(i)]++] = {static_cast<uint32_t>(place), entries[i].weight};
    }
}

// Levels are counted where they stand, without ordering the entries: worth it unless there are far more of them.
template <class Add>
Histogram count_levels(const TrainingTable& training, std::span<const Entry> entries, int column, int width, Add add) {
    const int32_t* codes = codes_of(training, column);
    const size_t levels = static_cast<size_t>(training.facts[column].levels), all = static_cast<size_t>(width);
    const bool has_members = training.measure.statistic == Statistic::medians;
    std::vector<size_t> assignment; // of entries: a code that is read twice may be two codes
    std::vector<Sum> sums((levels + 1) * all, 0);
    std::vector<int64_t> rows(levels + 1, 0), listed(levels + 1, 0);
    for (const Entry& entry : entries) {
        const size_t position = std::min(levels, static_cast<size_t>(codes[entry.row])); // missing ones come last
        if (has_members) assignment.push_back(position);
        ++listed[position];
        rows[position] += static_cast<int64_t>(add(&sums[position * all], entry));
    }
    Histogram histogram;
    histogram.column = column;
    histogram.width = width;
    std::vector<size_t> bin_of(levels + 1);
    for (size_t position = 0; position <= levels; ++position) {
        bin_of[position] = histogram.at.size();
        if (listed[position] == 0 && position < levels) continue;
        if (position < levels) histogram.at.push_back(static_cast<double>(position));
        std::copy_n(&sums[position * all], all, histogram.append());
        histogram.rows.back() = rows[position];
    }
    if (has_members) {
        attach_members(training.measure, entries, histogram, [&](size_t i) { return bin_of[assignment[i]]; });
    }
    return histogram;
}

// Values are ordered and counted as they come.
template <class Add>
Histogram count_values(const TrainingTable& training, std::span<const Entry> entries, int column, int width, Add add) {
    Histogram histogram;
    histogram.column = column;
    histogram.width = width;
    ValueAndEntry sorted; // known ones only
    std::vector<size_t> missing;
    sorted.reserve(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
        const double x = training.value(column, entries[i].row);
        if (std::isnan(x)) {
            missing.push_back(i);
        } else {
            sorted.push_back({x, i});
        }
    }
    sort_interruptible(sorted.begin(), sorted.end());
    Sum* sums = nullptr;
    for (const auto& [x, i] : sorted) {
        if (histogram.at.empty() || histogram.at.back() != x) {
            histogram.at.push_back(x);
            sums = histogram.append();
        }
        if (add(sums, entries[i])) ++histogram.rows.back();
    }
    sums = histogram.append();
    for (size_t i : missing) {
        if (add(sums, entries[i])) ++histogram.rows.back();
    }
    if (training.measure.statistic == Statistic::medians) {
        std::vector<size_t> bin_of(entries.size(), histogram.at.size());
        size_t bin = 0;
        for (const auto& [x, i] : sorted) {
            while (histogram.at[bin] != x) ++bin;
            bin_of[i] = bin;
        }
        attach_members(training.measure, entries, histogram, [&](size_t i) { return bin_of[i]; });
    }
    return histogram;
}

// The histogram of the entries for which add(sums, entry) returns true.
template <class Add>
Histogram count_by_value(const TrainingTable& training, std::span<const Entry> entries, int column, int width,
                         const Add& add) {
    const size_t levels = static_cast<size_t>(training.facts[column].levels);
    if (levels > 0 && levels <= 4 * entries.size()) return count_levels(training, entries, column, width, add);
    return count_values(training, entries, column, width, add);
}

} // namespace

Total node_total(const TrainingTable& training, std::span<const Entry> entries) {
    const Measure& measure = training.measure;
    Total total;
    Histogram& all = total.all;
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
    if (measure.statistic == Statistic::medians)
        attach_members(measure, entries, all, [](size_t) { return size_t{0}; });
    return total;
}

Histogram target_histogram(const TrainingTable& training, std::span<const Entry> entries, int column) {
    return count_by_value(training, entries, column, training.measure.sums(), [&](Sum* stat, const Entry& entry) {
        training.measure.add(stat, entry);
        return true;
    });
}

Histogram histogram_of_children(const TrainingTable& training, std::span<const Entry> entries, const Split& split) {
    const Column& column = training.table.columns[split.column];
    const size_t children = static_cast<size_t>(split.children());
    const size_t width = static_cast<size_t>(training.measure.sums());
    Histogram histogram;
    histogram.column = split.column;
    histogram.width = training.measure.sums();
    for (size_t bin = 0; bin <= children; ++bin) {
        if (bin < children) histogram.at.push_back(static_cast<double>(bin));
        histogram.append();
    }
    std::vector<size_t> bin_of;
    bin_of.reserve(entries.size());
    for (const Entry& entry : entries) {
        const int child = route(split, column, entry.row);
        bin_of.push_back(child < 0 ? children : static_cast<size_t>(child));
        training.measure.add(&histogram.stats[bin_of.back() * width], entry);
        ++histogram.rows[bin_of.back()];
    }
    if (training.measure.statistic == Statistic::medians) {
        attach_members(training.measure, entries, histogram, [&](size_t i) { return bin_of[i]; });
    }
    return histogram;
}

Histogram histogram_of_sides(const TrainingTable& training, std::span<const Entry> entries, int column,
                             std::vector<double> at) {
    const size_t width = static_cast<size_t>(training.measure.sums()), missing = at.size();
    Histogram histogram;
    histogram.column = column;
    histogram.width = training.measure.sums();
    histogram.at = std::move(at);
    for (size_t bin = 0; bin <= missing; ++bin) histogram.append();
    const double below = missing == 2 ? histogram.at[0] : std::numeric_limits<double>::infinity();
    std::vector<uint8_t> bin_of(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
        const double x = training.value(column, entries[i].row);
        const size_t bin = x != x ? missing : x > below ? 1 : 0;
        bin_of[i] = static_cast<uint8_t>(bin);
        training.measure.add(&histogram.stats[bin * width], entries[i]);
        ++histogram.rows[bin];
    }
    if (training.measure.statistic == Statistic::medians) {
        attach_members(training.measure, entries, histogram, [&](size_t i) { return bin_of[i]; });
    }
    return histogram;
}

Histogram child_histogram(const TrainingTable& training, std::span<const Entry> entries, int column,
                          const Split& split) {
    const int children = split.children();
    const Column& split_column = training.table.columns[split.column];
    return count_by_value(training, entries, column, 2 * children, [&, children](Sum* stat, const Entry& entry) {
        const int child = route(split, split_column, entry.row);
        if (child < 0) return false;
        stat[child] += entry.weight;
        stat[children + child] += 1;
        return true;
    });
}

} // namespace tw

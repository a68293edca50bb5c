#include "remote/protocol.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/sorted_union.hpp"

namespace tw {
namespace {

template <class Value>
void add_each(std::vector<Value>& into, const std::vector<Value>& from) {
    if (into.size() != from.size()) throw std::invalid_argument("two replies do not belong to the same request");
    for (size_t i = 0; i < into.size(); ++i) into[i] += from[i];
}

template <class Value>
void append(std::vector<Value>& into, const std::vector<Value>& from) {
    into.insert(into.end(), from.begin(), from.end());
}

void merge(ColumnValues& into, const ColumnValues& from) {
    SortedUnion<double> both(into.value, from.value);
    into.weight = both.sums(into.weight, from.weight, 1);
    into.value = std::move(both.all);
}

void merge(Cells& into, const Cells& from) {
    if (from.cell.empty()) return;
    if (into.cell.empty()) {
        into = from;
        return;
    }
    SortedUnion<uint64_t> both(into.cell, from.cell);
    const auto merge_words = [&](auto& words, const auto& more) {
        if (!words.empty()) words = both.sums(words, more, words.size() / into.cell.size());
    };
    merge_words(into.counts.narrow, from.counts.narrow);
    merge_words(into.counts.wide, from.counts.wide);
    merge_words(into.counts.widest, from.counts.widest);
    into.cell = std::move(both.all);
}

void merge(CutEdges& into, const CutEdges& from) {
    into.below = std::max(into.below, from.below);
    into.above = std::min(into.above, from.above);
}

void merge(TableSummary& into, const TableSummary& from) {
    into.weights.merge(from.weights);
    into.targets.merge(from.targets);
    for (size_t i = 0; i < into.sketches.size(); ++i) into.sketches[i].merge(from.sketches[i]);
}

// Numbers are sent as precise as they lie; where partitions differ, as doubles.
void widen(std::vector<float>& single, std::vector<double>& numbers) {
    numbers.insert(numbers.begin(), single.begin(), single.end());
    single.clear();
}

} // namespace

void Counts::add(const Counts& other) {
    add_each(narrow, other.narrow);
    add_each(wide, other.wide);
    add_each(widest, other.widest);
}

void RowBatch::append(const RowBatch& other) {
    for (size_t i = 0; i < codes.size(); ++i) {
        std::vector<float> more_single = other.single[i];
        std::vector<double> more = other.numbers[i];
        if (numbers[i].empty() && more.empty()) {
            tw::append(single[i], more_single);
        } else {
            widen(single[i], numbers[i]);
            widen(more_single, more);
            tw::append(numbers[i], more);
        }
        tw::append(codes[i], other.codes[i]);
    }
    tw::append(classes, other.classes);
    tw::append(target, other.target);
    tw::append(weight, other.weight);
}

void Reply::merge(Reply other) {
    if (summary && other.summary) tw::merge(*summary, *other.summary);
    scaled_total_weight += other.scaled_total_weight;
    if (weighed && other.weighed) weighed->merge(*other.weighed);
    for (size_t i = 0; i < values.size(); ++i) tw::merge(values[i], other.values[i]);
    for (size_t i = 0; i < totals.size(); ++i) {
        const bool any = totals[i].rows[0] > 0, more = other.totals[i].rows[0] > 0;
        if (more) low[i] = any ? std::min(low[i], other.low[i]) : other.low[i];
        if (more) high[i] = any ? std::max(high[i], other.high[i]) : other.high[i];
        totals[i].merge(other.totals[i]);
    }
    for (size_t i = 0; i < histograms.size(); ++i) histograms[i].add(other.histograms[i]);
    for (size_t i = 0; i < surrogate_histograms.size(); ++i) surrogate_histograms[i].add(other.surrogate_histograms[i]);
    for (size_t i = 0; i < value_histograms.size(); ++i) value_histograms[i].merge(other.value_histograms[i]);
    for (size_t i = 0; i < child_histograms.size(); ++i) child_histograms[i].merge(other.child_histograms[i]);
    for (size_t i = 0; i < ranges.size(); ++i) tw::merge(ranges[i], other.ranges[i]);
    for (size_t i = 0; i < cuts.size(); ++i) tw::merge(cuts[i], other.cuts[i]);
    for (size_t i = 0; i < rows.size(); ++i) rows[i].append(other.rows[i]);
}

} // namespace tw

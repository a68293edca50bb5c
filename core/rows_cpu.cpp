#include "rows_cpu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "binned.hpp"
#include "draw.hpp"
#include "pool.hpp"

namespace tw {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool is_blank(const Table& table, int64_t row) {
    return std::all_of(table.columns.begin(), table.columns.end(), [row](const Column& column) {
        return column.kind == Kind::number ? std::isnan(column.numbers[row]) : column.codes[row] < 0;
    });
}

} // namespace

RowsCpu::RowsCpu(const Table& table, const Recipe& recipe, const Measure& measure, int threads)
    : table_(table), recipe_(recipe), measure_(measure), bin_codes_(table.columns.size()) {
    std::vector<Entry> all;
    for (int64_t row = 0; row < table.rows; ++row) {
        if (measure.weight[row] == 0 || (recipe.drop_blank_rows && is_blank(table, row))) continue;
        all.push_back({static_cast<uint32_t>(row), measure.weight[row]});
    }
    used_rows_ = static_cast<int64_t>(all.size());
    entries_.push_back(std::move(all));
    auto facts = std::make_shared<std::vector<ColumnFacts>>(table.columns.size());
    parallel_for(columns(), threads, [&](int64_t i) {
        const int column = static_cast<int>(i);
        (*facts)[column] = learn_facts(column);
        if ((*facts)[column].binned) code_bins(column, (*facts)[column].bounds);
    });
    facts_ = std::move(facts);
}

RowsCpu::RowsCpu(const Table& table, const Recipe& recipe, const Measure& measure,
                 std::shared_ptr<const std::vector<ColumnFacts>> facts)
    : table_(table),
      recipe_(recipe),
      measure_(measure),
      used_rows_(table.rows),
      facts_(std::move(facts)),
      bin_codes_(table.columns.size()) {
    std::vector<Entry> all;
    for (int64_t row = 0; row < table.rows; ++row) all.push_back({static_cast<uint32_t>(row), measure.weight[row]});
    entries_.push_back(std::move(all));
    for (int column = 0; column < columns(); ++column) {
        if ((*facts_)[column].binned) code_bins(column, (*facts_)[column].bounds);
    }
}

void RowsCpu::code_bins(int column, const std::vector<double>& bounds) {
    bin_codes_[column].assign(table_.rows, -1);
    for (int64_t row = 0; row < table_.rows; ++row) {
        const double x = table_.columns[column].numbers[row];
        if (!std::isnan(x)) bin_codes_[column][row] = group_of(bounds, x);
    }
}

ColumnFacts RowsCpu::learn_facts(int column) const {
    const Column& data = table_.columns[column];
    ColumnFacts facts;
    facts.kind = data.kind;
    facts.levels = data.levels;
    if (data.kind != Kind::number) return facts;
    std::vector<std::pair<double, int64_t>> known;
    for (const Entry& entry : entries_[0]) {
        const double x = data.numbers[entry.row];
        if (!std::isnan(x)) known.push_back({x + 0.0, entry.weight}); // -0 and 0 are one value
    }
    if (recipe_.numeric == Numeric::binned) {
        facts.binned = true;
        facts.kind = Kind::ordinal;
        facts.bounds = quantile_bounds(std::move(known), recipe_.bins);
        facts.levels = static_cast<int>(facts.bounds.size());
    } else if (recipe_.threshold.observed) {
        for (const auto& [x, weight] : known) facts.distinct.push_back(x);
        std::sort(facts.distinct.begin(), facts.distinct.end());
        facts.distinct.erase(std::unique(facts.distinct.begin(), facts.distinct.end()), facts.distinct.end());
    }
    return facts;
}

double RowsCpu::value(int column, uint32_t row) const {
    const Column& data = table_.columns[column];
    if (data.kind == Kind::number && !facts(column).binned) return data.numbers[row];
    const int code = facts(column).binned ? bin_codes_[column][row] : data.codes[row];
    return code < 0 ? nan : code;
}

// Buckets of the entries for which add(sums, entry) returns true.
template <class Add>
Buckets RowsCpu::gather(int node, int column, int width, Add add) const {
    const std::vector<Entry>& entries = entries_[node];
    Buckets buckets;
    buckets.column = column;
    buckets.width = width;
    std::vector<std::pair<double, size_t>> placed; // value and entry, known ones only
    std::vector<size_t> missing;
    placed.reserve(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
        const double x = value(column, entries[i].row);
        if (std::isnan(x)) {
            missing.push_back(i);
        } else {
            placed.push_back({x, i});
        }
    }
    std::sort(placed.begin(), placed.end());
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
    if (measure_.needs == Needs::medians) {
        std::vector<size_t> bin_of(entries.size(), buckets.at.size());
        size_t bin = 0;
        for (const auto& [x, i] : placed) {
            while (buckets.at[bin] != x) ++bin;
            bin_of[i] = bin;
        }
        attach_members(node, buckets, [&](size_t i) { return bin_of[i]; });
    }
    return buckets;
}

template <class BinOf>
void RowsCpu::attach_members(int node, Buckets& buckets, BinOf bin_of) const {
    const std::vector<Entry>& entries = entries_[node];
    for (const Entry& entry : entries) buckets.ranks.push_back(measure_.rank[entry.row]);
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
        const uint32_t rank = measure_.rank[entries[i].row];
        const auto place = std::lower_bound(buckets.ranks.begin(), buckets.ranks.end(), rank);
        buckets.members[next[bin_of(i)]++] = {static_cast<uint32_t>(place - buckets.ranks.begin()), entries[i].weight};
    }
}

Total RowsCpu::total(int node) const {
    const std::vector<Entry>& entries = entries_[node];
    Total total;
    Buckets& all = total.all;
    all.width = measure_.sums();
    all.at.push_back(0);
    Sum* sums = all.append();
    for (const Entry& entry : entries) measure_.add(sums, entry);
    all.rows.back() = static_cast<int64_t>(entries.size());
    all.append();
    if (measure_.n_classes > 0 || entries.empty()) return total;
    const double* y = measure_.raw;
    const auto [low, high] = std::minmax_element(entries.begin(), entries.end(),
                                                 [y](const Entry& a, const Entry& b) { return y[a.row] < y[b.row]; });
    total.low = y[low->row];
    total.high = y[high->row];
    if (measure_.needs == Needs::medians) attach_members(node, all, [](size_t) { return size_t{0}; });
    return total;
}

Buckets RowsCpu::count(int node, int column) const {
    return gather(node, column, measure_.sums(), [this](Sum* stat, const Entry& entry) {
        measure_.add(stat, entry);
        return true;
    });
}

Buckets RowsCpu::count_children(int node, int column, const Split& split) const {
    const int children = split.children();
    return gather(node, column, 2 * children, [&, children](Sum* stat, const Entry& entry) {
        const int child = route(split, table_.columns[split.column], entry.row);
        if (child < 0) return false;
        stat[child] += entry.weight;
        stat[children + child] += 1;
        return true;
    });
}

void RowsCpu::divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates, int first) {
    for (const Entry& entry : entries_[node]) {
        int child = destination(split, surrogates, table_.columns, entry.row);
        if (child == random_child) child = draw_child(split.share, node_key, hash_row(table_.columns, entry.row));
        if (child >= 0) {
            entries_[first + child].push_back(entry);
        } else if (child == spread) {
            for (int i = 0; i < split.children(); ++i) {
                const int64_t part = std::llround(static_cast<double>(entry.weight) * split.share[i]);
                if (part > 0) entries_[first + i].push_back({entry.row, part});
            }
        }
    }
    std::vector<Entry>().swap(entries_[node]);
}

} // namespace tw

#include "optimal/subset.hpp"

#include <algorithm>
#include <numeric>

#include "base/interrupt.hpp"
#include "base/thread_pool.hpp"
#include "binning/digit_sort.hpp"
#include "binning/number_key.hpp"

namespace tw {
namespace {

// Closes the gaps that rows elsewhere leave in the ranks.
void make_dense(std::vector<int32_t>& rank, int& ranks) {
    std::vector<int32_t> dense(static_cast<size_t>(ranks), 0);
    for (const int32_t r : rank) dense[r] = 1;
    int32_t next = 0;
    for (int32_t& r : dense) {
        const int32_t present = r;
        r = next;
        next += present;
    }
    if (next == ranks) return;
    for (int32_t& r : rank) r = dense[r];
    ranks = next;
}

template <class Value>
std::vector<Value> taken(const std::vector<Value>& from, const std::vector<int32_t>& rows) {
    std::vector<Value> result;
    if (from.empty()) return result;
    result.reserve(rows.size());
    for (const int32_t row : rows) result.push_back(from[row]);
    return result;
}

} // namespace

int rank_values(std::span<const double> values, int32_t* codes) {
    std::vector<KeyAndRow> order;
    order.reserve(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
        codes[i] = 0;
        if (values[i] == values[i]) order.push_back({key_of(values[i]), static_cast<int32_t>(i)});
    }
    sort_by_digits(order);
    int32_t code = 0;
    for (size_t i = 0; i < order.size(); ++i) {
        if (i > 0 && order[i].key != order[i - 1].key) ++code;
        codes[order[i].row] = code;
    }
    return order.empty() ? 0 : code + 1;
}

Subset all_rows(const Problem& problem, SearchControl& control, ThreadPool& pool) {
    Subset all;
    const size_t columns = problem.columns.size();
    all.row.resize(columns == 0 ? 0 : problem.columns[0].code.size());
    std::iota(all.row.begin(), all.row.end(), 0);
    all.label = problem.label;
    all.target = problem.target;
    all.weight = problem.weight;
    all.rank.resize(columns);
    all.ranks.resize(columns);
    pool.run(static_cast<int64_t>(columns), [&](int64_t i) {
        if (control.is_over()) return;
        const auto place = static_cast<size_t>(i);
        all.rank[place] = problem.columns[place].code;
        all.ranks[place] = problem.columns[place].codes;
        make_dense(all.rank[place], all.ranks[place]);
    });
    if (control.stop) all.rank.clear();
    return all;
}

double Subset::total_weight() const {
    return weight.empty() ? static_cast<double>(rows()) : std::accumulate(weight.begin(), weight.end(), 0.0);
}

int64_t Subset::bytes() const {
    const size_t ranks_and_row = sizeof(int32_t) * (rank.size() + 1);
    return static_cast<int64_t>(row.size() * ranks_and_row + sizeof(int32_t) * label.size() +
                                sizeof(double) * (target.size() + weight.size()));
}

Subset one_side(const Subset& subset, int column, int cut, bool low, SearchControl& control) {
    constexpr size_t many_rows = 1 << 14; // whose copy takes long enough to look at the clock
    std::vector<int32_t> kept;
    kept.reserve(subset.row.size());
    const std::vector<int32_t>& split = subset.rank[column];
    for (size_t i = 0; i < split.size(); ++i) {
        if ((split[i] <= cut) == low) kept.push_back(static_cast<int32_t>(i));
    }
    Subset side;
    side.ranks = subset.ranks;
    for (int c = 0; c < subset.columns(); ++c) {
        if (kept.size() >= many_rows && control.is_over()) return {};
        side.rank.push_back(taken(subset.rank[c], kept));
        make_dense(side.rank[c], side.ranks[c]);
    }
    side.row = taken(subset.row, kept);
    side.label = taken(subset.label, kept);
    side.target = taken(subset.target, kept);
    side.weight = taken(subset.weight, kept);
    return side;
}

std::vector<double> cumulated_weight(const Subset& subset, int column) {
    std::vector<double> weight(static_cast<size_t>(subset.ranks[column]), 0);
    const std::vector<int32_t>& rank = subset.rank[column];
    for (size_t i = 0; i < rank.size(); ++i) weight[rank[i]] += subset.weight_of(i);
    std::partial_sum(weight.begin(), weight.end(), weight.begin());
    return weight;
}

// The cuts with at least as many rows on both sides.
static CutRange cuts_with_rows(const Subset& subset, int column, int64_t min_rows) {
    const int ranks = subset.ranks[column];
    if (min_rows <= 1) return {0, ranks - 1};
    std::vector<int64_t> rows(static_cast<size_t>(ranks), 0);
    for (const int32_t rank : subset.rank[column]) ++rows[rank];
    std::partial_sum(rows.begin(), rows.end(), rows.begin());
    const auto first = std::lower_bound(rows.begin(), rows.end(), min_rows);
    const auto last = std::upper_bound(first, rows.end(), subset.rows() - min_rows);
    return {static_cast<int>(first - rows.begin()), std::min(static_cast<int>(last - rows.begin()), ranks - 1)};
}

MissingEnd missing_end(const OrderedColumn& column) {
    if (column.missing < 0) return MissingEnd::none;
    return column.missing == 0 ? MissingEnd::low : MissingEnd::high;
}

bool is_known(const Problem& problem, const Subset& subset, int column, size_t row) {
    const OrderedColumn& ordered = problem.columns[column];
    return ordered.code[subset.row[row]] != ordered.missing;
}

CutRange allowed_cuts(const Problem& problem, const Subset& subset, int column, const TreeLimits& limits) {
    CutRange range = cuts_with_rows(subset, column, limits.min_rows);
    const MissingEnd end_of_missing = missing_end(problem.columns[column]);
    if (!limits.majority || end_of_missing == MissingEnd::none) return range;
    std::vector<double> known(static_cast<size_t>(subset.ranks[column]), 0);
    for (size_t i = 0; i < subset.row.size(); ++i) {
        if (is_known(problem, subset, column, i)) known[subset.rank[column][i]] += subset.weight_of(i);
    }
    std::partial_sum(known.begin(), known.end(), known.begin());
    const auto goes_low = [&](double low) { return 2 * low >= known.back(); };
    const auto half = std::find_if(known.begin(), known.end(), goes_low);
    const int most_low = static_cast<int>(half - known.begin()); // from this cut on the low side has most
    if (end_of_missing == MissingEnd::low) {
        range.first = std::max(range.first, most_low);
    } else {
        range.end = std::min(range.end, most_low);
    }
    return range;
}

int code_of_rank(const Problem& problem, const Subset& subset, int column, int rank) {
    const std::vector<int32_t>& ranks = subset.rank[column];
    const auto found = std::find(ranks.begin(), ranks.end(), rank);
    return problem.columns[column].code[subset.row[static_cast<size_t>(found - ranks.begin())]];
}

} // namespace tw

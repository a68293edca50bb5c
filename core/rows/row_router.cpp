#include "rows/row_router.hpp"

#include <algorithm>

namespace tw {

RowRouter::RowRouter(const BinnedTable& binned, const std::vector<Column>& columns, const Split& split,
                     const std::vector<Split>& surrogates, uint64_t node_key)
    : columns_(columns), split_(split), surrogates_(surrogates), node_key_(node_key) {
    codes_ = columns[split.column].codes;
    const bool by_bin = columns[split.column].kind == Kind::number && split.breaks.size() == 1 &&
                        split.children() == 2 && split.child_of_bin[0] == 0;
    if (!by_bin) return;
    const BinnedColumn index = binned.index_of(TableColumn(split.column));
    const ColumnBins& column = binned.columns()[index];
    bin_ = binned.column(index);
    limit_bin_ =
        static_cast<int>(std::lower_bound(column.end.begin(), column.end.end(), split.breaks[0]) - column.end.begin());
    missing_ = column.bins;
}

int RowRouter::route_one(uint32_t row) const {
    return route_row(split_, surrogates_, columns_, row, split_.share, node_key_).child;
}

void RowRouter::route(std::span<const uint32_t> rows, int32_t* child, std::span<size_t> count) const {
    if (bin_) return route_by_bin(rows, child, count);
    if (codes_) return route_by_code(rows, child, count);
    for (size_t i = 0; i < rows.size(); ++i) {
        child[i] = route_one(rows[i]);
        if (child[i] >= 0) ++count[static_cast<size_t>(child[i])];
    }
}

// A row's bin gives its side, except in the bin of the threshold.
void RowRouter::route_by_bin(std::span<const uint32_t> rows, int32_t* child, std::span<size_t> count) const {
    const Numbers numbers = columns_[split_.column].numbers;
    const double limit = threshold_limit(split_);
    size_t high = 0, known = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        const int bin = bin_[rows[i]];
        int side = static_cast<int>(bin > limit_bin_);
        if (bin == limit_bin_ || bin == missing_) {
            const double x = numbers[rows[i]];
            if (x != x) {
                child[i] = route_one(rows[i]);
                if (child[i] >= 0) ++count[static_cast<size_t>(child[i])];
                continue;
            }
            side = static_cast<int>(x > limit);
        }
        child[i] = side;
        high += static_cast<size_t>(side);
        ++known;
    }
    count[0] += known - high;
    count[1] += high;
}

// A row's level gives its child, unless it is missing or no child holds it.
void RowRouter::route_by_code(std::span<const uint32_t> rows, int32_t* child, std::span<size_t> count) const {
    const int32_t* child_of_level = split_.child_of_bin.data();
    const size_t levels = split_.child_of_bin.size();
    size_t first = 0, second = 0; // the children of most splits, counted without a look at what was counted before
    for (size_t i = 0; i < rows.size(); ++i) {
        const size_t code = static_cast<size_t>(codes_[rows[i]]); // negative codes are large
        int32_t to = code < levels ? child_of_level[code] : -1;
        if (to < 0) to = route_one(rows[i]);
        child[i] = to;
        first += static_cast<size_t>(to == 0);
        second += static_cast<size_t>(to == 1);
        if (to > 1) ++count[static_cast<size_t>(to)];
    }
    count[0] += first;
    if (count.size() > 1) count[1] += second;
}

} // namespace tw

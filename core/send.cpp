#include "send.hpp"

#include <algorithm>

#include "draw.hpp"

namespace tw {

Sender::Sender(const CodedTable& coded, const std::vector<Column>& columns, const Split& split,
               const std::vector<Split>& surrogates, uint64_t node_key)
    : columns_(columns), split_(split), surrogates_(surrogates), node_key_(node_key) {
    const bool by_code = columns[split.column].kind == Kind::number && split.breaks.size() == 1 &&
                         split.children() == 2 && split.child_of_bin[0] == 0;
    if (!by_code) return;
    const size_t place = static_cast<size_t>(coded.place_of(split.column));
    const CodedColumn& column = coded.columns()[place];
    code_ = coded.column(place);
    limit_bin_ =
        static_cast<int>(std::lower_bound(column.end.begin(), column.end.end(), split.breaks[0]) - column.end.begin());
    missing_ = column.bins;
}

int Sender::send_one(uint32_t row) const {
    const int child = destination(split_, surrogates_, columns_, row);
    return child == random_child ? draw_child(split_.share, node_key_, hash_row(columns_, row)) : child;
}

void Sender::send(std::span<const uint32_t> rows, int32_t* child, std::span<size_t> count) const {
    if (code_) return send_by_code(rows, child, count);
    for (size_t i = 0; i < rows.size(); ++i) {
        child[i] = send_one(rows[i]);
        if (child[i] >= 0) ++count[static_cast<size_t>(child[i])];
    }
}

// A row's code tells its side, but in the bin where the limit lies.
void Sender::send_by_code(std::span<const uint32_t> rows, int32_t* child, std::span<size_t> count) const {
    const Numbers numbers = columns_[split_.column].numbers;
    const double limit = split_.breaks[0];
    size_t high = 0, known = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        const int code = code_[rows[i]];
        int side = static_cast<int>(code > limit_bin_);
        if (code == limit_bin_ || code == missing_) {
            const double x = numbers[rows[i]];
            if (x != x) {
                child[i] = send_one(rows[i]);
                if (child[i] >= 0) ++count[static_cast<size_t>(child[i])];
                continue;
            }
            side = split_.closed ? x > limit : x >= limit;
        }
        child[i] = side;
        high += static_cast<size_t>(side);
        ++known;
    }
    count[0] += known - high;
    count[1] += high;
}

} // namespace tw

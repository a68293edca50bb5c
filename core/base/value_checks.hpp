// Fast search for missing and infinite numbers, by a look at their bits.
#pragma once

#include <bit>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/table.hpp"
#include "base/thread_pool.hpp"

namespace tw {

// Whether any of the numbers has its exponent full and, with `infinite`, nothing after it.
template <class Value>
bool any_nonfinite(const void* values, int64_t count, bool infinite) {
    using Bits = std::conditional_t<sizeof(Value) == 4, uint32_t, uint64_t>;
    constexpr Bits full = std::bit_cast<Bits>(std::numeric_limits<Value>::infinity());
    const Bits looked_at =
        infinite ? static_cast<Bits>(~Bits{0} >> 1) : full; // all but the sign, or the exponent alone
    const Value* first = static_cast<const Value*>(values);
    Bits odd = 0;
    for (int64_t i = 0; i < count; ++i) {
        odd |= static_cast<Bits>((std::bit_cast<Bits>(first[i]) & looked_at) == full);
    }
    return odd != 0;
}

enum class NonFinite { none, missing, infinite };

// The worst among the rows from `begin` up to `end`; `matrix` is the result of `as_matrix`.
inline NonFinite worst_nonfinite(const std::vector<Column>& columns, const void* matrix, int64_t begin, int64_t end) {
    const auto any = [](const Numbers& numbers, int64_t from, int64_t count, bool infinite) {
        return numbers.single() ? any_nonfinite<float>(numbers.address(from), count, infinite)
                                : any_nonfinite<double>(numbers.address(from), count, infinite);
    };
    NonFinite worst = NonFinite::none;
    const auto look = [&](const Numbers& numbers, int64_t count) {
        if (!any(numbers, begin, count, false)) return;
        worst = std::max(worst, any(numbers, begin, count, true) ? NonFinite::infinite : NonFinite::missing);
    };
    if (matrix) {
        look(columns[0].numbers, (end - begin) * static_cast<int64_t>(columns.size()));
        return worst;
    }
    for (const Column& column : columns) {
        if (column.kind != Kind::number) continue;
        if (column.numbers.adjacent()) {
            look(column.numbers, end - begin);
            continue;
        }
        for (int64_t row = begin; row < end; ++row) {
            const double x = column.numbers[row];
            if (x - x != 0) worst = std::max(worst, x == x ? NonFinite::infinite : NonFinite::missing);
        }
    }
    return worst;
}

// What must be known of a table before anything is learned from it.
struct ValueChecks {
    bool missing = false;                            // a row with weight lacks a value
    std::optional<std::pair<int, int64_t>> infinite; // the first infinite number, column by column: its column and row
};

// `weight`: null where every row has one.
ValueChecks check_values(const Table& table, const double* weight, ThreadPool& pool);

} // namespace tw

// The encoded table: borrowed arrays, never copied, never changed (docs/boundary.md gives their layout).
//
// A number is missing iff it is NaN; a level is missing iff its code is -1 and unseen iff it is -2.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tw {

enum class Kind { number, ordinal, nominal };

// Numbers where they lie: of either precision, one after the other or in the rows of a matrix.
class Numbers {
public:
    Numbers() = default;
    Numbers(const double* values, std::ptrdiff_t stride_bytes = sizeof(double))
        : first_(reinterpret_cast<const char*>(values)), stride_(stride_bytes) {}
    Numbers(const float* values, std::ptrdiff_t stride_bytes = sizeof(float))
        : first_(reinterpret_cast<const char*>(values)), stride_(stride_bytes), single_(true) {}

    const void* address(int64_t row) const { return first_ + row * stride_; }
    std::ptrdiff_t stride() const { return stride_; } // in bytes
    bool single() const { return single_; }
    bool adjacent() const { return stride_ == static_cast<std::ptrdiff_t>(single_ ? sizeof(float) : sizeof(double)); }
    double operator[](int64_t row) const {
        const char* at = first_ + row * stride_;
        return single_ ? *reinterpret_cast<const float*>(at) : *reinterpret_cast<const double*>(at);
    }
    // The rows from `begin` on, `out.size()` of them.
    void read(int64_t begin, std::span<double> out) const {
        if (single_) {
            read_as<float>(begin, out);
        } else {
            read_as<double>(begin, out);
        }
    }

private:
    template <class Value>
    void read_as(int64_t begin, std::span<double> out) const {
        const char* at = first_ + begin * stride_;
        for (double& x : out) {
            x = *reinterpret_cast<const Value*>(at);
            at += stride_;
        }
    }

    const char* first_ = nullptr;
    std::ptrdiff_t stride_ = 0;
    bool single_ = false;
};

struct Column {
    Kind kind = Kind::number;
    int levels = 0;                 // declared levels; 0 for numbers
    bool allowed = true;            // whether splits and surrogates may use it
    Numbers numbers;                // for numbers
    const int32_t* codes = nullptr; // for levels
};

// Whether a row has no value at all.
inline bool is_all_missing(const std::vector<Column>& columns, int64_t row) {
    return std::all_of(columns.begin(), columns.end(), [row](const Column& column) {
        if (column.kind != Kind::number) return column.codes[row] < 0;
        const double x = column.numbers[row];
        return x != x;
    });
}

struct Table {
    std::vector<Column> columns;
    int64_t rows = 0;
};

// The values of a table that is one C-order matrix of numbers, row by row: null if it is not.
inline const void* as_matrix(const std::vector<Column>& columns) {
    if (columns.empty()) return nullptr;
    const Numbers& first = columns[0].numbers;
    const std::ptrdiff_t size = first.single() ? sizeof(float) : sizeof(double);
    for (size_t i = 0; i < columns.size(); ++i) {
        const Column& column = columns[i];
        const auto* at = static_cast<const char*>(first.address(0)) + static_cast<std::ptrdiff_t>(i) * size;
        if (column.kind != Kind::number || column.numbers.single() != first.single() ||
            column.numbers.address(0) != at ||
            column.numbers.stride() != static_cast<std::ptrdiff_t>(columns.size()) * size) {
            return nullptr;
        }
    }
    return first.address(0);
}

struct Target {
    const int32_t* classes = nullptr; // class codes, or null for a numeric target
    const double* numbers = nullptr;  // numeric target, or null
    const double* weight = nullptr;   // null: every row weighs one
    const int32_t* repeats = nullptr; // how often each row is in the sample; null: once
    int n_classes = 0;
};

} // namespace tw

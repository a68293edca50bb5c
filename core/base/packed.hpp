// Numbers of which most are zero, kept without the zeros: a node of few rows takes little memory, however many classes
// there are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/small_vector.hpp"

namespace tw {

class Packed {
public:
    Packed() = default;
    explicit Packed(std::span<const double> values) : size_(values.size()) {
        const auto zeros = static_cast<size_t>(std::count(values.begin(), values.end(), 0.0));
        if (size_ < few || 2 * zeros < size_) {
            value_.assign(values.begin(), values.end());
            return;
        }
        position_.reserve(size_ - zeros);
        value_.reserve(size_ - zeros);
        for (size_t i = 0; i < size_; ++i) {
            if (values[i] == 0) continue;
            position_.push_back(static_cast<uint32_t>(i));
            value_.push_back(values[i]);
        }
    }

    size_t size() const { return size_; }
    std::vector<double> all() const {
        if (value_.size() == size_) return {value_.begin(), value_.end()};
        std::vector<double> values(size_);
        each([&](uint32_t i, double value) { values[i] = value; });
        return values;
    }
    // Calls visit(position, value) for every value that is not zero, in ascending order.
    template <class Visit>
    void each(Visit visit) const {
        for (size_t i = 0; i < value_.size(); ++i) {
            if (value_[i] != 0) visit(position_.empty() ? static_cast<uint32_t>(i) : position_[i], value_[i]);
        }
    }

private:
    static constexpr size_t few = 16; // so few take no more room as they are

    size_t size_ = 0;
    std::vector<uint32_t> position_; // of the values; empty where all are kept
    SmallVector<double, 3> value_;
};

// One row of numbers per node. Where all of them would take much memory (many nodes, many classes), only those that are
// not zero are kept: those of row i at start()[i] to start()[i + 1].
class NodeTable {
public:
    static constexpr size_t max_dense = size_t{1} << 22; // numbers: 32 MB
    static constexpr size_t min_width = 16;              // narrower rows have few zeros

    NodeTable() = default;
    NodeTable(size_t rows, size_t width) : width_(width), sparse_(width >= min_width && rows * width > max_dense) {
        if (sparse_) {
            start_.reserve(rows + 1);
            start_.push_back(0);
        } else {
            value_.reserve(rows * width);
        }
    }
    NodeTable(size_t width, std::vector<double> all) : width_(width), value_(std::move(all)) {}
    NodeTable(size_t width, std::vector<int64_t> start, std::vector<int32_t> column, std::vector<double> value)
        : width_(width),
          sparse_(true),
          start_(std::move(start)),
          column_(std::move(column)),
          value_(std::move(value)) {}

    void append(const Packed& row) {
        if (!sparse_) {
            const size_t first = value_.size();
            value_.resize(first + row.size(), 0.0); // -0 becomes 0, so that equal trees are the same
            row.each([&](uint32_t i, double value) { value_[first + i] = value; });
            return;
        }
        row.each([&](uint32_t i, double value) {
            column_.push_back(static_cast<int32_t>(i));
            value_.push_back(value);
        });
        start_.push_back(static_cast<int64_t>(value_.size()));
    }

    size_t width() const { return width_; }
    bool sparse() const { return sparse_; }
    const std::vector<int64_t>& start() const { return start_; }
    const std::vector<int32_t>& column() const { return column_; }
    const std::vector<double>& value() const { return value_; }

    // out[k] += weight * row[k]
    void add_row(size_t row, double weight, double* out) const {
        if (!sparse_) {
            const double* values = &value_[row * width_];
            for (size_t k = 0; k < width_; ++k) out[k] += weight * values[k];
            return;
        }
        for (int64_t i = start_[row]; i < start_[row + 1]; ++i) out[column_[i]] += weight * value_[i];
    }
    void copy_row(size_t row, double* out) const {
        if (!sparse_) {
            std::copy_n(&value_[row * width_], width_, out);
            return;
        }
        std::fill_n(out, width_, 0.0);
        for (int64_t i = start_[row]; i < start_[row + 1]; ++i) out[column_[i]] = value_[i];
    }
    std::vector<double> row(size_t i) const {
        std::vector<double> values(width_);
        copy_row(i, values.data());
        return values;
    }
    // Every row with its zeros.
    std::vector<double> all() const {
        if (!sparse_) return value_;
        const size_t rows = start_.size() - 1;
        std::vector<double> values(rows * width_);
        for (size_t i = 0; i < rows; ++i) copy_row(i, &values[i * width_]);
        return values;
    }

private:
    size_t width_ = 0;
    bool sparse_ = false;
    std::vector<int64_t> start_;
    std::vector<int32_t> column_;
    std::vector<double> value_;
};

} // namespace tw

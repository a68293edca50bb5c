// What a row gets from the model of the node where it ends: intercept and terms, within the limits of the node.
#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_tree.hpp"
#include "base/table.hpp"

namespace tw {

class LeafModels {
public:
    LeafModels() = default;
    explicit LeafModels(const FlatTree& flat) : models_(flat.models) {}

    bool empty() const { return models_.start.empty(); }
    // Terms are added in order, so that exported code computes the same bits. A missing value, or a level that no model
    // knows, counts as the mean in the node.
    double predict(int32_t node, const std::vector<Column>& columns, int64_t row) const {
        double sum = models_.intercept[node];
        for (int32_t term = models_.start[node]; term < models_.start[node + 1]; ++term) {
            sum += models_.coefficient[term] * value(term, columns[models_.column[term]], row);
        }
        const double low = models_.low[node], high = models_.high[node];
        return sum >= low ? (sum <= high ? sum : high) : low;
    }

private:
    double value(int32_t term, const Column& column, int64_t row) const {
        if (column.kind == Kind::number) {
            const double x = column.numbers[row];
            return x == x ? x : models_.fill[term];
        }
        const int32_t first = models_.member_start[term], last = models_.member_start[term + 1];
        const int code = column.codes[row];
        return code < 0 || code >= last - first ? models_.fill[term]
                                                : static_cast<double>(models_.member[first + code]);
    }

    NodeModels models_;
};

} // namespace tw

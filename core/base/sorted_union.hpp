// Sorted lists without repetition: of values in any order, and the union of two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/interrupt.hpp"

namespace tw {

template <class Value>
void make_distinct(std::vector<Value>& values) {
    sort_interruptible(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

// The union, and the position in it of every value of each list.

template <class Value>
struct SortedUnion {
    std::vector<Value> all;
    std::vector<size_t> of_first, of_second;

    SortedUnion(const std::vector<Value>& first, const std::vector<Value>& second) {
        size_t i = 0, k = 0;
        while (i < first.size() || k < second.size()) {
            const bool takes_first = k == second.size() || (i < first.size() && first[i] <= second[k]);
            const bool takes_second = i == first.size() || (k < second.size() && second[k] <= first[i]);
            const size_t position = all.size();
            all.push_back(takes_first ? first[i] : second[k]);
            if (takes_first) of_first.push_back(position);
            if (takes_second) of_second.push_back(position);
            i += static_cast<size_t>(takes_first);
            k += static_cast<size_t>(takes_second);
        }
    }

    // What belongs to the values, `width` numbers each, added up.
    template <class Number>
    std::vector<Number> sums(const std::vector<Number>& first, const std::vector<Number>& second, size_t width) const {
        std::vector<Number> both(all.size() * width, Number{0});
        const auto add = [&](const std::vector<size_t>& positions, const std::vector<Number>& from) {
            for (size_t i = 0; i < positions.size(); ++i) {
                for (size_t w = 0; w < width; ++w) both[positions[i] * width + w] += from[i * width + w];
            }
        };
        add(of_first, first);
        add(of_second, second);
        return both;
    }
};

} // namespace tw

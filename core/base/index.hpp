// Indices of one kind each: the compiler refuses to read an array by an index of another.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace tw {

template <class Tag>
struct Index {
    int value = -1;

    constexpr Index() = default;
    template <std::integral Integer>
    constexpr explicit Index(Integer index) : value(static_cast<int>(index)) {}

    constexpr size_t offset() const { return static_cast<size_t>(value); }
    auto operator<=>(const Index&) const = default;
    auto fields() { return std::tie(value); }
};

using TableColumn = Index<struct TableTag>;   // of the table
using BinnedColumn = Index<struct BinnedTag>; // of a BinnedTable: the columns of numbers
using ScanColumn = Index<struct ScanTag>;     // of SearchColumns: the binned columns searched by histogram

// The indices from 0 on, for loops.
template <class Key>
struct Indices {
    struct Iterator {
        int at;
        Key operator*() const { return Key(at); }
        Iterator& operator++() {
            ++at;
            return *this;
        }
        bool operator==(const Iterator&) const = default;
    };
    size_t size;
    Iterator begin() const { return {0}; }
    Iterator end() const { return {static_cast<int>(size)}; }
    std::vector<Key> list() const {
        std::vector<Key> all;
        for (const Key key : *this) all.push_back(key);
        return all;
    }
};

// A vector read by one kind of index.
template <class Key, class Value>
class IndexedVector : public std::vector<Value> {
public:
    using std::vector<Value>::vector;
    IndexedVector() = default;
    explicit IndexedVector(std::vector<Value> values) : std::vector<Value>(std::move(values)) {}

    Value& operator[](Key key) { return this->data()[key.offset()]; }
    const Value& operator[](Key key) const { return this->data()[key.offset()]; }
    Indices<Key> indices() const { return {this->size()}; }
};

} // namespace tw

// A vector of few values that lie in the object itself; only more of them are allocated. Trees have many nodes, and
// nearly all splits are two children by one threshold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace tw {

template <class Value, size_t few>
class SmallVector {
    static_assert(std::is_trivially_copyable_v<Value>);

public:
    using value_type = Value;
    using iterator = Value*;
    using const_iterator = const Value*;

    SmallVector() = default;
    SmallVector(std::initializer_list<Value> values) { assign(values.begin(), values.end()); }
    SmallVector(const std::vector<Value>& values) { assign(values.begin(), values.end()); }
    SmallVector(const SmallVector& other) { assign(other.begin(), other.end()); }
    SmallVector(SmallVector&& other) noexcept { take(other); }
    ~SmallVector() = default;
    SmallVector& operator=(const SmallVector& other) {
        if (this != &other) assign(other.begin(), other.end());
        return *this;
    }
    SmallVector& operator=(SmallVector&& other) noexcept {
        if (this != &other) take(other);
        return *this;
    }

    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    Value* data() { return more_ ? more_.get() : own_; }
    const Value* data() const { return more_ ? more_.get() : own_; }
    iterator begin() { return data(); }
    iterator end() { return data() + size_; }
    const_iterator begin() const { return data(); }
    const_iterator end() const { return data() + size_; }
    auto rbegin() const { return std::make_reverse_iterator(end()); }
    auto rend() const { return std::make_reverse_iterator(begin()); }
    Value& operator[](size_t i) { return data()[i]; }
    const Value& operator[](size_t i) const { return data()[i]; }
    Value& back() { return data()[size_ - 1]; }
    const Value& back() const { return data()[size_ - 1]; }

    void clear() { size_ = 0; }
    void push_back(Value value) {
        if (size_ == capacity_) reserve(size_t{2} * capacity_);
        data()[size_++] = value;
    }
    void resize(size_t size, Value value = Value{}) {
        reserve(size);
        if (size > size_) std::fill(end(), data() + size, value);
        size_ = static_cast<uint32_t>(size);
    }
    void assign(size_t size, Value value) {
        clear();
        resize(size, value);
    }
    template <std::input_iterator Iterator>
    void assign(Iterator first, Iterator last) {
        clear();
        reserve(static_cast<size_t>(std::distance(first, last)));
        std::copy(first, last, data());
        size_ = static_cast<uint32_t>(std::distance(first, last));
    }
    void reserve(size_t capacity) {
        if (capacity <= capacity_) return;
        auto larger = std::make_unique_for_overwrite<Value[]>(capacity);
        std::copy(begin(), end(), larger.get());
        more_ = std::move(larger);
        capacity_ = static_cast<uint32_t>(capacity);
    }

    template <class Condition>
    friend void erase_if(SmallVector& values, const Condition& condition) {
        values.size_ = static_cast<uint32_t>(std::remove_if(values.begin(), values.end(), condition) - values.begin());
    }
    friend bool operator==(const SmallVector& a, const SmallVector& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    void take(SmallVector& other) {
        more_ = std::move(other.more_);
        std::copy_n(other.own_, few, own_);
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, static_cast<uint32_t>(few));
    }

    std::unique_ptr<Value[]> more_; // where they are more than few
    uint32_t size_ = 0, capacity_ = static_cast<uint32_t>(few);
    Value own_[few] = {};
};

} // namespace tw

// An immutable array that owns its values or borrows them. Copies share the values.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tw {

template <class Value>
class SharedArray {
public:
    using value_type = Value;

    SharedArray() = default;
    template <class Allocator>
    SharedArray(std::vector<Value, Allocator> values) { // NOLINT: a vector is an array
        const auto own = std::make_shared<const std::vector<Value, Allocator>>(std::move(values));
        data_ = own->data();
        size_ = own->size();
        own_ = own;
    }
    SharedArray(const Value* data, size_t size) : data_(data), size_(size) {}

    bool empty() const { return size_ == 0; }
    size_t size() const { return size_; }
    const Value* data() const { return data_; }
    const Value* begin() const { return data_; }
    const Value* end() const { return data_ + size_; }
    const Value& operator[](size_t i) const { return data_[i]; }
    std::span<const Value> span() const { return {data_, size_}; }

private:
    std::shared_ptr<const void> own_;
    const Value* data_ = nullptr;
    size_t size_ = 0;
};

} // namespace tw

// Numbers of which most are zero, kept without the zeros.
//
// Comes in: numbers by place. Goes out: the same. Always holds: where zeros are few, nothing is left out; a node of few
// rows then takes little memory however many classes there are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace tw {

// Memory that is zero before it is written. The system gives pages when they are first written to, so the zeros of a
// large array take hardly any.
template <class Value>
struct ZeroedAllocator {
    using value_type = Value;

    ZeroedAllocator() = default;
    template <class Other>
    ZeroedAllocator(const ZeroedAllocator<Other>&) {}

    Value* allocate(size_t count) {
        void* memory = std::calloc(count, sizeof(Value));
        if (!memory) throw std::bad_alloc();
        return static_cast<Value*>(memory);
    }
    void deallocate(Value* memory, size_t) { std::free(memory); }
    // New elements are zero already.
    template <class Element, class... From>
    void construct(Element* position, From&&... from) {
        if constexpr (sizeof...(From) > 0) ::new (static_cast<void*>(position)) Element(std::forward<From>(from)...);
    }
    template <class Other>
    bool operator==(const ZeroedAllocator<Other>&) const {
        return true;
    }
};
using WideArray = std::vector<double, ZeroedAllocator<double>>; // never made smaller, so that what is new is zero

class Packed {
public:
    Packed() = default;
    explicit Packed(std::vector<double> values) : size_(values.size()) {
        const auto zeros = static_cast<size_t>(std::count(values.begin(), values.end(), 0.0));
        if (size_ < few || 2 * zeros < size_) {
            value_ = std::move(values);
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
        std::vector<double> values;
        append_to(values);
        return values;
    }
    template <class Values>
    void append_to(Values& values) const {
        if (value_.size() == size_) {
            values.insert(values.end(), value_.begin(), value_.end());
            return;
        }
        const size_t start = values.size();
        values.resize(start + size_);
        for (size_t i = 0; i < position_.size(); ++i) values[start + position_[i]] = value_[i];
    }

private:
    static constexpr size_t few = 16; // so few take no more room as they are

    size_t size_ = 0;
    std::vector<uint32_t> position_; // of the values; empty where all are kept
    std::vector<double> value_;
};

} // namespace tw

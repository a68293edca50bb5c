// A vector for large arrays that are written before they are read.
//
// New elements of plain types are not initialised, so that the threads that write an array touch it first. Large arrays
// request huge pages where the system offers them (Linux): a node's rows are scattered, and few pages mean few TLB
// misses.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tw {

template <class Value>
struct LargeAllocator {
    using value_type = Value;

    LargeAllocator() = default;
    template <class Other>
    LargeAllocator(const LargeAllocator<Other>&) {}

    Value* allocate(size_t count) {
        const size_t bytes = count * sizeof(Value);
        if (bytes < large) return std::allocator<Value>().allocate(count);
        void* memory = ::operator new(bytes, std::align_val_t{page});
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        madvise(memory, bytes / page * page, MADV_HUGEPAGE); // a request: whether it is granted does not matter
#endif
        return static_cast<Value*>(memory);
    }
    void deallocate(Value* memory, size_t count) {
        if (count * sizeof(Value) < large) return std::allocator<Value>().deallocate(memory, count);
        ::operator delete(memory, std::align_val_t{page});
    }

    // Elements without a value given are not set to zero.
    template <class Other>
    void construct(Other* at) {
        ::new (static_cast<void*>(at)) Other;
    }
    template <class Other, class... Arguments>
    void construct(Other* at, Arguments&&... arguments) {
        std::construct_at(at, std::forward<Arguments>(arguments)...);
    }

    friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }

private:
    static constexpr size_t page = size_t{1} << 21, large = 2 * page;
};

template <class Value>
using LargeVector = std::vector<Value, LargeAllocator<Value>>;

} // namespace tw

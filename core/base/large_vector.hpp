// A vector for large arrays that are written before they are read.
//
// New elements of plain types are not initialised, so that the threads that write an array touch it first. Large arrays
// request huge pages where the system offers them (Linux): a node's rows are scattered, and few pages mean few TLB
// misses. Smaller ones are mapped there: what a thread frees goes back to the system, where the allocator would keep it
// for that thread alone, and refits in many threads would need far more than one fit.
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
        if (!is_mapped(bytes) && bytes < large) return std::allocator<Value>().allocate(count);
#if defined(__linux__)
        if (is_mapped(bytes)) {
            void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (mapped == MAP_FAILED) throw std::bad_alloc();
            return static_cast<Value*>(mapped);
        }
#endif
        void* memory = ::operator new(bytes, std::align_val_t{page});
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        madvise(memory, bytes / page * page, MADV_HUGEPAGE); // a request: whether it is granted does not matter
#endif
        return static_cast<Value*>(memory);
    }
    void deallocate(Value* memory, size_t count) {
        const size_t bytes = count * sizeof(Value);
        if (!is_mapped(bytes) && bytes < large) return std::allocator<Value>().deallocate(memory, count);
#if defined(__linux__)
        if (is_mapped(bytes)) {
            munmap(memory, bytes);
            return;
        }
#endif
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
    static constexpr size_t page = size_t{1} << 21, large = 2 * page, worth_mapping = size_t{1} << 18;
    static constexpr bool is_mapped([[maybe_unused]] size_t bytes) {
#if defined(__linux__)
        return bytes >= worth_mapping && bytes < large;
#else
        return false;
#endif
    }
};

template <class Value>
using LargeVector = std::vector<Value, LargeAllocator<Value>>;

} // namespace tw

// Numbers as integers in the same order, and back; -0 and 0 share one.
#pragma once

#include <bit>
#include <cstdint>

namespace tw {

constexpr uint64_t sign_bit = uint64_t{1} << 63;

inline uint64_t key_of(double x) {
    const auto bits = std::bit_cast<uint64_t>(x + 0.0);
    return bits & sign_bit ? ~bits : bits | sign_bit;
}
inline double number_of(uint64_t key) { return std::bit_cast<double>(key & sign_bit ? key & ~sign_bit : ~key); }

} // namespace tw

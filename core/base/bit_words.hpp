// Bits of sets that are kept as words: bit n % 64 of word n / 64 stands for the number n.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tw {

inline size_t words_for(size_t numbers) { return numbers / 64 + 1; }
inline void set_bit(std::vector<uint64_t>& words, size_t number) { words[number / 64] |= uint64_t{1} << number % 64; }
inline bool has_bit(const std::vector<uint64_t>& words, size_t number) {
    return (words[number / 64] >> number % 64 & 1) != 0;
}
// How many bits are set, without the instruction that not every processor has.
inline int64_t count_bits(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return static_cast<int64_t>(word * 0x0101010101010101 >> 56);
}
// The bits of a word before that of a number.
inline uint64_t bits_before(size_t number) { return (uint64_t{1} << number % 64) - 1; }
// The least and the largest number of a word whose bits are not all zero.
inline size_t least_of(size_t word, uint64_t bits) { return word * 64 + static_cast<size_t>(std::countr_zero(bits)); }
inline size_t largest_of(size_t word, uint64_t bits) {
    return word * 64 + 63 - static_cast<size_t>(std::countl_zero(bits));
}

// The next number of a set, from this one on or before it; there must be one.
inline size_t next_from(const std::vector<uint64_t>& words, size_t number) {
    size_t word = number / 64;
    uint64_t left = words[word] & ~bits_before(number);
    while (left == 0) left = words[++word];
    return least_of(word, left);
}
inline size_t last_before(const std::vector<uint64_t>& words, size_t number) {
    size_t word = number / 64;
    uint64_t left = words[word] & bits_before(number);
    while (left == 0) left = words[--word];
    return largest_of(word, left);
}
// Whether any number from `first` to before `last` is in the set.
inline bool has_any(const std::vector<uint64_t>& words, size_t first, size_t last) {
    const size_t end = last / 64;
    uint64_t left = words[first / 64] & ~bits_before(first);
    for (size_t word = first / 64; word < end; left = words[++word]) {
        if (left != 0) return true;
    }
    return (left & bits_before(last)) != 0;
}

} // namespace tw

// Sending: which child each row of a coded table goes to.
//
// Comes in: a split, its surrogates, and rows. Goes out: a child per row, and how many went to each. Always holds: a
// row goes where `destination` sends it; for a number and a limit its code tells nearly always.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coding.hpp"
#include "split.hpp"

namespace tw {

class Sender {
public:
    Sender(const CodedTable& coded, const std::vector<Column>& columns, const Split& split,
           const std::vector<Split>& surrogates, uint64_t node_key);

    // `child`: one per row, negative for rows that stop here; `count`: added to, one per child.
    void send(std::span<const uint32_t> rows, int32_t* child, std::span<size_t> count) const;

private:
    int send_one(uint32_t row) const;
    void send_by_code(std::span<const uint32_t> rows, int32_t* child, std::span<size_t> count) const;

    const std::vector<Column>& columns_;
    const Split& split_;
    const std::vector<Split>& surrogates_;
    uint64_t node_key_;
    const uint8_t* code_ = nullptr; // of the split's column, if it is a number with one limit
    int limit_bin_ = 0, missing_ = 0;
};

} // namespace tw

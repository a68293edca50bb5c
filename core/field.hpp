// Fields: where the rows of nodes lie, and how they are divided.
//
// Comes in: a node's rows, what each adds, and who sends them to children. Goes out: the children's rows. Always holds:
// a node's rows lie together, in the order of the table; children share their parent's field, unless rows were spread
// over several of them: these are more than before, and each child has a field of its own.
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "large_vector.hpp"
#include "pool.hpp"
#include "rows_cpu.hpp"
#include "send.hpp"

namespace tw {

struct Stretch {
    size_t begin = 0, end = 0;
    size_t size() const { return end - begin; }
};

// Rows and what they add, node by node: ranges of arrays that are divided in place.
template <class Item>
struct Field {
    explicit Field(LargeVector<uint32_t> rows)
        : row(std::move(rows)), spare_row(row.size()), item(row.size()), spare_item(row.size()), child(row.size()) {}

    LargeVector<uint32_t> row, spare_row;
    LargeVector<Item> item, spare_item;
    LargeVector<int32_t> child;
};

template <class Item>
struct Holding {
    std::shared_ptr<Field<Item>> field;
    Stretch stretch;
};

template <class Item>
struct Divided {
    std::vector<Holding<Item>> children;
    bool spread = false; // some rows went to several
};

// Pieces of a stretch that are one task each.
inline std::vector<Stretch> blocks_of(Stretch whole) {
    constexpr size_t size = 1 << 16;
    std::vector<Stretch> blocks;
    for (size_t at = whole.begin; at < whole.end; at += size) blocks.push_back({at, std::min(whole.end, at + size)});
    return blocks;
}

template <class Item, class ItemOf>
std::shared_ptr<Field<Item>> field_of(LargeVector<uint32_t> rows, const ItemOf& item_of, Pool& pool) {
    auto field = std::make_shared<Field<Item>>(std::move(rows));
    const std::vector<Stretch> blocks = blocks_of({0, field->row.size()});
    pool.run(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
        for (size_t at = blocks[b].begin; at < blocks[b].end; ++at) field->item[at] = item_of(field->row[at]);
    });
    return field;
}

// Sends each value of the block to the next place of its child; children below 0 are none.
template <class Value>
void scatter(std::span<const size_t> first, const int32_t* child, const Value* from, Value* to, Stretch block) {
    if (first.size() == 2) {
        size_t next[2] = {first[0], first[1]};
        for (size_t at = block.begin; at < block.end; ++at) {
            const int32_t c = child[at];
            const Value value = from[at];
            if (c < 0) continue;
            const size_t place = c ? next[1] : next[0];
            to[place] = value;
            next[0] += static_cast<size_t>(c == 0);
            next[1] += static_cast<size_t>(c == 1);
        }
        return;
    }
    std::vector<size_t> next(first.begin(), first.end());
    for (size_t at = block.begin; at < block.end; ++at) {
        if (child[at] >= 0) to[next[child[at]]++] = from[at];
    }
}

// `next`: of each block and child, how many rows go there; then, where they go.
template <class Item>
std::vector<Holding<Item>> divide_in_place(const Holding<Item>& whole, std::span<const Stretch> blocks,
                                           std::vector<size_t> next, size_t children, Pool& pool) {
    Field<Item>& field = *whole.field;
    std::vector<Holding<Item>> held;
    size_t at = whole.stretch.begin;
    for (size_t c = 0; c < children; ++c) {
        const size_t begin = at;
        for (size_t b = 0; b < blocks.size(); ++b) at += std::exchange(next[b * children + c], at);
        held.push_back({whole.field, {begin, at}});
    }
    pool.run(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
        const std::span<const size_t> places(&next[static_cast<size_t>(b) * children], children);
        scatter(places, field.child.data(), field.row.data(), field.spare_row.data(), blocks[b]);
        scatter(places, field.child.data(), field.item.data(), field.spare_item.data(), blocks[b]);
    });
    pool.run(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
        const auto copy = [&](auto& from, auto& to) {
            std::copy(from.begin() + blocks[b].begin, from.begin() + blocks[b].end, to.begin() + blocks[b].begin);
        };
        copy(field.spare_row, field.row);
        copy(field.spare_item, field.item);
    });
    return held;
}

// A row that is spread goes to many children, in parts.
template <class Item>
std::vector<Holding<Item>> divide_and_spread(const Holding<Item>& whole, std::span<const Stretch> blocks,
                                             const Split& split, Pool& pool) {
    std::vector<Holding<Item>> held;
    if constexpr (std::is_integral_v<Item>) {
        throw std::logic_error("rows are spread, but have no weights");
    } else {
        const Field<Item>& field = *whole.field;
        const size_t children = static_cast<size_t>(split.children());
        const auto each = [&](const Stretch& block, const auto& put) {
            for (size_t at = block.begin; at < block.end; ++at) {
                send_parts(split, field.child[at], field.item[at].weight,
                           [&](int child, int64_t weight) { put(at, static_cast<size_t>(child), weight); });
            }
        };
        std::vector<size_t> next(blocks.size() * children, 0);
        pool.run(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
            each(blocks[b], [&](size_t, size_t child, int64_t) { ++next[static_cast<size_t>(b) * children + child]; });
        });
        for (size_t c = 0; c < children; ++c) {
            size_t at = 0;
            for (size_t b = 0; b < blocks.size(); ++b) at += std::exchange(next[b * children + c], at);
            held.push_back({std::make_shared<Field<Item>>(LargeVector<uint32_t>(at)), {0, at}});
        }
        pool.run(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
            each(blocks[b], [&](size_t at, size_t child, int64_t weight) {
                Field<Item>& to = *held[child].field;
                const size_t place = next[static_cast<size_t>(b) * children + child]++;
                to.row[place] = field.row[at];
                to.item[place] = field.item[at];
                to.item[place].weight = weight;
            });
        });
    }
    return held;
}

// Sends the rows of a node to its children.
template <class Item>
Divided<Item> divide_field(const Holding<Item>& whole, const Sender& sender, const Split& split, Pool& pool) {
    Field<Item>& field = *whole.field;
    const std::vector<Stretch> blocks = blocks_of(whole.stretch);
    // Where each row goes, and how many of each block go to each child.
    const size_t children = static_cast<size_t>(split.children());
    std::vector<size_t> counts(blocks.size() * children, 0);
    std::vector<uint8_t> spreads(blocks.size(), 0);
    pool.run(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
        const std::span<const uint32_t> rows(&field.row[blocks[b].begin], blocks[b].size());
        const std::span<int32_t> child(&field.child[blocks[b].begin], blocks[b].size());
        sender.send(rows, child.data(), std::span(&counts[static_cast<size_t>(b) * children], children));
        spreads[b] = split.missing == spread && std::find(child.begin(), child.end(), spread) != child.end();
    });
    if (std::find(spreads.begin(), spreads.end(), 1) == spreads.end()) {
        return {divide_in_place(whole, blocks, std::move(counts), children, pool), false};
    }
    return {divide_and_spread(whole, blocks, split, pool), true};
}

} // namespace tw

// Where the rows of nodes lie, and how they are partitioned among children.
//
// A node's rows are contiguous, in the order of the table. Children share their parent's storage unless rows went to
// several children (fractional): then each child has storage of its own.
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/large_vector.hpp"
#include "base/thread_pool.hpp"
#include "criterion/repeated.hpp"
#include "rows/row_router.hpp"

namespace tw {

struct RowRange {
    size_t begin = 0, end = 0;
    size_t size() const { return end - begin; }
};

// Rows and what they add, node by node: ranges of arrays that are partitioned in place.
template <class Item>
struct RowPartition {
    explicit RowPartition(LargeVector<uint32_t> rows)
        : row(std::move(rows)), spare_row(row.size()), item(row.size()), spare_item(row.size()), child(row.size()) {}

    LargeVector<uint32_t> row, spare_row;
    LargeVector<Item> item, spare_item;
    LargeVector<int32_t> child;
};

template <class Item>
struct NodeRows {
    std::shared_ptr<RowPartition<Item>> partition;
    RowRange range;
};

template <class Item>
struct PartitionedRows {
    std::vector<NodeRows<Item>> children;
    bool fractional = false; // some rows went to several
};

// Pieces of a range that are one task each.
inline std::vector<RowRange> blocks_of(RowRange whole) {
    constexpr size_t size = 1 << 12; // so small that threads end together, a few microseconds apart
    std::vector<RowRange> blocks;
    for (size_t at = whole.begin; at < whole.end; at += size) blocks.push_back({at, std::min(whole.end, at + size)});
    return blocks;
}

template <class Item, class ItemOf>
std::shared_ptr<RowPartition<Item>> make_partition(LargeVector<uint32_t> rows, const ItemOf& item_of,
                                                   ThreadPool& pool) {
    auto partition = std::make_shared<RowPartition<Item>>(std::move(rows));
    const std::vector<RowRange> blocks = blocks_of({0, partition->row.size()});
    pool.run(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
        for (size_t at = blocks[b].begin; at < blocks[b].end; ++at) partition->item[at] = item_of(partition->row[at]);
    });
    return partition;
}

// Sends each value of the block to the next position of its child; children below 0 are none.
template <class Value>
void scatter(std::span<const size_t> first, const int32_t* child, const Value* from, Value* to, RowRange block) {
    if (first.size() == 2) {
        size_t next[2] = {first[0], first[1]};
        for (size_t at = block.begin; at < block.end; ++at) {
            const int32_t c = child[at];
            const Value value = from[at];
            if (c < 0) continue;
            const size_t offset = c ? next[1] : next[0];
            to[offset] = value;
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
std::vector<NodeRows<Item>> partition_in_place(const NodeRows<Item>& whole, std::span<const RowRange> blocks,
                                               std::vector<size_t> next, size_t children, ThreadPool& pool) {
    RowPartition<Item>& partition = *whole.partition;
    std::vector<NodeRows<Item>> node_rows;
    size_t at = whole.range.begin;
    for (size_t c = 0; c < children; ++c) {
        const size_t begin = at;
        for (size_t b = 0; b < blocks.size(); ++b) at += std::exchange(next[b * children + c], at);
        node_rows.push_back({whole.partition, {begin, at}});
    }
    pool.run(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
        const std::span<const size_t> offsets(&next[static_cast<size_t>(b) * children], children);
        scatter(offsets, partition.child.data(), partition.row.data(), partition.spare_row.data(), blocks[b]);
        scatter(offsets, partition.child.data(), partition.item.data(), partition.spare_item.data(), blocks[b]);
    });
    pool.run(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
        const auto copy = [&](auto& from, auto& to) {
            std::copy(from.begin() + blocks[b].begin, from.begin() + blocks[b].end, to.begin() + blocks[b].begin);
        };
        copy(partition.spare_row, partition.row);
        copy(partition.spare_item, partition.item);
    });
    return node_rows;
}

// A fractional row goes to many children, with shares of its weight.
template <class Item>
std::vector<NodeRows<Item>> partition_fractional(const NodeRows<Item>& whole, std::span<const RowRange> blocks,
                                                 const Split& split, ThreadPool& pool) {
    std::vector<NodeRows<Item>> node_rows;
    if constexpr (!WeightedItem<Item>) {
        throw std::logic_error("fractional rows need weights");
    } else {
        const RowPartition<Item>& partition = *whole.partition;
        const size_t children = static_cast<size_t>(split.children());
        const auto each = [&](const RowRange& block, const auto& put) {
            for (size_t at = block.begin; at < block.end; ++at) {
                share_weight(split.share, partition.child[at], partition.item[at].weight,
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
            node_rows.push_back({std::make_shared<RowPartition<Item>>(LargeVector<uint32_t>(at)), {0, at}});
        }
        pool.run(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
            each(blocks[b], [&](size_t at, size_t child, int64_t weight) {
                RowPartition<Item>& to = *node_rows[child].partition;
                const size_t offset = next[static_cast<size_t>(b) * children + child]++;
                to.row[offset] = partition.row[at];
                to.item[offset] = partition.item[at];
                to.item[offset].weight = weight;
            });
        });
    }
    return node_rows;
}

// Sends the rows of a node to its children.
template <class Item>
PartitionedRows<Item> partition_rows(const NodeRows<Item>& whole, const RowRouter& router, const Split& split,
                                     ThreadPool& pool) {
    RowPartition<Item>& partition = *whole.partition;
    const std::vector<RowRange> blocks = blocks_of(whole.range);
    // Where each row goes, and how many of each block go to each child.
    const size_t children = static_cast<size_t>(split.children());
    std::vector<size_t> counts(blocks.size() * children, 0);
    std::vector<uint8_t> is_fractional(blocks.size(), 0);
    pool.run(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
        const std::span<const uint32_t> rows(&partition.row[blocks[b].begin], blocks[b].size());
        const std::span<int32_t> child(&partition.child[blocks[b].begin], blocks[b].size());
        router.route(rows, child.data(), std::span(&counts[static_cast<size_t>(b) * children], children));
        is_fractional[b] =
            split.missing == fractional && std::find(child.begin(), child.end(), fractional) != child.end();
    });
    if (std::find(is_fractional.begin(), is_fractional.end(), 1) == is_fractional.end()) {
        return {partition_in_place(whole, blocks, std::move(counts), children, pool), false};
    }
    return {partition_fractional(whole, blocks, split, pool), true};
}

} // namespace tw

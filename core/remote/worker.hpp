// A worker: replies to requests about the rows of one partition.
//
// A pure function of the partition, its state and the request. Rows without weight are in no node.
#pragma once

#include <optional>

#include "remote/prepared_partition.hpp"
#include "remote/protocol.hpp"

namespace tw {

// Which rows lie in which node: nodes one after the other. `weight` is empty where no row is fractional.
struct RowAssignment {
    SharedArray<int32_t> node;
    SharedArray<int64_t> start; // one more than nodes
    SharedArray<uint32_t> row;
    SharedArray<int64_t> weight;

    template <class Self, class Visit>
    static void each(Self& self, const Visit& visit) {
        visit("node", self.node);
        visit("start", self.start);
        visit("row", self.row);
        visit("weight", self.weight);
    }
};

struct WorkerResult {
    std::optional<PreparedPartition> prepared; // where it changed
    std::optional<RowAssignment> assignment;
    Reply reply;
};

WorkerResult handle_request(const Table& table, const Target& targets, const Recipe& recipe,
                            const PreparedPartition& prepared, const RowAssignment& assignment, const Request& request);

} // namespace tw

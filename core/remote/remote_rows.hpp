// Rows in partitions elsewhere: on disk or on other machines, behind requests.
//
// The driver sees no row, except for nodes so small that their rows are fetched and the subtree is grown here. One
// request serves a whole level.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "remote/protocol.hpp"
#include "rows/row_store.hpp"
#include "threshold/plan.hpp"

namespace tw {

// A serialized Request in, the merged and serialized Reply of all partitions out.
using SendRequest = std::function<std::string(const std::string&)>;

// What is known of the table from all its partitions. It must outlive the rows.
struct RemoteTable {
    Table shape; // kinds and levels, no rows
    Plan plan;
    Measure measure;
    std::vector<ColumnFacts> facts;
    SearchPlan search;
};

struct RemoteSettings {
    int64_t rows = 0;      // of all partitions
    bool weighted = false; // rows have weights
    int n_classes = 0;
    int64_t max_detached_rows = 0; // nodes of at most this many rows are sent whole
    int64_t max_rows_at_once = 0;  // rows of such nodes that may be here at the same time
    int64_t memory = 0;            // bytes that the values of one column may take here; 0: any
    int threads = 1;
};

// The recipe must see every value of some column in one place, and there are too many.
struct TooManyValues : std::runtime_error {
    TooManyValues(const std::string& choice, int64_t column, int64_t bytes)
        : std::runtime_error(choice + " " + std::to_string(column) + " " + std::to_string(bytes)) {}
};

// Sends requests until the table is known, and prepares the partitions. `remote` must outlive the rows.
std::unique_ptr<RowStore> remote_rows(RemoteTable& remote, const Recipe& recipe, const RemoteSettings& settings,
                                      SendRequest send);

class RemoteRows : public RowStore {
public:
    RemoteRows(const RemoteTable& remote, const Recipe& recipe, const RemoteSettings& settings, SendRequest send);

    const TrainingTable& training() const override { return training_; }
    int64_t used_rows() const override { return totals_[0].all.rows[0]; }
    Total total(int node) const override { return totals_[static_cast<size_t>(node)]; }
    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<OpenNode>& open_nodes,
                                                   ThreadPool& pool) override;
    std::vector<std::vector<Surrogate>> surrogates(const Task& task, const std::vector<ChosenSplit>& chosen,
                                                   ThreadPool& pool) override;
    void partition(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates, int first,
                   ThreadPool& pool) override;
    void reserve(int nodes) override;
    void finish_level(int64_t levels) override;
    // A level costs less than the rows, unless they are very few.
    bool should_detach(int64_t rows, int64_t levels) const override {
        return rows <= settings_.max_detached_rows && (levels > 2 || rows <= 256);
    }
    size_t fetch(std::span<const int> nodes) override;
    std::unique_ptr<RowStore> detach(int node) override;

protected:
    // What the children need next may be requested on the way.
    virtual void request_ahead(const NodeSplit& /*sending*/, int64_t /*levels*/, Request& /*question*/) const {}
    virtual void receive(const Request& /*question*/, Reply& /*answer*/) {}

    Reply send(const Request& request) const { return deserialize<Reply>(send_(serialized(request))); }
    size_t rows_of(int node) const { return static_cast<size_t>(totals_[static_cast<size_t>(node)].all.rows[0]); }
    // The candidates of some columns that are counted value by value, node by node.
    std::vector<std::vector<Candidate>> candidates_by_value(const Task& task, const std::vector<OpenNode>& open_nodes,
                                                            const std::vector<TableColumn>& columns,
                                                            ThreadPool& pool) const;

    const RemoteTable& remote_;
    const Recipe& recipe_;
    RemoteSettings settings_;

private:
    SendRequest send_;
    TrainingTable training_;
    std::vector<Total> totals_;                  // per node
    std::vector<std::optional<NodeSplit>> next_; // per node, divisions of this level
    std::unordered_map<int, RowBatch> batches_;
};

} // namespace tw

// Rows in partitions elsewhere: on disk or on other machines, behind requests.
//
// The driver sees no row, except for nodes so small that their rows are fetched and the subtree is grown here. One
// request serves a whole level.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

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
    Total total(int node) const override { return totals_[static_cast<size_t>(node)]; }
    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<OpenNode>& open_nodes,
                                                   ThreadPool& pool) override;
    std::vector<std::vector<Surrogate>> surrogates(const Task& task, const std::vector<ChosenSplit>& chosen,
                                                   ThreadPool& pool) override;
    void partition(std::vector<NodeSplit> splits, int64_t levels, ThreadPool& pool) override;
    bool should_detach(int node, int64_t levels) const override {
        return is_worth_fetching(static_cast<int64_t>(rows_of(node)), levels);
    }
    std::vector<MakeRows> detach(std::span<const int> nodes) override;

protected:
    // What the children need next may be requested on the way.
    virtual void request_ahead(const NodeSplit& /*split*/, int64_t /*levels*/, Request& /*request*/) const {}
    virtual void receive(const Request& /*request*/, Reply& /*reply*/) {}
    // A level costs less than the rows, unless they are very few.
    bool is_worth_fetching(int64_t rows, int64_t levels) const {
        return rows <= settings_.max_detached_rows && (levels > 2 || rows <= 256);
    }

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
    void send_for_totals(const Request& request);
    std::unique_ptr<RowStore> rows_from(RowBatch batch, int threads) const;

    SendRequest send_;
    TrainingTable training_;
    std::vector<Total> totals_; // per node
};

} // namespace tw

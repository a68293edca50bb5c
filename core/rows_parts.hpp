// Rows in parts that lie elsewhere: on disk, on other machines. They are asked, and answer with sums.
//
// Comes in: a way to ask all parts at once (question.hpp). Goes out: the same candidates, surrogates and totals as if
// all rows were here. Always holds: a row is never looked at here, but for nodes so small that their rows are sent
// whole and the subtree is grown here. One question serves a whole level.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "question.hpp"
#include "rows.hpp"

namespace tw {

// A written Question in, the merged and written Answer of all parts out.
using AskParts = std::function<std::string(const std::string&)>;

// What is known of the table from all its parts, and lives as long as any row of it.
struct PartsGround {
    Table shape; // kinds and levels, no rows
    Plan plan;
    Measure measure;
    std::vector<ColumnFacts> facts;
};

struct PartsSettings {
    int64_t rows = 0;      // of all parts
    bool weighted = false; // rows have weights
    int n_classes = 0;
    int64_t apart = 0;   // nodes of at most this many rows are sent whole
    int64_t at_once = 0; // rows of such nodes that may be here at the same time
    int64_t memory = 0;  // bytes that the values of one column may take here; 0: any
    int threads = 1;
};

// The recipe must see every value of some column in one place, and there are too many.
struct TooManyValues : std::runtime_error {
    TooManyValues(const std::string& choice, int64_t column, int64_t bytes)
        : std::runtime_error(choice + " " + std::to_string(column) + " " + std::to_string(bytes)) {}
};

// Asks until everything about the table is known, and makes the parts ready to grow. The ground must outlive the rows.
std::unique_ptr<Rows> rows_in_parts(PartsGround& ground, const Recipe& recipe, const PartsSettings& settings,
                                    AskParts ask);

class RowsParts : public Rows {
public:
    RowsParts(const PartsGround& ground, const Recipe& recipe, const PartsSettings& settings, AskParts ask);

    const Source& source() const override { return source_; }
    int64_t used_rows() const override { return totals_[0].all.rows[0]; }
    Total total(int node) const override { return totals_[static_cast<size_t>(node)]; }
    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<Ask>& asks, Pool& pool) override;
    std::vector<Surrogate> surrogates(const Task& task, int node, const Split& split, Pool& pool) override;
    std::vector<std::vector<Surrogate>> surrogates_of(const Task& task, const std::vector<Chosen>& chosen,
                                                      Pool& pool) override;
    void divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates, int first,
                Pool& pool) override;
    void reserve(int nodes) override;
    void settle(int64_t levels) override;
    // A level costs less than the rows, unless they are very few.
    bool is_apart(int64_t rows, int64_t levels) const override {
        return rows <= settings_.apart && (levels > 2 || rows <= 256);
    }
    size_t fetch(std::span<const int> nodes) override;
    std::unique_ptr<Rows> detach(int node) override;

protected:
    // What will be wanted of the children next may be asked for on the way.
    virtual void foresee(const Sending& /*sending*/, int64_t /*levels*/, Question& /*question*/) const {}
    virtual void hear(const Question& /*question*/, Answer& /*answer*/) {}

    Answer ask(const Question& question) const { return read_message<Answer>(ask_(written(question))); }
    size_t rows_of(int node) const { return static_cast<size_t>(totals_[static_cast<size_t>(node)].all.rows[0]); }
    // The candidates of some columns that are counted value by value, node by node.
    std::vector<std::vector<Candidate>> counted(const Task& task, const std::vector<Ask>& asks,
                                                const std::vector<int>& columns, Pool& pool) const;

    const PartsGround& ground_;
    const Recipe& recipe_;
    PartsSettings settings_;

private:
    AskParts ask_;
    Source source_;
    std::vector<Total> totals_;                // per node
    std::vector<std::optional<Sending>> next_; // per node, divisions of this level
    std::unordered_map<int, Bundle> bundles_;
};

} // namespace tw

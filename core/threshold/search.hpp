// The threshold search: cuts between bins, the gain to beat, the bins where a better cut could hide, candidates.
//
// Written once for candidates and surrogates, over a cut source that knows where the rows lie.
#pragma once

#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/thread_pool.hpp"
#include "threshold/best_gains.hpp"
#include "threshold/candidates.hpp"
#include "threshold/histogram_scan.hpp"

namespace tw {

// The search at one node.
template <CutCounter Counter>
struct NodeSearch {
    int node = 0;
    CutRules rules;
    std::optional<HistogramScan<Counter>> scan;
    IndexedVector<ScanColumn, EdgeScan> edges;
    IndexedVector<ScanColumn, double> to_beat; // the gain a cut must reach; infinite: the column is not searched
    BestGains best;                            // what one column finds closes bins of the others
    IndexedVector<ScanColumn, LocatedCut<Counter>> cuts;
    std::vector<double> level_gains; // of the columns searched by value, if they are known before the candidates

    double gain_to_beat(ScanColumn scan_column) const { return std::max(to_beat[scan_column], best.last()); }
    // The column's cut, once and for all.
    void set_cut(ScanColumn scan_column, LocatedCut<Counter> cut, double known_before) {
        best.raise(known_before, cut.cut.gain);
        cuts[scan_column] = std::move(cut);
    }
    IndexedVector<ScanColumn, double> gains() const {
        IndexedVector<ScanColumn, double> gains;
        for (const LocatedCut<Counter>& cut : cuts) gains.push_back(cut.cut.gain);
        return gains;
    }
    IndexedVector<ScanColumn, double> edge_gains() const {
        IndexedVector<ScanColumn, double> gains;
        for (const EdgeScan& edge : edges) gains.push_back(edge.best.most());
        return gains;
    }
    // As if the column were constant.
    void leave_out(ScanColumn scan_column) {
        edges[scan_column] = {};
        to_beat[scan_column] = std::numeric_limits<double>::infinity();
        cuts[scan_column] = {};
        cuts[scan_column].cut.constant = true;
    }
    // What lies below a column's cut.
    Words<Counter> low(ScanColumn scan_column) const {
        const int last = cuts[scan_column].cut.last;
        return last < 0 ? cuts[scan_column].low : scan->up_to(scan_column, last);
    }
};

template <CutCounter Counter>
using NodeSearches = std::vector<NodeSearch<Counter>>;

struct CutOfNode {
    size_t search;
    ScanColumn scan_column;
};

// Leaves out the columns that the node does not draw. `is_constant(scan_column)`: only others are drawn.
template <CutCounter Counter, class IsConstant>
void leave_out_undrawn(const Task& task, const SearchColumns& columns, const NodeFacts& node,
                       NodeSearch<Counter>& search, std::vector<Candidate>& by_value, const IsConstant& is_constant) {
    const std::vector<int> drawn = drawn_columns(task, columns, node, by_value, is_constant);
    for (const ScanColumn i : columns.scan_columns()) {
        if (!is_drawn(drawn, columns.column(i).column.value)) search.leave_out(i);
    }
}

// What the search needs of the rows.
template <CutCounter Counter>
class CutSource {
public:
    virtual ~CutSource() = default;
    // The cuts between bins of a column, and the bins that could hold a better one.
    virtual EdgeScan scan_bin_edges(const NodeSearches<Counter>& searches, size_t number, ScanColumn scan_column,
                                    bool roughly) const {
        if constexpr (ScoresRows<Counter>) {
            throw std::logic_error("cuts are scored from rows, which lie elsewhere");
        } else {
            const NodeSearch<Counter>& search = searches[number];
            return search.scan->scan_bin_edges(search.rules, scan_column, roughly);
        }
    }
    // Looks inside the bins where a cut that reaches the gain to beat could hide, and sets every cut.
    virtual void refine(NodeSearches<Counter>& searches, ThreadPool& pool) = 0;
    // Finds the values next to these cuts, which lie between bins.
    virtual void locate(NodeSearches<Counter>& searches, const std::vector<CutOfNode>& cuts, ThreadPool& pool) = 0;
    // Both sides of a cut, counted from its rows: with squares, or with medians.
    virtual Histogram count_sides(size_t /*search*/, TableColumn /*column*/, const Cut& /*cut*/) const {
        throw std::logic_error("this plan counts no sides");
    }
};

// Finds the cut of every column of every node. `set_gains_to_beat(search)` follows the scan of the edges. `roughly`:
// what a column has matters only if it is one of the best, and the source looks closer (HistogramScan::look_closer).
template <CutCounter Counter, class SetGains>
void find_cuts(const SearchColumns& columns, NodeSearches<Counter>& searches, const SetGains& set_gains_to_beat,
               CutSource<Counter>& source, ThreadPool& pool, bool roughly = false) {
    const size_t scanned = columns.scanned();
    for (NodeSearch<Counter>& search : searches) {
        search.edges.resize(scanned);
        search.cuts.resize(scanned);
        search.to_beat.assign(scanned, no_gain);
    }
    const bool ordered = !searches.empty() && searches[0].rules.ordered; // visits all edges itself
    if (!ordered) {
        pool.run(static_cast<int64_t>(searches.size() * scanned), [&](int64_t i) {
            const ProfileTimer watch(columns.profile, &Profile::edge_scan);
            const size_t n = static_cast<size_t>(i) / scanned;
            const ScanColumn scan_column(static_cast<size_t>(i) % scanned);
            searches[n].edges[scan_column] = source.scan_bin_edges(searches, n, scan_column, roughly);
        });
        for (NodeSearch<Counter>& search : searches) set_gains_to_beat(search);
    }
    source.refine(searches, pool);
}

// Whether only the node's split matters: not the gains of the other columns, and nothing but gains decides.
inline bool only_best_matters(const Recipe& recipe, const SearchPlan& plan) {
    return recipe.rivals == 0 && !plan.keeps_all_columns;
}

// Rivals are reported exactly, so a column that may be one must also be beaten by its own best cut.
template <CutCounter Counter>
void set_split_gains_to_beat(const Task& task, const SearchPlan& plan, NodeSearch<Counter>& search) {
    const IndexedVector<ScanColumn, double> gains = search.edge_gains();
    std::vector<double> known = gains;
    known.insert(known.end(), search.level_gains.begin(), search.level_gains.end());
    search.best.start(exact_gains(task.recipe, plan), std::move(known));
    for (const ScanColumn i : gains.indices()) search.to_beat[i] = std::max(search.to_beat[i], gains[i]);
}

// Cuts worth it become candidates, in order of columns with those searched by value: `by_value(n, i)` of node n and the
// i-th such column.
template <TargetCounter Counter, class ByValue>
std::vector<std::vector<Candidate>> to_candidates(const Task& task, const SearchContext<Counter>& context,
                                                  const std::vector<OpenNode>& open_nodes,
                                                  NodeSearches<Counter>& searches, const ByValue& by_value,
                                                  CutSource<Counter>& source, ThreadPool& pool) {
    std::vector<std::vector<CandidateColumn>> kept(searches.size());
    std::vector<std::vector<Candidate>> found(searches.size());
    struct CandidateOfNode {
        size_t node, candidate;
    };
    std::vector<CandidateOfNode> tasks; // near the root one node is work for many threads
    std::vector<CutOfNode> not_located;
    for (size_t n = 0; n < searches.size(); ++n) {
        kept[n] = candidate_columns(task, context, searches[n].rules, searches[n].gains(), searches[n].level_gains);
        found[n].resize(kept[n].size());
        for (size_t i = 0; i < kept[n].size(); ++i) {
            const CandidateColumn& column = kept[n][i];
            tasks.push_back({n, i});
            if (!column.scan_column) continue;
            const Cut& cut = searches[n].cuts[*column.scan_column].cut;
            if (cut.low_rows > 0 && !cut.located()) not_located.push_back({n, *column.scan_column});
        }
    }
    source.locate(searches, not_located, pool);
    pool.run(static_cast<int64_t>(tasks.size()), [&](int64_t t) {
        const auto [n, i] = tasks[static_cast<size_t>(t)];
        if (!kept[n][i].scan_column) {
            found[n][i] = by_value(n, kept[n][i].by_value);
            return;
        }
        const TableColumn column = kept[n][i].column;
        const ScanColumn scan_column = *kept[n][i].scan_column;
        const NodeSearch<Counter>& search = searches[n];
        const Cut& cut = search.cuts[scan_column].cut;
        const CutScorer<Counter> scorer = search.scan->scorer(search.rules, scan_column);
        found[n][i] = to_candidate(task, context, open_nodes[n].facts, column, cut, scorer.known(), scorer.missing(),
                                   search.low(scan_column), [&] { return source.count_sides(n, column, cut); });
    });
    return found;
}

} // namespace tw

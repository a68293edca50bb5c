#include "remote/remote_histogram_rows.hpp"

#include "remote/remote_rows.hpp"
#include "remote/remote_search.hpp"
#include "rows/node_histograms.hpp"
#include "threshold/candidates.hpp"
#include "threshold/surrogate_scan.hpp"

namespace tw {
namespace {

template <TargetCounter Counter>
class RemoteHistogramRows final : public RemoteRows {
public:
    using Word = typename Counter::Word;

    RemoteHistogramRows(const RemoteTable& remote, const Recipe& recipe, const RemoteSettings& settings,
                        SendRequest send, const Counter& counter)
        : RemoteRows(remote, recipe, settings, std::move(send)),
          binned_(remote.shape, remote.plan.binned, {}, {}),
          context_{training(), binned_, recipe, counter, {}, {}, 0, ReciprocalTable(0), {}, nullptr} {
        plan_columns(context_);
        histograms_.reserve(1);
    }

    void reserve(int nodes) override {
        RemoteRows::reserve(nodes);
        histograms_.reserve(static_cast<size_t>(nodes));
    }
    void partition(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates, int first,
                   ThreadPool& pool) override {
        if (split.children() == 2) histograms_.add_children(node, first, rows_of(node));
        RemoteRows::partition(node, node_key, split, surrogates, first, pool);
    }

    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<OpenNode>& open_nodes,
                                                   ThreadPool& pool) override {
        std::vector<int> nodes;
        for (const OpenNode& open_node : open_nodes) nodes.push_back(open_node.node);
        count(nodes, pool);
        std::vector<Search> searches(open_nodes.size());
        const RemoteRefiner<Counter> refine(context_.counter, binned_.columns(), context_.by_histogram,
                                            scores_missing(recipe_.missing));
        pool.run(static_cast<int64_t>(open_nodes.size()), [&](int64_t n) {
            Search& search = searches[n];
            search.node = open_nodes[n].node;
            search.rules = cut_rules(task, context_.counter, open_nodes[n].facts, target_range_at(search.node));
            refine.scan_bin_edges(histograms_.of(search.node).data(), search);
            set_gains_to_beat(task, search);
        });
        std::vector<Edge> edges = likely_edges(task, searches);
        const auto cells_of = [&](std::vector<KeyRange> ranges) {
            for (const Search& search : searches) add_likely_edge(search, edges);
            return request_cells(std::move(ranges), {}, &edges);
        };
        refine.refine(searches, cells_of, pool);
        std::vector<std::vector<Candidate>> by_value(open_nodes.size());
        if (!context_.by_value.empty()) by_value = candidates_by_value(task, open_nodes, context_.by_value, pool);
        std::vector<std::vector<Candidate>> found =
            to_candidates(task, open_nodes, searches, edges, std::move(by_value), pool);
        histograms_.keep_only(nodes);
        return found;
    }

    std::vector<std::vector<Surrogate>> surrogates_of(const Task& task, const std::vector<ChosenSplit>& chosen,
                                                      ThreadPool& pool) override {
        const bool possible = !context_.by_histogram.empty() &&
                              std::all_of(chosen.begin(), chosen.end(),
                                          [](const ChosenSplit& one) { return one.split->children() == 2; });
        if (!possible) return RemoteRows::surrogates_of(task, chosen, pool);
        std::vector<std::vector<Surrogate>> found;
        const size_t bytes =
            static_cast<size_t>(binned_.bins()) * SurrogateCounter::fixed * sizeof(SurrogateCounter::Word);
        const size_t per_request = std::max<size_t>(1, max_reply_bytes / bytes);
        for (size_t first = 0; first < chosen.size(); first += per_request) {
            const std::span<const ChosenSplit> some(&chosen[first], std::min(per_request, chosen.size() - first));
            for (std::vector<Surrogate>& one : surrogate_histograms(task, some, pool)) found.push_back(std::move(one));
        }
        return found;
    }

private:
    using Search = RemoteSearch<Counter>;
    static constexpr size_t max_reply_bytes = 1 << 26; // of histograms in one answer

    // The values next to a cut, wanted or known.
    struct Edge {
        CutAt cut;
        bool known = false;
        double below = 0, above = 0;
    };

    std::vector<Cells> request_cells(std::vector<KeyRange> ranges, std::vector<ChildCounts> surrogate_histograms,
                                     std::vector<Edge>* edges = nullptr) const {
        Request request;
        request.ranges = std::move(ranges);
        request.surrogate_histograms = std::move(surrogate_histograms);
        if (edges) request_edges(*edges, request);
        Reply reply = send(request);
        if (edges) receive_edges(*edges, reply);
        return std::move(reply.ranges);
    }
    static void request_edges(const std::vector<Edge>& edges, Request& request) {
        for (const Edge& edge : edges) {
            if (!edge.known) request.cuts.push_back(edge.cut);
        }
    }
    static void receive_edges(std::vector<Edge>& edges, const Reply& reply) {
        size_t next = 0;
        for (Edge& edge : edges) {
            if (edge.known) continue;
            edge.below = reply.cuts[next].below;
            edge.above = reply.cuts[next++].above;
            edge.known = true;
        }
    }

    // The same for the best cut between cells that were told.
    void add_likely_edge(const Search& search, std::vector<Edge>& edges) const {
        if (recipe_.rivals > 0 || keeps_all_columns(recipe_)) return;
        const typename Search::Point* best = nullptr;
        size_t column = 0;
        for (size_t scan_column = 0; scan_column < search.points.size(); ++scan_column) {
            for (const typename Search::Point& point : search.points[scan_column]) {
                if (best && !(point.gain > best->gain)) continue;
                best = &point;
                column = scan_column;
            }
        }
        if (!best || best->below < best->above) return;
        edges.push_back({{search.node, context_.column(column).column, true, false, number_of(best->key)}});
    }

    // Cuts between bins that may remain the best: what lies next to them is asked for on the way.
    std::vector<Edge> likely_edges(const Task& task, const std::vector<Search>& searches) const {
        std::vector<Edge> edges;
        if (recipe_.rivals > 0 || keeps_all_columns(recipe_)) return edges; // too many that are never told
        for (const Search& search : searches) {
            for (const int scan_column : competitive_columns(task, search.rules, search.cuts)) {
                const Cut& cut = search.cuts[static_cast<size_t>(scan_column)];
                if (!cut.found() || cut.low_rows == 0) continue;
                const ColumnBins& column = context_.column(static_cast<size_t>(scan_column));
                const int last = search.coarse[static_cast<size_t>(scan_column)].last;
                edges.push_back({{search.node, column.column, true, false, column.end[static_cast<size_t>(last)]}});
            }
        }
        return edges;
    }

    // The smaller child will have to be counted, if either of them is divided.
    void request_ahead(const NodeSplit& node_split, int64_t levels, Request& request) const override {
        if (levels == 0 || node_split.split.children() != 2) return;
        const double share = std::min(node_split.split.share[0], node_split.split.share[1]);
        const auto larger = static_cast<int64_t>((1 - share) * static_cast<double>(rows_of(node_split.node)));
        if (should_detach(larger, levels) || request.histograms.size() >= nodes_per_request()) return;
        request.histograms.push_back(node_split.first +
                                     static_cast<int>(node_split.split.share[1] < node_split.split.share[0]));
    }
    void receive(const Request& request, Reply& reply) override {
        for (size_t i = 0; i < request.histograms.size(); ++i) {
            const auto& counts = reply.histograms[i].template of<Word>();
            auto& own = histograms_.make(request.histograms[i], counts.size());
            std::copy(counts.begin(), counts.end(), own.begin());
        }
    }
    size_t nodes_per_request() const {
        const size_t bytes = static_cast<size_t>(binned_.bins() * context_.counter.words()) * sizeof(Word);
        return std::max<size_t>(1, max_reply_bytes / std::max<size_t>(1, bytes));
    }

    void count(const std::vector<int>& nodes, ThreadPool& pool) {
        const std::vector<int> counted = histograms_.to_count(nodes, [&](int node) { return rows_of(node); });
        const size_t per_request = nodes_per_request();
        for (size_t first = 0; first < counted.size(); first += per_request) {
            Request request;
            const size_t last = std::min(counted.size(), first + per_request);
            request.histograms.assign(counted.begin() + static_cast<std::ptrdiff_t>(first),
                                      counted.begin() + static_cast<std::ptrdiff_t>(last));
            Reply reply = send(request);
            receive(request, reply);
        }
        histograms_.subtract(pool);
    }

    // Rivals are told exactly, so a column that may be one must also be beaten by its own best cut.
    void set_gains_to_beat(const Task& task, Search& search) const {
        const double best = gain_to_beat(task, search.cuts);
        const bool rivals = recipe_.rivals > 0 || keeps_all_columns(recipe_);
        for (const Cut& cut : search.cuts) {
            search.to_beat.push_back((rivals ? std::max(best, cut.gain) : best) - search.rules.tolerance);
        }
    }

    // What the targets of a node span, from its total.
    TargetRange target_range_at(int node) const {
        const Measure& measure = remote_.measure;
        if (measure.n_classes > 0) return {};
        const Total total = this->total(node);
        const Bin all = total.all.bin(0);
        const auto scaled = [&](double y) {
            return static_cast<double>(std::llround((y - measure.offset) / measure.target_unit));
        };
        const Sum size = std::max<Sum>(1, measure.unit_weights ? static_cast<Sum>(all.rows) : all.stat[0]);
        return {scaled(total.low), scaled(total.high), static_cast<int64_t>(all.stat[1] / size)};
    }

    // Cuts worth it become candidates; what the cut itself does not tell is asked for.
    std::vector<std::vector<Candidate>> to_candidates(const Task& task, const std::vector<OpenNode>& open_nodes,
                                                      std::vector<Search>& searches, const std::vector<Edge>& edges,
                                                      std::vector<std::vector<Candidate>> by_value, ThreadPool& pool) {
        std::vector<std::vector<Candidate>> found(searches.size());
        std::vector<std::vector<CandidateColumn>> kept(searches.size());
        Request request;
        std::vector<std::vector<int64_t>> reply_of(searches.size()); // per converting, -1: not asked
        for (size_t n = 0; n < searches.size(); ++n) {
            Search& search = searches[n];
            kept[n] = candidate_columns(context_, competitive_columns(task, search.rules, search.cuts));
            for (const CandidateColumn& each : kept[n]) {
                reply_of[n].push_back(-1);
                if (each.scan_column < 0) continue;
                Cut& cut = search.cuts[static_cast<size_t>(each.scan_column)];
                const bool is_counted = needs_rating(task, context_, cut);
                const double at = search.at[static_cast<size_t>(each.scan_column)];
                const auto known = std::find_if(edges.begin(), edges.end(), [&](const Edge& edge) {
                    return edge.known && edge.cut.node == search.node && edge.cut.column == each.column &&
                           edge.cut.at == at;
                });
                if (!cut.located() && cut.low_rows > 0 && known != edges.end()) {
                    cut.below = known->below;
                    cut.above = known->above;
                }
                if (!is_counted && (cut.low_rows == 0 || cut.located())) continue;
                reply_of[n].back() = static_cast<int64_t>(request.cuts.size());
                request.cuts.push_back({search.node, each.column, cut.low_rows > 0, is_counted, at});
            }
        }
        const Reply reply = request.cuts.empty() ? Reply{} : send(request);
        pool.run(static_cast<int64_t>(searches.size()), [&](int64_t n) {
            Search& search = searches[n];
            size_t next_gathered = 0;
            for (size_t i = 0; i < kept[n].size(); ++i) {
                const CandidateColumn& each = kept[n][i];
                if (each.scan_column < 0) {
                    found[n].push_back(std::move(by_value[n][next_gathered++]));
                    continue;
                }
                Cut& cut = search.cuts[static_cast<size_t>(each.scan_column)];
                const int64_t locate = reply_of[n][i];
                if (locate >= 0) {
                    cut.below = reply.cuts[static_cast<size_t>(locate)].below;
                    cut.above = reply.cuts[static_cast<size_t>(locate)].above;
                }
                found[n].push_back(needs_rating(task, context_, cut)
                                       ? cut_to_rated_candidate(task, training(), open_nodes[n].facts, each.column, cut,
                                                                reply.cuts[locate])
                                       : cut_to_candidate(task, context_.counter, open_nodes[n].facts, each.column, cut,
                                                          search.scan->total(),
                                                          search.low[static_cast<size_t>(each.scan_column)]));
            }
        });
        return found;
    }

    // The same search as for candidates, with the child of each row as what is looked for.
    std::vector<std::vector<Surrogate>> surrogate_histograms(const Task& task, std::span<const ChosenSplit> chosen,
                                                             ThreadPool& pool) const {
        Request request;
        for (const auto& [node, split] : chosen) {
            request.surrogate_histograms.push_back({node, *split, {}});
            request.child_histograms.push_back({node, *split, context_.by_value});
        }
        const Reply reply = send(request);
        const SurrogateCounter counter;
        const RemoteRefiner<SurrogateCounter> refine(counter, binned_.columns(), context_.by_histogram, false);
        std::vector<RemoteSearch<SurrogateCounter>> searches(chosen.size());
        pool.run(static_cast<int64_t>(chosen.size()), [&](int64_t n) {
            RemoteSearch<SurrogateCounter>& search = searches[n];
            search.node = chosen[n].node;
            search.surrogate = static_cast<int>(n);
            search.rules = surrogate_cut_rules();
            refine.scan_bin_edges(histogram_of(reply, n), search);
            set_gains_to_beat(task, *chosen[n].split, search);
        });
        refine.refine(
            searches,
            [&](std::vector<KeyRange> ranges) {
                return request_cells(std::move(ranges), request.surrogate_histograms);
            },
            pool);
        locate(searches, chosen);
        std::vector<std::vector<Surrogate>> found(chosen.size());
        pool.run(static_cast<int64_t>(chosen.size()), [&](int64_t n) {
            const size_t by_value = context_.by_value.size();
            const std::span<const Histogram> by_level(reply.child_histograms.data() + static_cast<size_t>(n) * by_value,
                                                      by_value);
            found[n] = surrogates_from(task, *chosen[n].split, searches[n], by_level);
        });
        return found;
    }

    static const SurrogateCounter::Word* histogram_of(const Reply& reply, int64_t n) {
        return reinterpret_cast<const SurrogateCounter::Word*>(
            reply.surrogate_histograms[static_cast<size_t>(n)].wide.data());
    }

    // Only as many as are kept need to be exact, and only those that beat the majority.
    void set_gains_to_beat(const Task& task, const Split& split, RemoteSearch<SurrogateCounter>& search) const {
        std::vector<double> reference, reached;
        for (size_t scan_column = 0; scan_column < context_.by_histogram.size(); ++scan_column) {
            reference.push_back(search.scan->scorer(search.rules, scan_column).reference());
            if (context_.column(scan_column).column != split.column) {
                reached.push_back(search.cuts[scan_column].gain + reference[scan_column]);
            }
        }
        const auto& total = search.scan->total();
        const double majority = static_cast<double>(std::max(total[3], total[4]));
        const double gain_to_beat = surrogate_gain_to_beat(task, majority, std::move(reached));
        for (size_t scan_column = 0; scan_column < context_.by_histogram.size(); ++scan_column) {
            const bool is_split_column = context_.column(scan_column).column == split.column;
            search.to_beat.push_back(
                is_split_column ? std::numeric_limits<double>::infinity()
                                : std::max(gain_to_beat - reference[scan_column], search.cuts[scan_column].gain) -
                                      search.rules.tolerance);
        }
    }

    // Asks for the values next to cuts that are not known yet.
    void locate(std::vector<RemoteSearch<SurrogateCounter>>& searches, std::span<const ChosenSplit> chosen) const {
        Request request;
        std::vector<Cut*> located;
        for (size_t n = 0; n < searches.size(); ++n) {
            for (size_t scan_column = 0; scan_column < context_.by_histogram.size(); ++scan_column) {
                Cut& cut = searches[n].cuts[scan_column];
                const int column = context_.column(scan_column).column;
                if (column == chosen[n].split->column || cut.low_rows == 0 || cut.located()) continue;
                request.cuts.push_back({searches[n].node, column, true, false, searches[n].at[scan_column]});
                located.push_back(&cut);
            }
        }
        if (located.empty()) return;
        const Reply reply = send(request);
        for (size_t i = 0; i < located.size(); ++i) {
            located[i]->below = reply.cuts[i].below;
            located[i]->above = reply.cuts[i].above;
        }
    }

    std::vector<Surrogate> surrogates_from(const Task& task, const Split& split,
                                           const RemoteSearch<SurrogateCounter>& search,
                                           std::span<const Histogram> by_level) const {
        const auto& total = search.scan->total();
        const double unit = task.measure.weight_unit;
        const std::vector<double> sent{static_cast<double>(total[3]) * unit, static_cast<double>(total[4]) * unit};
        std::vector<std::optional<Surrogate>> of_column(remote_.facts.size());
        for (size_t scan_column = 0; scan_column < context_.by_histogram.size(); ++scan_column) {
            const int column = context_.column(scan_column).column;
            if (column == split.column || search.cuts[scan_column].low_rows == 0) continue;
            of_column[static_cast<size_t>(column)] = best_surrogate(
                task, remote_.facts[static_cast<size_t>(column)], two_bin_histogram(search, scan_column), split, sent);
        }
        for (size_t i = 0; i < by_level.size(); ++i) {
            const size_t column = static_cast<size_t>(context_.by_value[i]);
            if (context_.by_value[i] == split.column) continue;
            of_column[column] = best_surrogate(task, remote_.facts[column], by_level[i], split, sent);
        }
        std::vector<Surrogate> found;
        for (std::optional<Surrogate>& one : of_column) {
            if (one) found.push_back(std::move(*one));
        }
        return found;
    }

    // A cut as two buckets, counted by child as binning/value_histogram.hpp does: from the words below it.
    Histogram two_bin_histogram(const RemoteSearch<SurrogateCounter>& search, size_t scan_column) const {
        const Cut& cut = search.cuts[scan_column];
        const Words<SurrogateCounter> low = search.low[scan_column];
        const Words<SurrogateCounter>& total = search.scan->total();
        const ColumnBins& column = context_.column(scan_column);
        Words<SurrogateCounter> missing{};
        if (column.has_missing) {
            std::copy_n(search.scan->bins(scan_column) + static_cast<size_t>(column.bins) * SurrogateCounter::fixed,
                        SurrogateCounter::fixed, missing.begin());
        }
        Histogram histogram;
        histogram.column = column.column;
        histogram.width = 4;
        histogram.at = {cut.below, cut.above};
        for (int side = 0; side < 3; ++side) {
            Sum* sums = histogram.append();
            const auto word = [&](size_t w) {
                return side == 0 ? low[w] : side == 2 ? missing[w] : total[w] - low[w] - missing[w];
            };
            for (size_t child = 0; child < 2; ++child) {
                sums[child] = word(3 + child);
                sums[2 + child] = word(1 + child);
            }
            histogram.rows.back() = word(1) + word(2);
        }
        return histogram;
    }

    BinnedTable binned_;
    SearchContext<Counter> context_;
    NodeHistograms<Word> histograms_;
};

} // namespace

std::unique_ptr<RowStore> remote_histogram_rows(const RemoteTable& remote, const Recipe& recipe,
                                                const RemoteSettings& settings, const SendRequest& send) {
    std::unique_ptr<RowStore> rows;
    with_counter(counted_criterion(recipe.criterion), remote.measure, [&](const auto& counter) {
        using Counter = std::decay_t<decltype(counter)>;
        rows = std::make_unique<RemoteHistogramRows<Counter>>(remote, recipe, settings, send, counter);
    });
    return rows;
}

} // namespace tw

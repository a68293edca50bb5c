#include "remote/remote_histogram_rows.hpp"

#include "remote/remote_cuts.hpp"
#include "remote/remote_rows.hpp"
#include "rows/node_histograms.hpp"
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
          context_(SearchColumns(training(), binned_, remote.search), recipe, counter) {
        histograms_.reserve(1);
    }

    void partition(std::vector<NodeSplit> splits, int64_t levels, ThreadPool& pool) override {
        histograms_.reserve(nodes_after(splits));
        for (const NodeSplit& at : splits) {
            if (at.split.children() == 2) histograms_.add_children(at.node, at.first, rows_of(at.node));
        }
        RemoteRows::partition(std::move(splits), levels, pool);
    }

    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<OpenNode>& open_nodes,
                                                   ThreadPool& pool) override {
        std::vector<int> nodes;
        for (const OpenNode& open_node : open_nodes) nodes.push_back(open_node.node);
        count(nodes, pool);
        NodeSearches<Counter> searches(open_nodes.size());
        pool.run(static_cast<int64_t>(open_nodes.size()), [&](int64_t n) {
            const auto& [node, facts] = open_nodes[n];
            searches[n].node = node;
            searches[n].rules = cut_rules(task, context_, facts, target_range_at(node));
            searches[n].scan.emplace(context_.counter, context_, histograms_.of(node).data(),
                                     context_.plan.tries_missing);
        });
        RemoteCuts<Counter> source(context_, context_.counter,
                                   [this](const Request& request) { return send(request); });
        find_cuts(
            context_, searches,
            [&](NodeSearch<Counter>& search) { set_split_gains_to_beat(task, context_.plan, search); }, source, pool);
        std::vector<std::vector<Candidate>> by_value(open_nodes.size());
        if (!context_.by_value.empty()) by_value = candidates_by_value(task, open_nodes, context_.by_value, pool);
        std::vector<std::vector<Candidate>> found = to_candidates(
            task, context_, open_nodes, searches, [&](size_t n, size_t i) { return std::move(by_value[n][i]); }, source,
            pool);
        histograms_.keep_only(nodes);
        return found;
    }

    std::vector<std::vector<Surrogate>> surrogates(const Task& task, const std::vector<ChosenSplit>& chosen,
                                                   ThreadPool& pool) override {
        const bool can_scan = std::all_of(chosen.begin(), chosen.end(), [&](const ChosenSplit& one) {
            return can_scan_surrogates(context_, *one.split);
        });
        if (!can_scan) return RemoteRows::surrogates(task, chosen, pool);
        std::vector<std::vector<Surrogate>> found;
        const size_t bytes =
            static_cast<size_t>(binned_.bins()) * SurrogateCounter::fixed * sizeof(SurrogateCounter::Word);
        const size_t per_request = std::max<size_t>(1, max_reply_bytes / bytes);
        for (size_t first = 0; first < chosen.size(); first += per_request) {
            const std::span<const ChosenSplit> some(&chosen[first], std::min(per_request, chosen.size() - first));
            for (std::vector<Surrogate>& one : surrogates_at_once(task, some, pool)) found.push_back(std::move(one));
        }
        return found;
    }

private:
    static constexpr size_t max_reply_bytes = 1 << 26; // of histograms in one reply

    // The smaller child will have to be counted, if either of them is split.
    void request_ahead(const NodeSplit& node_split, int64_t levels, Request& request) const override {
        if (levels == 0 || node_split.split.children() != 2) return;
        const double share = std::min(node_split.split.share[0], node_split.split.share[1]);
        const auto larger = static_cast<int64_t>((1 - share) * static_cast<double>(rows_of(node_split.node)));
        if (is_worth_fetching(larger, levels) || request.histograms.size() >= nodes_per_request()) return;
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

    // The same search, with the child of each row as the target.
    std::vector<std::vector<Surrogate>> surrogates_at_once(const Task& task, std::span<const ChosenSplit> chosen,
                                                           ThreadPool& pool) const {
        Request request;
        for (const auto& [node, split] : chosen) {
            request.surrogate_histograms.push_back({node, *split, {}});
            request.child_histograms.push_back({node, *split, context_.by_value});
        }
        const Reply reply = send(request);
        const SurrogateCounter counter;
        NodeSearches<SurrogateCounter> searches(chosen.size());
        for (size_t n = 0; n < chosen.size(); ++n) {
            searches[n].node = chosen[n].node;
            searches[n].rules = surrogate_cut_rules();
            searches[n].scan.emplace(
                counter, context_,
                reinterpret_cast<const SurrogateCounter::Word*>(reply.surrogate_histograms[n].wide.data()), false);
        }
        RemoteCuts<SurrogateCounter> source(
            context_, counter, [this](const Request& more) { return send(more); }, request.surrogate_histograms);
        return find_surrogates(task, context_, chosen, searches, reply.child_histograms, source, pool);
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

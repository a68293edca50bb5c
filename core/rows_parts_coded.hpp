// Rows in parts whose numbers are coded: their cuts and surrogates by histograms (parts_zoom).
//
// Comes in: what RowsParts knows. Goes out: the same candidates and surrogates as rows_coded finds. Always holds:
// columns without codes, and whatever a cut cannot say, are counted value by value.
#pragma once

#include "histograms.hpp"
#include "imitate.hpp"
#include "parts_zoom.hpp"
#include "rows_parts.hpp"
#include "telling.hpp"

namespace tw {

template <class Counter>
class RowsPartsCoded final : public RowsParts {
public:
    using Word = typename Counter::Word;

    RowsPartsCoded(const PartsGround& ground, const Recipe& recipe, const PartsSettings& settings, AskParts ask,
                   const Counter& counter)
        : RowsParts(ground, recipe, settings, std::move(ask)),
          coded_(ground.shape, ground.plan.coded, {}, {}),
          look_{source(), coded_, recipe, counter, {}, {}, 0, Inverses(0), {}, nullptr} {
        set_swept(look_);
        histograms_.reserve(1);
    }

    void reserve(int nodes) override {
        RowsParts::reserve(nodes);
        histograms_.reserve(static_cast<size_t>(nodes));
    }
    void divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates, int first,
                Pool& pool) override {
        if (split.children() == 2) histograms_.divided(node, first, rows_of(node));
        RowsParts::divide(node, node_key, split, surrogates, first, pool);
    }

    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<Ask>& asks,
                                                   Pool& pool) override {
        std::vector<int> nodes;
        for (const Ask& ask : asks) nodes.push_back(ask.node);
        count(nodes, pool);
        std::vector<Search> searches(asks.size());
        const PartsZoom<Counter> zoom(look_.counter, coded_.columns(), look_.swept, scores_missing(recipe_.missing));
        pool.run(static_cast<int64_t>(asks.size()), [&](int64_t n) {
            Search& search = searches[n];
            search.node = asks[n].node;
            search.yard = yardstick(task, look_.counter, asks[n].facts, span_at(search.node));
            zoom.cut_between(histograms_.of(search.node).data(), search);
            set_bars(task, search);
        });
        std::vector<Edge> edges = likely_edges(task, searches);
        const auto ask_for_cells = [&](std::vector<Range> ranges) {
            for (const Search& search : searches) add_likely_edge(search, edges);
            return ask_ranges(std::move(ranges), {}, &edges);
        };
        zoom.zoom(searches, ask_for_cells, pool);
        std::vector<std::vector<Candidate>> gathered(asks.size());
        if (!look_.gathered.empty()) gathered = counted(task, asks, look_.gathered, pool);
        std::vector<std::vector<Candidate>> found = tell(task, asks, searches, edges, std::move(gathered), pool);
        histograms_.keep_only(nodes);
        return found;
    }

    std::vector<std::vector<Surrogate>> surrogates_of(const Task& task, const std::vector<Chosen>& chosen,
                                                      Pool& pool) override {
        const bool possible = !look_.swept.empty() && std::all_of(chosen.begin(), chosen.end(), [](const Chosen& one) {
            return one.split->children() == 2;
        });
        if (!possible) return RowsParts::surrogates_of(task, chosen, pool);
        std::vector<std::vector<Surrogate>> found;
        const size_t bytes = static_cast<size_t>(coded_.bins()) * Imitation::fixed * sizeof(Imitation::Word);
        const size_t together = std::max<size_t>(1, most_bytes / bytes);
        for (size_t first = 0; first < chosen.size(); first += together) {
            const std::span<const Chosen> some(&chosen[first], std::min(together, chosen.size() - first));
            for (std::vector<Surrogate>& one : imitations(task, some, pool)) found.push_back(std::move(one));
        }
        return found;
    }

private:
    using Search = PartsSearch<Counter>;
    static constexpr size_t most_bytes = 1 << 26; // of histograms in one answer

    // The values next to a cut, wanted or known.
    struct Edge {
        CutAt cut;
        bool known = false;
        double below = 0, above = 0;
    };

    std::vector<Cells> ask_ranges(std::vector<Range> ranges, std::vector<Imitated> imitations,
                                  std::vector<Edge>* edges = nullptr) const {
        Question question;
        question.ranges = std::move(ranges);
        question.imitations = std::move(imitations);
        if (edges) add_edges(*edges, question);
        Answer answer = ask(question);
        if (edges) hear_edges(*edges, answer);
        return std::move(answer.ranges);
    }
    static void add_edges(const std::vector<Edge>& edges, Question& question) {
        for (const Edge& edge : edges) {
            if (!edge.known) question.cuts.push_back(edge.cut);
        }
    }
    static void hear_edges(std::vector<Edge>& edges, const Answer& answer) {
        size_t next = 0;
        for (Edge& edge : edges) {
            if (edge.known) continue;
            edge.below = answer.cuts[next].below;
            edge.above = answer.cuts[next++].above;
            edge.known = true;
        }
    }

    // The same for the best cut between cells that were told.
    void add_likely_edge(const Search& search, std::vector<Edge>& edges) const {
        if (recipe_.rivals > 0 || tells_all(recipe_)) return;
        const typename Search::Point* best = nullptr;
        size_t column = 0;
        for (size_t which = 0; which < search.points.size(); ++which) {
            for (const typename Search::Point& point : search.points[which]) {
                if (best && !(point.merit > best->merit)) continue;
                best = &point;
                column = which;
            }
        }
        if (!best || best->below < best->above) return;
        edges.push_back({{search.node, look_.column(column).column, true, false, number_of(best->key)}});
    }

    // Cuts between bins that may remain the best: what lies next to them is asked for on the way.
    std::vector<Edge> likely_edges(const Task& task, const std::vector<Search>& searches) const {
        std::vector<Edge> edges;
        if (recipe_.rivals > 0 || tells_all(recipe_)) return edges; // too many that are never told
        for (const Search& search : searches) {
            for (const int which : worth_telling(task, search.yard, search.cuts)) {
                const Cut& cut = search.cuts[static_cast<size_t>(which)];
                if (!cut.found() || cut.low_rows == 0) continue;
                const CodedColumn& column = look_.column(static_cast<size_t>(which));
                const int last = search.coarse[static_cast<size_t>(which)].last;
                edges.push_back({{search.node, column.column, true, false, column.end[static_cast<size_t>(last)]}});
            }
        }
        return edges;
    }

    // The smaller child will have to be counted, if either of them is divided.
    void foresee(const Sending& sending, int64_t levels, Question& question) const override {
        if (levels == 0 || sending.split.children() != 2) return;
        const double share = std::min(sending.split.share[0], sending.split.share[1]);
        const auto larger = static_cast<int64_t>((1 - share) * static_cast<double>(rows_of(sending.node)));
        if (is_apart(larger, levels) || question.histograms.size() >= nodes_together()) return;
        question.histograms.push_back(sending.first +
                                      static_cast<int>(sending.split.share[1] < sending.split.share[0]));
    }
    void hear(const Question& question, Answer& answer) override {
        for (size_t i = 0; i < question.histograms.size(); ++i) {
            const auto& counts = answer.histograms[i].template of<Word>();
            auto& own = histograms_.make(question.histograms[i], counts.size());
            std::copy(counts.begin(), counts.end(), own.begin());
        }
    }
    size_t nodes_together() const {
        const size_t bytes = static_cast<size_t>(coded_.bins() * look_.counter.words()) * sizeof(Word);
        return std::max<size_t>(1, most_bytes / std::max<size_t>(1, bytes));
    }

    void count(const std::vector<int>& nodes, Pool& pool) {
        const std::vector<int> counted = histograms_.to_count(nodes, [&](int node) { return rows_of(node); });
        const size_t together = nodes_together();
        for (size_t first = 0; first < counted.size(); first += together) {
            Question question;
            const size_t last = std::min(counted.size(), first + together);
            question.histograms.assign(counted.begin() + static_cast<std::ptrdiff_t>(first),
                                       counted.begin() + static_cast<std::ptrdiff_t>(last));
            Answer answer = ask(question);
            hear(question, answer);
        }
        histograms_.subtract(pool);
    }

    // Rivals are told exactly, so a column that may be one must also be beaten by its own best cut.
    void set_bars(const Task& task, Search& search) const {
        const double best = bar(task, search.cuts);
        const bool rivals = recipe_.rivals > 0 || tells_all(recipe_);
        for (const Cut& cut : search.cuts) {
            search.to_beat.push_back((rivals ? std::max(best, cut.merit) : best) - search.yard.rounding);
        }
    }

    // What the targets of a node span, from its total.
    Span span_at(int node) const {
        const Measure& measure = ground_.measure;
        if (measure.n_classes > 0) return {};
        const Total total = this->total(node);
        const Bin all = total.all.bin(0);
        const auto scaled = [&](double y) {
            return static_cast<double>(std::llround((y - measure.offset) / measure.target_unit));
        };
        const Sum size = std::max<Sum>(1, measure.even ? static_cast<Sum>(all.rows) : all.stat[0]);
        return {scaled(total.low), scaled(total.high), static_cast<int64_t>(all.stat[1] / size)};
    }

    // Cuts worth it become candidates; what the cut itself does not tell is asked for.
    std::vector<std::vector<Candidate>> tell(const Task& task, const std::vector<Ask>& asks,
                                             std::vector<Search>& searches, const std::vector<Edge>& edges,
                                             std::vector<std::vector<Candidate>> gathered, Pool& pool) {
        std::vector<std::vector<Candidate>> found(searches.size());
        std::vector<std::vector<Telling>> told(searches.size());
        Question question;
        std::vector<std::vector<int64_t>> answer_of(searches.size()); // per telling, -1: not asked
        for (size_t n = 0; n < searches.size(); ++n) {
            Search& search = searches[n];
            told[n] = tellings(look_, worth_telling(task, search.yard, search.cuts));
            for (const Telling& each : told[n]) {
                answer_of[n].push_back(-1);
                if (each.which < 0) continue;
                Cut& cut = search.cuts[static_cast<size_t>(each.which)];
                const bool counted = is_rated(task, look_, cut);
                const double at = search.at[static_cast<size_t>(each.which)];
                const auto known = std::find_if(edges.begin(), edges.end(), [&](const Edge& edge) {
                    return edge.known && edge.cut.node == search.node && edge.cut.column == each.column &&
                           edge.cut.at == at;
                });
                if (!cut.placed() && cut.low_rows > 0 && known != edges.end()) {
                    cut.below = known->below;
                    cut.above = known->above;
                }
                if (!counted && (cut.low_rows == 0 || cut.placed())) continue;
                answer_of[n].back() = static_cast<int64_t>(question.cuts.size());
                question.cuts.push_back({search.node, each.column, cut.low_rows > 0, counted, at});
            }
        }
        const Answer answer = question.cuts.empty() ? Answer{} : ask(question);
        pool.run(static_cast<int64_t>(searches.size()), [&](int64_t n) {
            Search& search = searches[n];
            size_t next_gathered = 0;
            for (size_t i = 0; i < told[n].size(); ++i) {
                const Telling& each = told[n][i];
                if (each.which < 0) {
                    found[n].push_back(std::move(gathered[n][next_gathered++]));
                    continue;
                }
                Cut& cut = search.cuts[static_cast<size_t>(each.which)];
                const int64_t place = answer_of[n][i];
                if (place >= 0) {
                    cut.below = answer.cuts[static_cast<size_t>(place)].below;
                    cut.above = answer.cuts[static_cast<size_t>(place)].above;
                }
                found[n].push_back(is_rated(task, look_, cut)
                                       ? rated_cut(task, source(), asks[n].facts, each.column, cut, answer.cuts[place])
                                       : candidate_of(task, look_.counter, asks[n].facts, each.column, cut,
                                                      search.sweep->total(),
                                                      search.low[static_cast<size_t>(each.which)]));
            }
        });
        return found;
    }

    // The same search as for candidates, with the child of each row as what is looked for.
    std::vector<std::vector<Surrogate>> imitations(const Task& task, std::span<const Chosen> chosen, Pool& pool) const {
        Question question;
        for (const auto& [node, split] : chosen) {
            question.imitations.push_back({node, *split, {}});
            question.imitated.push_back({node, *split, look_.gathered});
        }
        const Answer answer = ask(question);
        const Imitation counter;
        const PartsZoom<Imitation> zoom(counter, coded_.columns(), look_.swept, false);
        std::vector<PartsSearch<Imitation>> searches(chosen.size());
        pool.run(static_cast<int64_t>(chosen.size()), [&](int64_t n) {
            PartsSearch<Imitation>& search = searches[n];
            search.node = chosen[n].node;
            search.asked = static_cast<int>(n);
            search.yard = imitation_yard();
            zoom.cut_between(histogram_of(answer, n), search);
            set_bars(task, *chosen[n].split, search);
        });
        zoom.zoom(
            searches, [&](std::vector<Range> ranges) { return ask_ranges(std::move(ranges), question.imitations); },
            pool);
        place(searches, chosen);
        std::vector<std::vector<Surrogate>> found(chosen.size());
        pool.run(static_cast<int64_t>(chosen.size()), [&](int64_t n) {
            const size_t gathered = look_.gathered.size();
            const std::span<const Buckets> by_level(answer.imitated.data() + static_cast<size_t>(n) * gathered,
                                                    gathered);
            found[n] = surrogates_from(task, *chosen[n].split, searches[n], by_level);
        });
        return found;
    }

    static const Imitation::Word* histogram_of(const Answer& answer, int64_t n) {
        return reinterpret_cast<const Imitation::Word*>(answer.imitations[static_cast<size_t>(n)].wide.data());
    }

    // Only as many as are kept need to be exact, and only those that beat the majority.
    void set_bars(const Task& task, const Split& split, PartsSearch<Imitation>& search) const {
        std::vector<double> reference, reached;
        for (size_t which = 0; which < look_.swept.size(); ++which) {
            reference.push_back(search.sweep->scale(search.yard, which).reference());
            if (look_.column(which).column != split.column) {
                reached.push_back(search.cuts[which].merit + reference[which]);
            }
        }
        const auto& total = search.sweep->total();
        const double majority = static_cast<double>(std::max(total[3], total[4]));
        const double bar = imitation_bar(task, majority, std::move(reached));
        for (size_t which = 0; which < look_.swept.size(); ++which) {
            const bool is_asked = look_.column(which).column == split.column;
            search.to_beat.push_back(is_asked ? std::numeric_limits<double>::infinity()
                                              : std::max(bar - reference[which], search.cuts[which].merit) -
                                                    search.yard.rounding);
        }
    }

    // Asks for the values next to cuts that are not known yet.
    void place(std::vector<PartsSearch<Imitation>>& searches, std::span<const Chosen> chosen) const {
        Question question;
        std::vector<Cut*> placed;
        for (size_t n = 0; n < searches.size(); ++n) {
            for (size_t which = 0; which < look_.swept.size(); ++which) {
                Cut& cut = searches[n].cuts[which];
                const int column = look_.column(which).column;
                if (column == chosen[n].split->column || cut.low_rows == 0 || cut.placed()) continue;
                question.cuts.push_back({searches[n].node, column, true, false, searches[n].at[which]});
                placed.push_back(&cut);
            }
        }
        if (placed.empty()) return;
        const Answer answer = ask(question);
        for (size_t i = 0; i < placed.size(); ++i) {
            placed[i]->below = answer.cuts[i].below;
            placed[i]->above = answer.cuts[i].above;
        }
    }

    std::vector<Surrogate> surrogates_from(const Task& task, const Split& split, const PartsSearch<Imitation>& search,
                                           std::span<const Buckets> by_level) const {
        const auto& total = search.sweep->total();
        const double unit = task.measure.weight_unit;
        const std::vector<double> sent{static_cast<double>(total[3]) * unit, static_cast<double>(total[4]) * unit};
        std::vector<std::optional<Surrogate>> of_column(ground_.facts.size());
        for (size_t which = 0; which < look_.swept.size(); ++which) {
            const int column = look_.column(which).column;
            if (column == split.column || search.cuts[which].low_rows == 0) continue;
            of_column[static_cast<size_t>(column)] = best_surrogate(task, ground_.facts[static_cast<size_t>(column)],
                                                                    two_buckets(search, which), split, sent);
        }
        for (size_t i = 0; i < by_level.size(); ++i) {
            const size_t column = static_cast<size_t>(look_.gathered[i]);
            if (look_.gathered[i] == split.column) continue;
            of_column[column] = best_surrogate(task, ground_.facts[column], by_level[i], split, sent);
        }
        std::vector<Surrogate> found;
        for (std::optional<Surrogate>& one : of_column) {
            if (one) found.push_back(std::move(*one));
        }
        return found;
    }

    // A cut as two buckets, counted by child as gather.hpp does: from the words below it.
    Buckets two_buckets(const PartsSearch<Imitation>& search, size_t which) const {
        const Cut& cut = search.cuts[which];
        const Words<Imitation> low = search.low[which];
        const Words<Imitation>& total = search.sweep->total();
        const CodedColumn& column = look_.column(which);
        Words<Imitation> missing{};
        if (column.gaps) {
            std::copy_n(search.sweep->bins(which) + static_cast<size_t>(column.bins) * Imitation::fixed,
                        Imitation::fixed, missing.begin());
        }
        Buckets buckets;
        buckets.column = column.column;
        buckets.width = 4;
        buckets.at = {cut.below, cut.above};
        for (int side = 0; side < 3; ++side) {
            Sum* sums = buckets.append();
            const auto word = [&](size_t w) {
                return side == 0 ? low[w] : side == 2 ? missing[w] : total[w] - low[w] - missing[w];
            };
            for (size_t child = 0; child < 2; ++child) {
                sums[child] = word(3 + child);
                sums[2 + child] = word(1 + child);
            }
            buckets.rows.back() = word(1) + word(2);
        }
        return buckets;
    }

    CodedTable coded_;
    Ground<Counter> look_;
    Histograms<Word> histograms_;
};

} // namespace tw

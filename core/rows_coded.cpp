#include "rows_coded.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "imitate.hpp"
#include "in_order.hpp"
#include "rows_cpu.hpp"
#include "rows_small.hpp"
#include "send.hpp"

namespace tw {
namespace {

// So few rows are better ordered than counted: more where a histogram is large.
template <class Counter>
int64_t few(const CodedTable& coded, const Counter& counter) {
    return std::clamp<int64_t>(static_cast<int64_t>(coded.bins()) * counter.words() / 64, 512, 32768);
}

std::vector<Ladder> ladders_of(const Table& table, const CodedTable& coded, const Recipe& recipe, Account* account,
                               Pool& pool) {
    if (!looks_in_order(recipe) && !recipe.threshold.observed) return {};
    std::vector<Ladder> ladders(coded.columns().size());
    pool.run(static_cast<int64_t>(ladders.size()), [&](int64_t place) {
        const Stopwatch watch(account, &Account::coding);
        ladders[place] = climb(table, coded, static_cast<size_t>(place));
    });
    return ladders;
}

// The known values of a column, rising.
std::vector<double> values_taken(const std::vector<Ladder>& ladders, const CodedTable& coded, int column,
                                 std::span<const uint32_t> rows) {
    const size_t place = static_cast<size_t>(coded.place_of(column));
    std::vector<double> values;
    for (const uint32_t rung : rungs_taken(ladders[place], coded, place, rows)) {
        values.push_back(ladders[place].value[rung] + 0.0); // -0 and 0 are one value
    }
    return values;
}

} // namespace

template <class Counter>
Estate<Counter>::Estate(const Table& table, const Recipe& recipe, const Measure& measure,
                        std::shared_ptr<const CodedTable> codes, const Counter& counter, Account* account, Pool& pool)
    : coded(std::move(codes)),
      field(field_of<typename Counter::Item>(
          taking_part(table, recipe, measure), [&](uint32_t row) { return counter.item(row); }, pool)),
      ladders(ladders_of(table, *coded, recipe, account, pool)),
      source(learn_source(table, recipe, measure, field->row, pool,
                          [this](int column) { return values_taken(ladders, *coded, column, field->row); })),
      ground{source,  *coded, recipe, counter, {}, {}, few(*coded, counter), Inverses(few(*coded, counter)),
             ladders, account} {
    set_swept(ground);
}

// The work on one node's candidates.
template <class Counter>
struct RowsCoded<Counter>::Search {
    const Ask* ask = nullptr;
    std::optional<Sweep<Counter>> sweep;
    Yardstick yard;
    std::vector<BinCut> coarse;
    std::vector<Cut> cuts;
    std::vector<Words<Counter>> low; // what lies below each cut
    std::vector<int> order;          // columns, the most promising first
    std::atomic<double> best{nothing};
    std::vector<Telling> told;
    std::vector<Entry> entries; // if anything is told that needs rows
};

template <class Counter>
RowsCoded<Counter>::RowsCoded(std::shared_ptr<Estate<Counter>> estate, Holding<Item> all, int64_t apart)
    : estate_(std::move(estate)), ground_(estate_->ground), apart_(apart), held_{std::move(all)} {
    histograms_.reserve(1);
}

template <class Counter>
void RowsCoded<Counter>::reserve(int nodes) {
    held_.resize(std::max<size_t>(held_.size(), nodes));
    histograms_.reserve(held_.size());
}

template <class Counter>
std::unique_ptr<Rows> RowsCoded<Counter>::detach(int node) {
    if (static_cast<int64_t>(size(node)) > ground_.small_rows) {
        return std::make_unique<RowsCoded>(estate_, held_[node], ground_.small_rows);
    }
    return std::make_unique<RowsSmall<Counter>>(ground_, rows(node), items(node));
}

// --- counting ---

// Histograms of these nodes, row by row.
template <class Counter>
void RowsCoded<Counter>::count(const std::vector<int>& nodes, Pool& pool) {
    using Narrow = typename Counter::Narrow;
    struct Part {
        int node;
        size_t begin, end;
    };
    const Counter& counter = ground_.counter;
    const size_t words = static_cast<size_t>(counter.words()), narrow = static_cast<size_t>(counter.narrow_words());
    const size_t bins = static_cast<size_t>(ground_.coded.bins());
    std::vector<Part> parts;
    for (const int node : nodes) {
        histograms_.make(node, bins * words);
        for (size_t at = 0; at < size(node); at += narrow_rows) {
            parts.push_back({node, at, std::min<size_t>(size(node), at + narrow_rows)});
        }
    }
    std::mutex adding;
    pool.run(static_cast<int64_t>(parts.size()), [&](int64_t p) {
        const Stopwatch watch(ground_.account, &Account::counting);
        const auto& [node, begin, end] = parts[p];
        std::vector<Narrow> own(bins * narrow, Narrow{0});
        count_rows(counter, ground_.coded, rows(node).subspan(begin, end - begin),
                   items(node).subspan(begin, end - begin), narrow, own.data());
        const std::lock_guard<std::mutex> lock(adding);
        Word* sum = histograms_.of(node).data();
        for (size_t bin = 0; bin < bins; ++bin) counter.widen(sum + bin * words, &own[bin * narrow]);
    });
}

// --- choosing ---

template <class Counter>
std::vector<std::vector<Candidate>> RowsCoded<Counter>::candidates(const Task& task, const std::vector<Ask>& asks,
                                                                   Pool& pool) {
    std::vector<std::vector<Candidate>> found(asks.size());
    // Where leaves are limited, nodes come one by one, small ones too.
    std::vector<size_t> large;
    std::vector<int> nodes;
    for (size_t i = 0; i < asks.size(); ++i) {
        if (static_cast<int64_t>(size(asks[i].node)) <= ground_.small_rows) {
            found[i] = detach(asks[i].node)->candidates(task, {{0, asks[i].facts}}, pool)[0];
        } else {
            large.push_back(i);
            nodes.push_back(asks[i].node);
        }
    }
    count(histograms_.to_count(nodes, [&](int node) { return size(node); }), pool);
    {
        const Stopwatch watch(ground_.account, &Account::counting);
        histograms_.subtract(pool);
    }
    const size_t columns = ground_.swept.size();
    std::vector<Search> searches(large.size());
    pool.run(static_cast<int64_t>(large.size()), [&](int64_t n) {
        Search& search = searches[n];
        search.ask = &asks[large[n]];
        const int node = search.ask->node;
        search.sweep.emplace(ground_.counter, source().table, ground_.coded, ground_.swept, rows(node), items(node),
                             histograms_.of(node).data(), scores_missing(ground_.recipe.missing), ground_.account);
        if (ground_.account) ground_.account->counted_rows += static_cast<int64_t>(rows(node).size() * columns);
        search.yard = yardstick(task, ground_.counter, search.ask->facts, span_of<Item>(items(node)));
        search.coarse.resize(columns);
        search.cuts.resize(columns);
        search.low.resize(columns);
    });
    if (looks_in_order(ground_.recipe)) {
        find_in_order(searches, pool);
    } else {
        find_cuts(task, searches, pool);
    }
    // What is told of one node is many tasks: near the root there is one node, and many threads wait.
    std::vector<std::pair<size_t, size_t>> tasks; // search, telling
    for (size_t n = 0; n < searches.size(); ++n) {
        Search& search = searches[n];
        search.told = tellings(ground_, worth_telling(task, search.yard, search.cuts));
        for (size_t i = 0; i < search.told.size(); ++i) tasks.emplace_back(n, i);
        found[large[n]].resize(search.told.size());
    }
    pool.run(static_cast<int64_t>(searches.size()), [&](int64_t n) {
        Search& search = searches[n];
        const auto needs_rows = [&](const Telling& each) { return each.which < 0 || needs_squares(task); };
        if (!std::any_of(search.told.begin(), search.told.end(), needs_rows)) return;
        search.entries = entries_of(rows(search.ask->node), items(search.ask->node));
    });
    pool.run(static_cast<int64_t>(tasks.size()), [&](int64_t t) {
        const auto [n, i] = tasks[t];
        found[large[n]][i] = tell(task, searches[n], searches[n].told[i]);
    });
    histograms_.keep_only(nodes);
    return found;
}

// Between bins first; then inside the bins where a better cut could hide.
template <class Counter>
void RowsCoded<Counter>::find_cuts(const Task& task, std::vector<Search>& searches, Pool& pool) {
    const size_t columns = ground_.swept.size();
    const int64_t all = static_cast<int64_t>(searches.size() * columns);
    pool.run(all, [&](int64_t i) {
        Search& search = searches[i / columns];
        const size_t which = static_cast<size_t>(i) % columns;
        const Stopwatch watch(ground_.account, &Account::choosing);
        search.cuts[which] = search.sweep->cut_between(search.yard, which, search.coarse[which]);
    });
    for (Search& search : searches) {
        for (size_t which = 0; which < columns; ++which) search.order.push_back(static_cast<int>(which));
        std::stable_sort(search.order.begin(), search.order.end(),
                         [&](int a, int b) { return search.cuts[a].merit > search.cuts[b].merit; });
        search.best = bar(task, search.cuts);
    }
    const bool rivals = ground_.recipe.rivals > 0 || tells_all(ground_.recipe);
    pool.run(all, [&](int64_t i) {
        Search& search = searches[i / columns];
        const size_t which = static_cast<size_t>(search.order[static_cast<size_t>(i) % columns]);
        const Stopwatch watch(ground_.account, &Account::zooming);
        const Cut coarse = search.cuts[which];
        // Rivals are told exactly, so a column that may be one must also be beaten by its own best cut. Without rivals
        // the best found so far will do: who finds it, and when, changes the work and not the winner.
        const auto to_beat = [&] {
            const double best = search.best.load(std::memory_order_relaxed);
            return rivals ? std::max(best, coarse.merit) : best;
        };
        PlacedCut<Counter> found = search.sweep->zoom(search.yard, which, coarse, search.coarse[which], to_beat);
        const double merit = found.cut.merit;
        search.cuts[which] = found.cut;
        search.low[which] = std::move(found.low);
        double known = search.best.load(std::memory_order_relaxed);
        while (!rivals && known < merit && !search.best.compare_exchange_weak(known, merit)) {
        }
    });
}

template <class Counter>
void RowsCoded<Counter>::find_in_order(std::vector<Search>& searches, Pool& pool) {
    const size_t columns = ground_.swept.size();
    pool.run(static_cast<int64_t>(searches.size() * columns), [&](int64_t i) {
        Search& search = searches[i / columns];
        const size_t which = static_cast<size_t>(i) % columns;
        const Stopwatch watch(ground_.account, &Account::zooming);
        const Ladder& ladder = ground_.ladders[static_cast<size_t>(ground_.swept[which])];
        PlacedCut<Counter> found = InOrder(*search.sweep, ground_.counter, search.yard, which, ladder).find();
        search.cuts[which] = found.cut;
        search.low[which] = std::move(found.low);
    });
}

template <class Counter>
Candidate RowsCoded<Counter>::tell(const Task& task, Search& search, const Telling& telling) const {
    const NodeFacts& facts = search.ask->facts;
    const auto [number, column] = telling;
    if (number < 0) return tell_gathered(task, source(), facts, column, search.entries);
    const size_t which = static_cast<size_t>(number);
    Cut& cut = search.cuts[which];
    if (cut.low_rows > 0 && !cut.placed()) {
        search.sweep->place(which, search.coarse[which], cut);
        search.low[which] = search.sweep->up_to(which, search.coarse[which].last);
    }
    const Scale<Counter> scale = search.sweep->scale(search.yard, which);
    const Words<Counter>&known = scale.known(), &low = search.low[which];
    if (!is_rated(task, ground_, cut)) return candidate_of(task, ground_.counter, facts, column, cut, known, low);
    const Sides sides = needs_squares(task)
                            ? count_sides(source(), search.entries, column, cut.low_rows > 0, cut.below)
                            : sides_of(ground_.counter, source().measure, known, scale.missing(), cut, low);
    return rated_cut(task, source(), facts, column, cut, sides);
}

// The same search, with the child of each row as what is looked for.
template <class Counter>
std::vector<Surrogate> RowsCoded<Counter>::surrogates(const Task& task, int node, const Split& split, Pool& pool) {
    if (static_cast<int64_t>(size(node)) <= ground_.small_rows) {
        return detach(node)->surrogates(task, 0, split, pool);
    }
    const ImitationTask imitated(source(), split, rows(node), ground_.swept);
    if (!imitated.possible) return gather_surrogates(task, source(), imitated.entries, split, pool);
    const Imitation counter;
    std::vector<int64_t> histogram(static_cast<size_t>(ground_.coded.bins()) * counter.words(), 0);
    count_rows(counter, ground_.coded, rows(node), std::span<const Imitation::Item>(imitated.items),
               static_cast<size_t>(counter.words()), histogram.data());
    const Sweep<Imitation> sweep(counter, source().table, ground_.coded, ground_.swept, rows(node), imitated.items,
                                 histogram.data(), false);
    const size_t columns = ground_.swept.size();
    std::vector<BinCut> coarse(columns);
    std::vector<Cut> cuts(columns);
    std::vector<double> reference(columns), reached;
    pool.run(static_cast<int64_t>(columns), [&](int64_t i) {
        const size_t which = static_cast<size_t>(i);
        reference[which] = sweep.scale(imitated.yard, which).reference();
        cuts[which] = sweep.cut_between(imitated.yard, which, coarse[which]);
    });
    for (size_t which = 0; which < columns; ++which) {
        if (ground_.column(which).column != split.column) reached.push_back(cuts[which].merit + reference[which]);
    }
    const double bar = imitation_bar(task, imitated.majority, std::move(reached));
    pool.run(static_cast<int64_t>(columns), [&](int64_t i) {
        const size_t which = static_cast<size_t>(i);
        if (ground_.column(which).column == split.column) return;
        const double to_beat = std::max(bar - reference[which], cuts[which].merit);
        cuts[which] = sweep.zoom(imitated.yard, which, cuts[which], coarse[which], [to_beat] { return to_beat; }).cut;
        if (cuts[which].low_rows > 0 && !cuts[which].placed()) sweep.place(which, coarse[which], cuts[which]);
    });
    return imitated.tell(task, source(), ground_.swept, ground_.coded, cuts, pool);
}

// --- dividing ---

template <class Counter>
void RowsCoded<Counter>::divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates,
                                int first, Pool& pool) {
    const Stopwatch watch(ground_.account, &Account::dividing);
    const Sender sender(ground_.coded, source().table.columns, split, surrogates, node_key);
    const size_t rows = size(node);
    Divided<Item> divided = divide_field(held_[node], sender, split, pool);
    held_[node].field.reset();
    std::move(divided.children.begin(), divided.children.end(), held_.begin() + first);
    if (split.children() == 2 && !divided.spread) histograms_.divided(node, first, rows);
}

// --- who is served ---

namespace {

// Whether a recipe can look for the cuts of a table's numbers by their codes.
bool suits_codes(const Table& table, const Recipe& recipe) {
    if (recipe.numeric != Numeric::threshold || recipe.branching == Branching::merge) return false;
    if (recipe.stopping.max_features < static_cast<int>(table.columns.size())) return false;
    // Where missing values are tried on both sides, cuts are not counted one by one.
    if (scores_missing(recipe.missing) && (recipe.threshold.penalised || recipe.slack > 0)) return false;
    return std::any_of(table.columns.begin(), table.columns.end(),
                       [](const Column& column) { return column.kind == Kind::number; });
}

} // namespace

std::unique_ptr<Rows> coded_rows(const Table& table, const Recipe& recipe, const Measure& measure,
                                 std::shared_ptr<const CodedTable> coded, Account* account, Pool& pool) {
    std::unique_ptr<Rows> rows;
    if (!suits_codes(table, recipe)) return rows;
    with_counter(counted_rule(recipe.rule), measure, [&](const auto& counter) {
        using Counter = std::decay_t<decltype(counter)>;
        if (!coded) {
            const Stopwatch watch(account, &Account::coding);
            coded = std::make_shared<const CodedTable>(table, pool);
        }
        auto estate = std::make_shared<Estate<Counter>>(table, recipe, measure, coded, counter, account, pool);
        const Holding<typename Counter::Item> all{estate->field, {0, estate->field->row.size()}};
        const int64_t apart = static_cast<int64_t>(all.stretch.size()) / (8 * pool.threads());
        rows = std::make_unique<RowsCoded<Counter>>(estate, all, std::max(estate->ground.small_rows, apart));
    });
    return rows;
}

} // namespace tw

#include "rows_coded.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

#include "imitate.hpp"
#include "rows_cpu.hpp"
#include "rows_small.hpp"
#include "send.hpp"

namespace tw {
namespace {

constexpr size_t divide_block = 1 << 16;
// So few rows are better ordered than counted: more where a histogram is large.
template <class Counter>
int64_t few(const CodedTable& coded, const Counter& counter) {
    return std::clamp<int64_t>(static_cast<int64_t>(coded.bins()) * counter.words() / 64, 512, 32768);
}

// Sends each value of the block to the next place of its child; children below 0 are none.
template <class Value>
void scatter(std::span<const size_t> first, const int32_t* child, const Value* from, Value* to, Stretch block) {
    if (first.size() == 2) {
        size_t next[2] = {first[0], first[1]};
        for (size_t at = block.begin; at < block.end; ++at) {
            const int32_t c = child[at];
            const Value value = from[at];
            if (c < 0) continue;
            const size_t place = c ? next[1] : next[0];
            to[place] = value;
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

} // namespace

template <class Counter>
Field<Counter>::Field(LargeVector<uint32_t> rows, const Counter& counter, Pool& pool)
    : row(std::move(rows)), spare_row(row.size()), item(row.size()), spare_item(row.size()), child(row.size()) {
    pool.run(static_cast<int64_t>((row.size() + divide_block - 1) / divide_block), [&](int64_t b) {
        const size_t begin = static_cast<size_t>(b) * divide_block, end = std::min(row.size(), begin + divide_block);
        for (size_t at = begin; at < end; ++at) item[at] = counter.item(row[at]);
    });
}

template <class Counter>
Estate<Counter>::Estate(const Table& table, const Recipe& recipe, const Measure& measure,
                        std::shared_ptr<const CodedTable> codes, const Counter& counter, Account* account, Pool& pool)
    : coded(std::move(codes)),
      field(taking_part(table, recipe, measure), counter, pool),
      source(learn_source(table, recipe, measure, field.row, pool)),
      ground{source, *coded, recipe, counter, {}, {}, few(*coded, counter), Inverses(few(*coded, counter)), account} {
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
    std::vector<int> order; // columns, the most promising first
    std::atomic<double> best{nothing};
    std::vector<Telling> told;
    std::vector<Entry> entries; // if anything is told that needs rows
};

template <class Counter>
RowsCoded<Counter>::RowsCoded(std::shared_ptr<Estate<Counter>> estate, Stretch stretch, int64_t apart)
    : estate_(std::move(estate)), ground_(estate_->ground), field_(estate_->field), apart_(apart), stretch_{stretch} {
    histograms_.reserve(1);
}

template <class Counter>
void RowsCoded<Counter>::reserve(int nodes) {
    stretch_.resize(std::max<size_t>(stretch_.size(), nodes));
    histograms_.reserve(stretch_.size());
}

template <class Counter>
std::unique_ptr<Rows> RowsCoded<Counter>::detach(int node) {
    const Stretch stretch = stretch_[node];
    if (static_cast<int64_t>(stretch.size()) > ground_.small_rows) {
        return std::make_unique<RowsCoded>(estate_, stretch, ground_.small_rows);
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
        Stretch stretch;
    };
    const Counter& counter = ground_.counter;
    const size_t words = static_cast<size_t>(counter.words()), narrow = static_cast<size_t>(counter.narrow_words());
    const size_t bins = static_cast<size_t>(ground_.coded.bins());
    std::vector<Part> parts;
    for (const int node : nodes) {
        histograms_.make(node, bins * words);
        const Stretch whole = stretch_[node];
        for (size_t at = whole.begin; at < whole.end; at += narrow_rows) {
            parts.push_back({node, {at, std::min<size_t>(whole.end, at + narrow_rows)}});
        }
    }
    std::mutex adding;
    pool.run(static_cast<int64_t>(parts.size()), [&](int64_t p) {
        const Stopwatch watch(ground_.account, &Account::counting);
        const Stretch part = parts[p].stretch;
        std::vector<Narrow> own(bins * narrow, Narrow{0});
        count_rows(counter, ground_.coded, std::span<const uint32_t>(&field_.row[part.begin], part.size()),
                   std::span<const Item>(&field_.item[part.begin], part.size()), narrow, own.data());
        const std::lock_guard<std::mutex> lock(adding);
        Word* sum = histograms_.of(parts[p].node).data();
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
        if (static_cast<int64_t>(stretch_[asks[i].node].size()) <= ground_.small_rows) {
            found[i] = detach(asks[i].node)->candidates(task, {{0, asks[i].facts}}, pool)[0];
        } else {
            large.push_back(i);
            nodes.push_back(asks[i].node);
        }
    }
    count(histograms_.to_count(nodes, [&](int node) { return stretch_[node].size(); }), pool);
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
    });
    pool.run(static_cast<int64_t>(large.size() * columns), [&](int64_t i) {
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
    pool.run(static_cast<int64_t>(large.size() * columns), [&](int64_t i) {
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
        const Cut cut = search.sweep->zoom(search.yard, which, coarse, search.coarse[which], to_beat);
        search.cuts[which] = cut;
        double known = search.best.load(std::memory_order_relaxed);
        while (!rivals && known < cut.merit && !search.best.compare_exchange_weak(known, cut.merit)) {
        }
    });
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
        const auto of_rows = [&](const Telling& each) { return needs_rows(task, ground_, each, search.cuts); };
        if (!std::any_of(search.told.begin(), search.told.end(), of_rows)) return;
        search.entries = entries_of(source(), rows(search.ask->node));
    });
    pool.run(static_cast<int64_t>(tasks.size()), [&](int64_t t) {
        Search& search = searches[tasks[t].first];
        const Telling& each = search.told[tasks[t].second];
        if (each.which >= 0) {
            Cut& cut = search.cuts[each.which];
            if (cut.low_rows > 0 && !cut.placed()) search.sweep->place(each.which, search.coarse[each.which], cut);
        }
        found[large[tasks[t].first]][tasks[t].second] =
            tell(task, ground_, search.ask->facts, each, search.cuts, search.entries);
    });
    histograms_.keep_only(nodes);
    return found;
}

// The same search, with the child of each row as what is looked for.
template <class Counter>
std::vector<Surrogate> RowsCoded<Counter>::surrogates(const Task& task, int node, const Split& split, Pool& pool) {
    if (static_cast<int64_t>(stretch_[node].size()) <= ground_.small_rows) {
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
        cuts[which] = sweep.zoom(imitated.yard, which, cuts[which], coarse[which], [to_beat] { return to_beat; });
        if (cuts[which].low_rows > 0 && !cuts[which].placed()) sweep.place(which, coarse[which], cuts[which]);
    });
    return imitated.tell(task, source(), ground_.swept, ground_.coded, cuts, pool);
}

// --- dividing ---

template <class Counter>
void RowsCoded<Counter>::divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates,
                                int first, Pool& pool) {
    const Stopwatch watch(ground_.account, &Account::dividing);
    const Stretch whole = stretch_[node];
    const std::vector<Column>& columns = source().table.columns;
    const size_t children = static_cast<size_t>(split.children());
    const size_t blocks = (whole.size() + divide_block - 1) / divide_block;
    const auto block_of = [&](int64_t b) {
        const size_t begin = whole.begin + static_cast<size_t>(b) * divide_block;
        return Stretch{begin, std::min(whole.end, begin + divide_block)};
    };
    // Where each row goes, and how many of each block go to each child.
    std::vector<size_t> next(blocks * children, 0);
    const Sender sender(ground_.coded, columns, split, surrogates, node_key);
    pool.run(static_cast<int64_t>(blocks), [&](int64_t b) {
        const Stretch block = block_of(b);
        sender.send(std::span<const uint32_t>(&field_.row[block.begin], block.size()), &field_.child[block.begin],
                    std::span(&next[static_cast<size_t>(b) * children], children));
    });
    size_t at = whole.begin;
    for (size_t c = 0; c < children; ++c) {
        stretch_[first + c].begin = at;
        for (size_t b = 0; b < blocks; ++b) {
            const size_t count = next[b * children + c];
            next[b * children + c] = at;
            at += count;
        }
        stretch_[first + c].end = at;
    }
    pool.run(static_cast<int64_t>(blocks), [&](int64_t b) {
        const Stretch block = block_of(b);
        scatter(std::span(&next[static_cast<size_t>(b) * children], children), field_.child.data(), field_.row.data(),
                field_.spare_row.data(), block);
        scatter(std::span(&next[static_cast<size_t>(b) * children], children), field_.child.data(), field_.item.data(),
                field_.spare_item.data(), block);
    });
    pool.run(static_cast<int64_t>(blocks), [&](int64_t b) {
        const Stretch block = block_of(b);
        const auto copy = [&](auto& from, auto& to) {
            std::copy(from.begin() + block.begin, from.begin() + block.end, to.begin() + block.begin);
        };
        copy(field_.spare_row, field_.row);
        copy(field_.spare_item, field_.item);
    });
    if (children == 2) histograms_.divided(node, first, whole.size());
}

// --- who is served ---

const char* needs_all_values(const Recipe& recipe, size_t columns) {
    const ThresholdChoice& threshold = recipe.threshold;
    switch (recipe.rule) {
        case Rule::gini:
        case Rule::information_gain:
        case Rule::gain_ratio:
        case Rule::misclassification:
        case Rule::variance:
            break;
        default:
            return "criterion";
    }
    if (recipe.numeric != Numeric::threshold) return "numeric";
    if (threshold.observed || threshold.tenth || threshold.penalised || threshold.gap > 0) return "numeric";
    if (recipe.missing == Missing::spread) return "missing";
    if (recipe.branching == Branching::merge) return "branching";
    if (recipe.stopping.significance) return "stopping.significance";
    if (recipe.stopping.max_features < static_cast<int>(columns)) return "stopping.max_features";
    return recipe.slack > 0 ? "slack" : nullptr;
}

bool suits_codes(const Table& table, const Recipe& recipe) {
    if (needs_all_values(recipe, table.columns.size())) return false;
    return std::any_of(table.columns.begin(), table.columns.end(),
                       [](const Column& column) { return column.kind == Kind::number; });
}

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
        const Stretch all{0, estate->field.row.size()};
        const int64_t apart = static_cast<int64_t>(all.size()) / (8 * pool.threads());
        rows = std::make_unique<RowsCoded<Counter>>(estate, all, std::max(estate->ground.small_rows, apart));
    });
    return rows;
}

} // namespace tw

#include "rows_coded.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "draw.hpp"
#include "rows_cpu.hpp"
#include "rows_small.hpp"

namespace tw {
namespace {

constexpr size_t divide_block = 1 << 16;
constexpr size_t look_ahead = 16; // rows whose codes are called into cache early

inline void call_early([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#endif
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

// The work on one node's candidates.
template <class Counter>
struct RowsCoded<Counter>::Search {
    const Ask* ask = nullptr;
    Yardstick yard;
    Words<Counter> total;
    std::vector<BinCut> coarse;
    std::vector<Cut> cuts;
    std::vector<int> order; // columns, the most promising first
    std::atomic<double> best{nothing};
};

template <class Counter>
RowsCoded<Counter>::RowsCoded(const Ground<Counter>& ground, Field<Counter>& field, Stretch stretch, int64_t apart)
    : ground_(ground), field_(field), apart_(apart), stretch_{stretch}, family_(1), histogram_(1) {}

template <class Counter>
void RowsCoded<Counter>::reserve(int nodes) {
    const size_t size = std::max<size_t>(stretch_.size(), nodes);
    stretch_.resize(size);
    family_.resize(size);
    histogram_.resize(size);
}

template <class Counter>
std::unique_ptr<Rows> RowsCoded<Counter>::detach(int node) {
    const Stretch stretch = stretch_[node];
    if (static_cast<int64_t>(stretch.size()) > ground_.small_rows) {
        return std::make_unique<RowsCoded>(ground_, field_, stretch, ground_.small_rows);
    }
    return std::make_unique<RowsSmall<Counter>>(ground_, rows(node), items(node));
}

// --- counting ---

// Whether the node is its parent less its smaller sibling, and both are still there to tell.
template <class Counter>
bool RowsCoded<Counter>::is_remainder(int node) const {
    const Family& family = family_[node];
    if (family.parent < 0 || histogram_[family.parent].empty()) return false;
    const size_t own = stretch_[node].size(), other = stretch_[family.sibling].size();
    return own + other == family.rows && (own > other || (own == other && node > family.sibling));
}

// Histograms of these nodes, row by row.
template <class Counter>
void RowsCoded<Counter>::count(const std::vector<int>& nodes, Pool& pool) {
    using Narrow = typename Counter::Narrow;
    struct Part {
        int node;
        Stretch stretch;
    };
    const Counter& counter = ground_.counter;
    const size_t words = static_cast<size_t>(counter.words());
    const size_t cells = static_cast<size_t>(ground_.coded.bins()) * words;
    std::vector<Part> parts;
    for (const int node : nodes) {
        if (unused_.empty()) {
            histogram_[node].resize(cells);
        } else {
            histogram_[node] = std::move(unused_.back());
            unused_.pop_back();
        }
        std::fill(histogram_[node].begin(), histogram_[node].end(), Word{0});
        const Stretch whole = stretch_[node];
        for (size_t at = whole.begin; at < whole.end; at += narrow_rows) {
            parts.push_back({node, {at, std::min<size_t>(whole.end, at + narrow_rows)}});
        }
    }
    std::vector<size_t> start;
    for (const CodedColumn& column : ground_.coded.columns())
        start.push_back(static_cast<size_t>(column.start) * words);
    std::mutex adding;
    pool.run(static_cast<int64_t>(parts.size()), [&](int64_t p) {
        const Stretch part = parts[p].stretch;
        std::vector<Narrow> own(cells, Narrow{0});
        const uint32_t* row = field_.row.data();
        for (size_t at = part.begin; at < part.end; ++at) {
            call_early(ground_.coded.row(row[std::min(at + look_ahead, part.end - 1)]));
            const uint8_t* code = ground_.coded.row(row[at]);
            const Item item = field_.item[at];
            for (size_t c = 0; c < start.size(); ++c) counter.add(&own[start[c] + code[c] * words], item);
        }
        const std::lock_guard<std::mutex> lock(adding);
        Word* sum = histogram_[parts[p].node].data();
        for (size_t cell = 0; cell < cells; cell += words) counter.widen(sum + cell, &own[cell]);
    });
}

// Counts the asked nodes; of two siblings only the smaller, the other is what remains of their parent.
template <class Counter>
void RowsCoded<Counter>::count_histograms(const std::vector<int>& nodes, Pool& pool) {
    std::vector<int> counted, remaining;
    for (const int node : nodes) {
        if (!is_remainder(node)) {
            counted.push_back(node);
            continue;
        }
        remaining.push_back(node);
        if (histogram_[family_[node].sibling].empty()) counted.push_back(family_[node].sibling);
    }
    std::sort(counted.begin(), counted.end());
    counted.erase(std::unique(counted.begin(), counted.end()), counted.end());
    count(counted, pool);
    for (const int node : remaining) histogram_[node] = std::move(histogram_[family_[node].parent]);
    pool.run(static_cast<int64_t>(remaining.size()), [&](int64_t i) {
        Histogram& rest = histogram_[remaining[i]];
        const Histogram& part = histogram_[family_[remaining[i]].sibling];
        for (size_t cell = 0; cell < rest.size(); ++cell) rest[cell] -= part[cell];
    });
}

// Only these nodes can still be parents.
template <class Counter>
void RowsCoded<Counter>::keep_only(const std::vector<int>& nodes) {
    std::vector<bool> kept(histogram_.size(), false);
    for (const int node : nodes) kept[node] = true;
    for (size_t node = 0; node < histogram_.size(); ++node) {
        if (kept[node] || histogram_[node].empty()) continue;
        unused_.push_back(std::move(histogram_[node]));
        histogram_[node].clear();
    }
}

// --- choosing ---

// The best cut between bins.
template <class Counter>
Cut RowsCoded<Counter>::cut_between(Search& search, size_t which, BinCut& coarse) const {
    const Counter& counter = ground_.counter;
    const CodedColumn& column = ground_.column(which);
    const size_t words = static_cast<size_t>(counter.words());
    const Word* bin = &histogram_[search.ask->node][static_cast<size_t>(column.start) * words];
    const Word* missing = column.gaps ? bin + static_cast<size_t>(column.bins) * words : nullptr;
    Scale<Counter> scale(counter, search.yard, search.total.data(), missing, scores_missing(ground_.recipe.missing));
    Words<Counter> low = no_words(counter);
    int64_t low_rows = 0;
    bool several = false;
    for (int b = 0; b < column.bins; ++b, bin += words) {
        const int64_t rows = counter.rows(bin);
        if (rows == 0) continue;
        for (size_t w = 0; w < words; ++w) low[w] += bin[w];
        low_rows += rows;
        if (low_rows == scale.known_rows()) break;
        several = true;
        const double merit = scale.of(low.data(), low_rows, Divide{});
        if (search.yard.beats(merit, coarse.merit)) coarse = {merit, b, low_rows};
    }
    Cut cut;
    cut.merit = coarse.merit;
    cut.low_rows = coarse.low_rows;
    cut.gaps = scale.gaps();
    cut.constant = !several && column.exact && !(scale.gaps() && scores_missing(ground_.recipe.missing));
    if (const double apart = scale.of_missing(); search.yard.beats(apart, cut.merit)) {
        cut.merit = apart;
        cut.low_rows = 0;
    }
    return cut;
}

// Looks inside the bins where a cut as good as `to_beat` could hide, and gives the better of that and the coarse cut.
template <class Counter>
Cut RowsCoded<Counter>::zoom(Search& search, size_t which, const Cut& coarse_cut, const BinCut& coarse,
                             double to_beat) const {
    const CodedColumn& column = ground_.column(which);
    if (column.exact) return coarse_cut;
    const Counter& counter = ground_.counter;
    const Yardstick& node = search.yard;
    const size_t words = static_cast<size_t>(counter.words());
    const Word* bins = &histogram_[search.ask->node][static_cast<size_t>(column.start) * words];
    const Word* missing = column.gaps ? bins + static_cast<size_t>(column.bins) * words : nullptr;
    Scale<Counter> scale(counter, node, search.total.data(), missing, scores_missing(ground_.recipe.missing));

    struct Before {
        Words<Counter> low;
        int64_t rows;
    };
    std::array<int16_t, 256> open;
    open.fill(-1);
    std::vector<Before> before;
    Words<Counter> low = no_words(counter);
    int64_t low_rows = 0, inside_rows = 0;
    for (int b = 0; b < column.bins; ++b) {
        const Word* bin = bins + static_cast<size_t>(b) * words;
        const int64_t rows = counter.rows(bin);
        if (rows == 0) continue;
        if (rows >= 2 && scale.bound(low.data(), bin, to_beat - node.rounding) >= to_beat - node.rounding) {
            open[b] = static_cast<int16_t>(before.size());
            before.push_back({low, low_rows});
            inside_rows += rows;
        }
        for (size_t w = 0; w < words; ++w) low[w] += bin[w];
        low_rows += rows;
        if (low_rows == scale.known_rows()) break;
    }
    if (before.empty()) return coarse_cut;

    struct Inside {
        double value;
        int32_t bin;
        uint32_t at;
    };
    const std::span<const uint32_t> rows = this->rows(search.ask->node);
    const std::span<const Item> items = this->items(search.ask->node);
    const Numbers& numbers = ground_.numbers(which);
    const size_t place = static_cast<size_t>(ground_.swept[which]);
    std::vector<Inside> inside;
    inside.reserve(static_cast<size_t>(inside_rows));
    for (size_t i = 0; i < rows.size(); ++i) {
        call_early(ground_.coded.row(rows[std::min(i + look_ahead, rows.size() - 1)]) + place);
        const int bin = ground_.coded.row(rows[i])[place];
        if (open[bin] >= 0) inside.push_back({0, bin, static_cast<uint32_t>(i)});
    }
    for (size_t i = 0; i < inside.size(); ++i) {
        call_early(numbers.address(rows[inside[std::min(i + look_ahead, inside.size() - 1)].at]));
        inside[i].value = numbers[rows[inside[i].at]];
    }
    std::sort(inside.begin(), inside.end(), [](const Inside& a, const Inside& b) { return a.value < b.value; });
    Cut finer;
    int finer_bin = 256;
    for (size_t i = 0; i + 1 < inside.size(); ++i) {
        const Inside &here = inside[i], &next = inside[i + 1];
        if (i == 0 || inside[i - 1].bin != here.bin) {
            low = before[open[here.bin]].low;
            low_rows = before[open[here.bin]].rows;
        }
        counter.add(low.data(), items[here.at]);
        ++low_rows;
        if (next.bin != here.bin || next.value == here.value) continue;
        const double merit = scale.of(low.data(), low_rows, Divide{});
        if (!node.beats(merit, finer.merit)) continue;
        finer.merit = merit;
        finer.low_rows = low_rows;
        finer.below = here.value;
        finer.above = next.value;
        finer_bin = here.bin;
    }
    finer.gaps = scale.gaps();
    // Of two equal cuts the lower; a cut inside a bin is lower than the cut at the bin's end.
    const bool finer_is_lower = coarse_cut.low_rows == 0 || finer_bin <= coarse.last;
    const bool take =
        finer_is_lower ? !node.beats(coarse_cut.merit, finer.merit) : node.beats(finer.merit, coarse_cut.merit);
    return finer.found() && take ? finer : coarse_cut;
}

// The values on both sides of a cut between bins.
template <class Counter>
void RowsCoded<Counter>::place(int node, size_t which, const BinCut& coarse, Cut& cut) const {
    const Numbers& numbers = ground_.numbers(which);
    const size_t at = static_cast<size_t>(ground_.swept[which]);
    const size_t words = static_cast<size_t>(ground_.counter.words());
    const Word* bins = &histogram_[node][static_cast<size_t>(ground_.column(which).start) * words];
    int next = coarse.last + 1;
    while (ground_.counter.rows(bins + static_cast<size_t>(next) * words) == 0) ++next;
    cut.below = -std::numeric_limits<double>::infinity();
    cut.above = std::numeric_limits<double>::infinity();
    for (const uint32_t row : rows(node)) {
        const int code = ground_.coded.row(row)[at];
        if (code == coarse.last) cut.below = std::max(cut.below, numbers[row]);
        if (code == next) cut.above = std::min(cut.above, numbers[row]);
    }
}

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
    count_histograms(nodes, pool);
    const size_t columns = ground_.swept.size();
    const size_t words = static_cast<size_t>(ground_.counter.words());
    std::vector<Search> searches(large.size());
    pool.run(static_cast<int64_t>(large.size()), [&](int64_t n) {
        Search& search = searches[n];
        search.ask = &asks[large[n]];
        const int node = search.ask->node;
        search.yard = yardstick(task, ground_.counter, search.ask->facts, span_of<Item>(items(node)));
        search.total = no_words(ground_.counter);
        search.coarse.resize(columns);
        search.cuts.resize(columns);
        if (columns == 0) return;
        const CodedColumn& first = ground_.coded.columns()[0];
        const size_t cells = static_cast<size_t>(first.bins + (first.gaps ? 1 : 0));
        for (size_t cell = 0; cell < cells * words; ++cell) search.total[cell % words] += histogram_[node][cell];
    });
    pool.run(static_cast<int64_t>(large.size() * columns), [&](int64_t i) {
        Search& search = searches[i / columns];
        const size_t which = static_cast<size_t>(i) % columns;
        search.cuts[which] = cut_between(search, which, search.coarse[which]);
    });
    for (Search& search : searches) {
        for (size_t which = 0; which < columns; ++which) {
            search.order.push_back(static_cast<int>(which));
            search.best = std::max(search.best.load(), search.cuts[which].merit);
        }
        std::stable_sort(search.order.begin(), search.order.end(),
                         [&](int a, int b) { return search.cuts[a].merit > search.cuts[b].merit; });
    }
    pool.run(static_cast<int64_t>(large.size() * columns), [&](int64_t i) {
        Search& search = searches[i / columns];
        const size_t which = static_cast<size_t>(search.order[static_cast<size_t>(i) % columns]);
        // Rivals are told exactly, so each column must be beaten by its own best cut; without rivals the best found so
        // far will do: who finds it, and when, changes the work and not the winner.
        const Cut coarse = search.cuts[which];
        const double to_beat = ground_.recipe.rivals > 0 ? coarse.merit : search.best.load();
        const Cut cut = zoom(search, which, coarse, search.coarse[which], to_beat);
        search.cuts[which] = cut;
        double best = search.best.load();
        while (best < cut.merit && !search.best.compare_exchange_weak(best, cut.merit)) {
        }
    });
    pool.run(static_cast<int64_t>(large.size()), [&](int64_t n) {
        Search& search = searches[n];
        const std::vector<int> told = worth_telling(task, search.yard, search.cuts);
        for (const int which : told) {
            Cut& cut = search.cuts[which];
            if (cut.low_rows > 0 && !cut.placed())
                place(search.ask->node, static_cast<size_t>(which), search.coarse[which], cut);
        }
        found[large[n]] = tell(task, ground_, search.ask->facts, told, rows(search.ask->node), search.cuts);
    });
    keep_only(nodes);
    return found;
}

template <class Counter>
std::vector<Surrogate> RowsCoded<Counter>::surrogates(const Task& task, int node, const Split& split, Pool& pool) {
    std::vector<Entry> entries;
    for (const uint32_t row : rows(node)) entries.push_back({row, source().measure.weight_of(row)});
    return gather_surrogates(task, source(), entries, split, pool);
}

// --- dividing ---

template <class Counter>
void RowsCoded<Counter>::divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates,
                                int first, Pool& pool) {
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
    const bool plain = columns[split.column].kind == Kind::number && split.breaks.size() == 1 && children == 2 &&
                       split.child_of_bin[0] == 0;
    pool.run(static_cast<int64_t>(blocks), [&](int64_t b) {
        size_t* count = &next[static_cast<size_t>(b) * children];
        const Stretch block = block_of(b);
        const uint32_t* row = field_.row.data();
        int32_t* to = field_.child.data();
        const auto send = [&](size_t at) {
            int child = destination(split, surrogates, columns, row[at]);
            if (child == random_child) child = draw_child(split.share, node_key, hash_row(columns, row[at]));
            to[at] = child;
            if (child >= 0) ++count[child];
        };
        if (!plain) {
            for (size_t at = block.begin; at < block.end; ++at) send(at);
            return;
        }
        const Numbers numbers = columns[split.column].numbers;
        const double limit = split.breaks[0];
        size_t high = 0, known = 0;
        for (size_t at = block.begin; at < block.end; ++at) {
            call_early(numbers.address(row[std::min(at + look_ahead, block.end - 1)]));
            const double x = numbers[row[at]];
            if (x != x) {
                send(at);
                continue;
            }
            const int child = split.closed ? x > limit : x >= limit;
            to[at] = child;
            high += static_cast<size_t>(child);
            ++known;
        }
        count[0] += known - high;
        count[1] += high;
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
    if (children != 2) return;
    family_[first] = {node, first + 1, whole.size()};
    family_[first + 1] = {node, first, whole.size()};
}

// --- who is served ---

namespace {

// The root: it owns what the others share.
template <class Counter>
class Root final : public Rows {
public:
    Root(const Table& table, const Recipe& recipe, const Measure& measure, std::shared_ptr<const CodedTable> coded,
         const Counter& counter, Pool& pool)
        : coded_(coded ? std::move(coded) : std::make_shared<const CodedTable>(table, pool)),
          field_(field_of(taking_part(table, recipe, measure), counter)),
          source_(learn_source(table, recipe, measure, field_.row, pool)),
          ground_{
              source_, *coded_, recipe, counter, {}, {}, small(*coded_, counter), Inverses(small(*coded_, counter))},
          rows_(ground_, field_, {0, field_.row.size()}, apart_from(pool)) {
        const bool three_ways = recipe.missing == Missing::own && recipe.branching != Branching::binary;
        for (size_t i = 0; i < coded_->columns().size(); ++i) {
            const CodedColumn& column = coded_->columns()[i];
            (three_ways && column.gaps ? ground_.gathered : ground_.swept)
                .push_back(three_ways && column.gaps ? column.column : static_cast<int>(i));
        }
        for (size_t i = 0; i < table.columns.size(); ++i) {
            if (table.columns[i].kind != Kind::number) ground_.gathered.push_back(static_cast<int>(i));
        }
    }

    const Source& source() const override { return source_; }
    int64_t used_rows() const override { return static_cast<int64_t>(field_.row.size()); }
    Total total(int node) const override { return rows_.total(node); }
    std::vector<std::vector<Candidate>> candidates(const Task& task, const std::vector<Ask>& asks,
                                                   Pool& pool) override {
        return rows_.candidates(task, asks, pool);
    }
    std::vector<Surrogate> surrogates(const Task& task, int node, const Split& split, Pool& pool) override {
        return rows_.surrogates(task, node, split, pool);
    }
    void divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates, int first,
                Pool& pool) override {
        rows_.divide(node, node_key, split, surrogates, first, pool);
    }
    void reserve(int nodes) override { rows_.reserve(nodes); }
    int64_t apart() const override { return rows_.apart(); }
    std::unique_ptr<Rows> detach(int node) override { return rows_.detach(node); }

private:
    static Field<Counter> field_of(std::vector<uint32_t> rows, const Counter& counter) {
        Field<Counter> field;
        field.item.reserve(rows.size());
        for (const uint32_t row : rows) field.item.push_back(counter.item(row));
        field.spare_row.resize(rows.size());
        field.spare_item.resize(rows.size());
        field.child.resize(rows.size());
        field.row = std::move(rows);
        return field;
    }
    static int64_t small(const CodedTable& coded, const Counter& counter) {
        return std::clamp<int64_t>(static_cast<int64_t>(coded.bins()) * counter.words() / 64, 1024, 32768);
    }
    int64_t apart_from(const Pool& pool) const {
        const int64_t rows = static_cast<int64_t>(field_.row.size());
        return std::max<int64_t>(ground_.small_rows, rows / (8 * pool.threads()));
    }

    std::shared_ptr<const CodedTable> coded_;
    Field<Counter> field_;
    Source source_;
    Ground<Counter> ground_;
    RowsCoded<Counter> rows_;
};

bool suits(const Table& table, const Recipe& recipe) {
    const ThresholdChoice& threshold = recipe.threshold;
    switch (recipe.rule) {
        case Rule::gini:
        case Rule::information_gain:
        case Rule::misclassification:
        case Rule::variance:
            break;
        default:
            return false;
    }
    if (recipe.numeric != Numeric::threshold || threshold.observed || threshold.tenth || threshold.penalised ||
        threshold.gap > 0 || recipe.slack > 0 || recipe.stopping.significance || recipe.missing == Missing::spread ||
        recipe.branching == Branching::merge || recipe.stopping.max_features < static_cast<int>(table.columns.size())) {
        return false;
    }
    return std::any_of(table.columns.begin(), table.columns.end(),
                       [](const Column& column) { return column.kind == Kind::number; });
}

} // namespace

std::unique_ptr<Rows> coded_rows(const Table& table, const Recipe& recipe, const Measure& measure,
                                 std::shared_ptr<const CodedTable> coded, Pool& pool) {
    if (!suits(table, recipe)) return nullptr;
    const auto made = [&]<class Counter>(const Counter& counter) -> std::unique_ptr<Rows> {
        return std::make_unique<Root<Counter>>(table, recipe, measure, std::move(coded), counter, pool);
    };
    const auto by_rule = [&]<template <Rule> class Counter>(Counter<Rule::gini>*) -> std::unique_ptr<Rows> {
        switch (recipe.rule) {
            case Rule::gini:
                return made(Counter<Rule::gini>(measure));
            case Rule::information_gain:
                return made(Counter<Rule::information_gain>(measure));
            default:
                return made(Counter<Rule::misclassification>(measure));
        }
    };
    if (recipe.rule == Rule::variance) {
        return measure.even ? made(Sums(measure)) : made(WeightedSums(measure));
    }
    if (!measure.even) return made(WeightedClasses(measure, recipe.rule));
    if (measure.n_classes == 2) return by_rule(static_cast<TwoClasses<Rule::gini>*>(nullptr));
    if (measure.n_classes <= 65535) return by_rule(static_cast<ManyClasses<Rule::gini>*>(nullptr));
    return nullptr;
}

} // namespace tw

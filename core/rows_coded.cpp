#include "rows_coded.hpp"

#include <algorithm>
#include <cmath>

#include "pool.hpp"
#include "rows_small.hpp"

namespace tw {
namespace {

bool is_complete(const Column& column, int64_t rows) {
    if (column.kind != Kind::number) return false;
    return std::none_of(column.numbers, column.numbers + rows, [](double x) { return std::isnan(x); });
}

template <class Counter>
struct DetachedRows final : Detached {
    DetachedRows(const Table& table, const Measure& measure, const std::vector<Entry>& entries, const Recipe& recipe,
                 std::shared_ptr<const std::vector<ColumnFacts>> facts, const std::vector<int>& ordered)
        : extract(table, measure, entries), small(extract, recipe, std::move(facts), ordered) {}

    Rows& rows() override { return small; }
    const Measure& measure() const override { return extract.measure; }

    Extract extract;
    RowsSmall<Counter> small;
};

} // namespace

template <class Counter>
RowsCoded<Counter>::RowsCoded(const Table& table, const Recipe& recipe, const Measure& measure, int threads)
    : RowsCpu(table, recipe, measure, threads), counter_(measure, table.rows), words_(counter_.words()) {
    reserve(1);
    for (int column = 0; column < columns(); ++column) {
        if (is_complete(table.columns[column], table.rows)) coded_.push_back(column);
    }
    codes_.resize(coded_.size());
    parallel_for(static_cast<int64_t>(coded_.size()), threads, [&](int64_t i) {
        codes_[i] = code_column({table.columns[coded_[i]].numbers, static_cast<size_t>(table.rows)});
    });
}

template <class Counter>
void RowsCoded<Counter>::divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates,
                                int first) {
    const size_t rows = entries(node).size();
    RowsCpu::divide(node, node_key, split, surrogates, first);
    if (split.children() != 2) return;
    family_[first] = {node, first + 1, rows};
    family_[first + 1] = {node, first, rows};
}

template <class Counter>
void RowsCoded<Counter>::reserve(int nodes) {
    RowsCpu::reserve(nodes);
    histogram_.resize(std::max<size_t>(histogram_.size(), nodes));
    family_.resize(std::max<size_t>(family_.size(), nodes));
}

template <class Counter>
std::unique_ptr<Detached> RowsCoded<Counter>::detach(int node) const {
    return std::make_unique<DetachedRows<Counter>>(table(), measure(), entries(node), recipe(), shared_facts(), coded_);
}

template <class Counter>
void RowsCoded<Counter>::fill(int node, size_t which) {
    Word* counters = &histogram_[node][which * 256 * words_];
    const uint8_t* code = codes_[which].code.data();
    for (const Entry& entry : entries(node)) {
        counter_.count(counters + static_cast<size_t>(code[entry.row]) * words_, entry.row);
    }
}

// Whether the node is its parent less its smaller sibling, and both are still there to tell.
template <class Counter>
bool RowsCoded<Counter>::is_remainder(int node, const Family& family) const {
    if (family.parent < 0 || histogram_[family.parent].empty()) return false;
    const size_t own = entries(node).size(), other = entries(family.sibling).size();
    return own + other == family.rows && (own > other || (own == other && node > family.sibling));
}

// Counts the asked nodes; of two siblings only the smaller, the other is what remains of their parent.
template <class Counter>
void RowsCoded<Counter>::count_histograms(const std::vector<Ask>& asks, int threads) {
    const size_t size = coded_.size() * 256 * words_;
    std::vector<int> counted, remaining;
    for (const Ask& ask : asks) {
        const Family family = family_[ask.node];
        if (!is_remainder(ask.node, family)) {
            counted.push_back(ask.node);
            continue;
        }
        remaining.push_back(ask.node);
        if (histogram_[family.sibling].empty()) counted.push_back(family.sibling);
    }
    std::sort(counted.begin(), counted.end());
    counted.erase(std::unique(counted.begin(), counted.end()), counted.end());
    for (int node : counted) histogram_[node].assign(size, 0);
    const int64_t columns = static_cast<int64_t>(coded_.size());
    parallel_for(static_cast<int64_t>(counted.size()) * columns, threads,
                 [&](int64_t i) { fill(counted[i / columns], static_cast<size_t>(i % columns)); });
    for (int node : remaining) histogram_[node] = std::move(histogram_[family_[node].parent]);
    parallel_for(static_cast<int64_t>(remaining.size()) * columns, threads, [&](int64_t i) {
        const int node = remaining[i / columns];
        const size_t begin = static_cast<size_t>(i % columns) * 256 * words_;
        Word* rest = &histogram_[node][begin];
        const Word* part = &histogram_[family_[node].sibling][begin];
        for (size_t w = 0; w < static_cast<size_t>(256) * words_; ++w) rest[w] -= part[w];
    });
}

template <class Counter>
typename RowsCoded<Counter>::BinCut RowsCoded<Counter>::cut_between(const Yardstick& node,
                                                                    const std::vector<Word>& total, int id,
                                                                    size_t which) const {
    const Word* counters = bins(id, which);
    const int count = codes_[which].bins();
    std::vector<Word> low(words_, 0), high(words_);
    int64_t low_rows = 0;
    BinCut best;
    int last = -1;
    for (int b = 0; b < count; ++b) {
        const Word* bin = counters + static_cast<size_t>(b) * words_;
        const int64_t rows = counter_.rows(bin);
        if (rows == 0) continue;
        if (last >= 0 && node.allows(low_rows)) {
            for (int w = 0; w < words_; ++w) high[w] = total[w] - low[w];
            const double merit = counter_.side(low.data(), node.span) + counter_.side(high.data(), node.span);
            if (node.beats(merit, best.merit)) best = {merit, last, b, low_rows};
        }
        for (int w = 0; w < words_; ++w) low[w] += bin[w];
        low_rows += rows;
        last = b;
    }
    return best;
}

// Looks inside the bins where a cut as good as `to_beat` could hide, and gives the better of that and the coarse cut.
template <class Counter>
Cut RowsCoded<Counter>::zoom(const Yardstick& node, const std::vector<Word>& total, int id, size_t which,
                             const BinCut& coarse, double to_beat) const {
    Cut best{coarse.merit, coarse.low_rows, 0, 0, false};
    if (codes_[which].exact) return best;
    const Word* counters = bins(id, which);
    const int count = codes_[which].bins();
    std::array<bool, 256> open{};
    std::vector<Word> low(words_, 0), high(words_), before(static_cast<size_t>(count) * words_);
    std::vector<int64_t> rows_before(count, 0);
    int64_t low_rows = 0;
    bool any = false;
    for (int b = 0; b < count; ++b) {
        const Word* bin = counters + static_cast<size_t>(b) * words_;
        const int64_t rows = counter_.rows(bin);
        if (rows >= 2) {
            for (int w = 0; w < words_; ++w) high[w] = total[w] - low[w] - bin[w];
            open[b] = counter_.bound(low.data(), bin, high.data(), node.span) >= to_beat - node.rounding;
            if (open[b]) {
                any = true;
                std::copy(low.begin(), low.end(), before.begin() + static_cast<std::ptrdiff_t>(b) * words_);
                rows_before[b] = low_rows;
            }
        }
        for (int w = 0; w < words_; ++w) low[w] += bin[w];
        low_rows += rows;
    }
    if (!any) return best;

    const uint8_t* code = codes_[which].code.data();
    const double* values = table().columns[coded_[which]].numbers;
    std::vector<std::pair<double, uint32_t>> inside;
    for (const Entry& entry : entries(id)) {
        if (open[code[entry.row]]) inside.push_back({values[entry.row], entry.row});
    }
    std::sort(inside.begin(), inside.end());
    Cut finer;
    int finer_bin = 256;
    for (size_t i = 0; i + 1 < inside.size(); ++i) {
        const int b = code[inside[i].second];
        if (i == 0 || code[inside[i - 1].second] != b) {
            std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(b) * words_, words_, low.begin());
            low_rows = rows_before[b];
        }
        counter_.count(low.data(), inside[i].second);
        ++low_rows;
        if (code[inside[i + 1].second] != b || inside[i + 1].first == inside[i].first || !node.allows(low_rows))
            continue;
        for (int w = 0; w < words_; ++w) high[w] = total[w] - low[w];
        const double merit = counter_.side(low.data(), node.span) + counter_.side(high.data(), node.span);
        if (!node.beats(merit, finer.merit)) continue;
        finer = {merit, low_rows, inside[i].first, inside[i + 1].first, true};
        finer_bin = b;
    }
    // Of two equal cuts the lower; a cut inside a bin is lower than the cut at the bin's end.
    const bool finer_is_lower = coarse.last < 0 || finer_bin <= coarse.last;
    const bool take = finer_is_lower ? !node.beats(best.merit, finer.merit) : node.beats(finer.merit, best.merit);
    return finer.found() && take ? finer : best;
}

// The values on both sides of a cut between bins.
template <class Counter>
void RowsCoded<Counter>::find_ends(int id, size_t which, const BinCut& coarse, Cut& cut) const {
    const uint8_t* code = codes_[which].code.data();
    const double* values = table().columns[coded_[which]].numbers;
    cut.below = -std::numeric_limits<double>::infinity();
    cut.above = std::numeric_limits<double>::infinity();
    for (const Entry& entry : entries(id)) {
        if (code[entry.row] == coarse.last) cut.below = std::max(cut.below, values[entry.row]);
        if (code[entry.row] == coarse.next) cut.above = std::min(cut.above, values[entry.row]);
    }
}

template <class Counter>
std::vector<std::vector<Candidate>> RowsCoded<Counter>::candidates(const Task& task, const std::vector<Ask>& asks,
                                                                   int threads) {
    const size_t nodes = asks.size(), columns = coded_.size();
    count_histograms(asks, threads);

    std::vector<std::vector<Word>> total(nodes, std::vector<Word>(words_, 0));
    std::vector<Yardstick> yard(nodes);
    std::vector<std::vector<BinCut>> coarse(nodes, std::vector<BinCut>(columns));
    std::vector<std::vector<Cut>> cuts(nodes, std::vector<Cut>(columns));
    parallel_for(static_cast<int64_t>(nodes), threads, [&](int64_t n) {
        const Word* counters = bins(asks[n].node, 0);
        for (int b = 0; b < 256; ++b) {
            for (int w = 0; w < words_; ++w) total[n][w] += counters[b * words_ + w];
        }
        const Span span = span_of(measure(), entries(asks[n].node));
        yard[n] = yardstick(task, counter_, asks[n].facts, span, total[n].data());
    });
    parallel_for(static_cast<int64_t>(nodes * columns), threads, [&](int64_t i) {
        const size_t n = static_cast<size_t>(i) / columns, c = static_cast<size_t>(i) % columns;
        coarse[n][c] = cut_between(yard[n], total[n], asks[n].node, c);
    });
    // Rivals are told exactly, so each column must be beaten by its own best cut; without rivals the node's best will
    // do.
    std::vector<double> best(nodes, -std::numeric_limits<double>::infinity());
    for (size_t n = 0; n < nodes; ++n) {
        for (const BinCut& cut : coarse[n]) best[n] = std::max(best[n], cut.merit);
    }
    parallel_for(static_cast<int64_t>(nodes * columns), threads, [&](int64_t i) {
        const size_t n = static_cast<size_t>(i) / columns, c = static_cast<size_t>(i) % columns;
        const double to_beat = recipe().rivals > 0 ? coarse[n][c].merit : best[n];
        cuts[n][c] = zoom(yard[n], total[n], asks[n].node, c, coarse[n][c], to_beat);
    });
    std::vector<std::vector<Candidate>> found(nodes);
    parallel_for(static_cast<int64_t>(nodes), threads, [&](int64_t n) {
        const std::vector<bool> told = worth_telling(task, cuts[n]);
        size_t next = 0;
        for (int column = 0; column < this->columns(); ++column) {
            if (next == columns || coded_[next] != column) {
                found[n].push_back(best_candidate(task, asks[n].facts, facts(column), count(asks[n].node, column)));
                found[n].back().column = column;
                continue;
            }
            const size_t c = next++;
            if (!told[c]) continue;
            Cut& cut = cuts[n][c];
            if (cut.found() && !cut.placed) find_ends(asks[n].node, c, coarse[n][c], cut);
            found[n].push_back(candidate_of(task, counter_, yard[n], column, cut, coarse[n][c].last < 0));
        }
    });
    // Only the asked nodes can still be parents.
    std::vector<bool> asked(histogram_.size(), false);
    for (const Ask& ask : asks) asked[ask.node] = true;
    for (size_t node = 0; node < histogram_.size(); ++node) {
        if (!asked[node]) Histogram().swap(histogram_[node]);
    }
    return found;
}

namespace {

template <template <Rule> class Counter>
std::unique_ptr<Rows> by_rule(const Table& table, const Recipe& recipe, const Measure& measure, int threads) {
    switch (recipe.rule) {
        case Rule::gini:
            return std::make_unique<RowsCoded<Counter<Rule::gini>>>(table, recipe, measure, threads);
        case Rule::information_gain:
            return std::make_unique<RowsCoded<Counter<Rule::information_gain>>>(table, recipe, measure, threads);
        case Rule::misclassification:
            return std::make_unique<RowsCoded<Counter<Rule::misclassification>>>(table, recipe, measure, threads);
        default:
            return nullptr;
    }
}

bool suits(const Table& table, const Recipe& recipe, const Measure& measure) {
    const ThresholdChoice& threshold = recipe.threshold;
    if (recipe.numeric != Numeric::threshold || threshold.observed || threshold.tenth || threshold.penalised ||
        threshold.gap > 0 || recipe.slack > 0 || recipe.stopping.significance || recipe.missing == Missing::spread ||
        recipe.branching == Branching::merge || recipe.drop_blank_rows ||
        recipe.stopping.max_features < static_cast<int>(table.columns.size())) {
        return false;
    }
    const auto one = [&](int64_t weight) { return weight == 1; };
    return measure.weight_unit == 1 && std::all_of(measure.weight.begin(), measure.weight.end(), one) &&
           std::any_of(table.columns.begin(), table.columns.end(),
                       [&](const Column& column) { return is_complete(column, table.rows); });
}

} // namespace

std::unique_ptr<Rows> coded_rows(const Table& table, const Recipe& recipe, const Measure& measure, int threads) {
    if (!suits(table, recipe, measure)) return nullptr;
    if (recipe.rule == Rule::variance) return std::make_unique<RowsCoded<Sums>>(table, recipe, measure, threads);
    if (measure.n_classes == 2) return by_rule<TwoClasses>(table, recipe, measure, threads);
    return by_rule<ManyClasses>(table, recipe, measure, threads);
}

} // namespace tw

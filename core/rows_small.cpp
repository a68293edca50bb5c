#include "rows_small.hpp"

#include <algorithm>

namespace tw {

Extract::Extract(const Table& from, const Measure& measured, const std::vector<Entry>& entries)
    : numbers(from.columns.size()), codes(from.columns.size()) {
    table.rows = static_cast<int64_t>(entries.size());
    table.columns = from.columns;
    for (size_t c = 0; c < from.columns.size(); ++c) {
        Column& column = table.columns[c];
        if (column.kind == Kind::number) {
            for (const Entry& entry : entries) numbers[c].push_back(from.columns[c].numbers[entry.row]);
            column.numbers = numbers[c].data();
        } else {
            for (const Entry& entry : entries) codes[c].push_back(from.columns[c].codes[entry.row]);
            column.codes = codes[c].data();
        }
    }
    measure = measured.extract(entries);
}

template <class Counter>
RowsSmall<Counter>::RowsSmall(const Extract& extract, const Recipe& recipe,
                              std::shared_ptr<const std::vector<ColumnFacts>> facts, const std::vector<int>& ordered)
    : RowsCpu(extract.table, recipe, extract.measure, std::move(facts)),
      counter_(extract.measure, extract.table.rows),
      ordered_(ordered),
      order_(ordered.size()) {
    const size_t rows = static_cast<size_t>(extract.table.rows);
    range_.push_back({0, rows});
    spare_.resize(rows);
    std::vector<std::pair<double, uint16_t>> placed(rows);
    for (size_t i = 0; i < ordered.size(); ++i) {
        const double* values = extract.table.columns[ordered[i]].numbers;
        for (size_t row = 0; row < rows; ++row) placed[row] = {values[row], static_cast<uint16_t>(row)};
        std::sort(placed.begin(), placed.end());
        uint16_t rank = 0;
        order_[i].reserve(rows);
        for (size_t at = 0; at < rows; ++at) {
            if (at > 0 && placed[at].first != placed[at - 1].first) ++rank;
            order_[i].push_back({rank, placed[at].second});
        }
    }
}

template <class Counter>
Cut RowsSmall<Counter>::best_cut(const Yardstick& node, const std::vector<typename Counter::Word>& total, int which,
                                 Range range) const {
    using Word = typename Counter::Word;
    const int words = counter_.words();
    std::vector<Word> low(words, 0), high = total;
    const std::vector<Place>& order = order_[which];
    Cut best;
    size_t best_at = 0;
    for (size_t at = range.begin; at + 1 < range.end; ++at) {
        counter_.count(low.data(), order[at].row);
        if (order[at].rank == order[at + 1].rank) continue;
        const int64_t low_rows = static_cast<int64_t>(at + 1 - range.begin);
        if (!node.allows(low_rows)) continue;
        for (int w = 0; w < words; ++w) high[w] = total[w] - low[w];
        const double merit = counter_.side(low.data(), node.span) + counter_.side(high.data(), node.span);
        if (!node.beats(merit, best.merit)) continue;
        best.merit = merit;
        best.low_rows = low_rows;
        best_at = at;
    }
    if (best.found()) {
        const double* values = table().columns[ordered_[which]].numbers;
        best.below = values[order[best_at].row];
        best.above = values[order[best_at + 1].row];
        best.placed = true;
    }
    return best;
}

template <class Counter>
std::vector<std::vector<Candidate>> RowsSmall<Counter>::candidates(const Task& task, const std::vector<Ask>& asks,
                                                                   int threads) {
    std::vector<std::vector<Candidate>> found;
    for (const Ask& ask : asks) {
        const Range range = range_[ask.node];
        std::vector<typename Counter::Word> total(counter_.words(), 0);
        for (const Entry& entry : entries(ask.node)) counter_.count(total.data(), entry.row);
        const Yardstick node =
            yardstick(task, counter_, ask.facts, span_of(measure(), entries(ask.node)), total.data());
        std::vector<Cut> cuts;
        for (size_t i = 0; i < ordered_.size(); ++i) {
            cuts.push_back(best_cut(node, total, static_cast<int>(i), range));
        }
        const std::vector<bool> told = worth_telling(task, cuts);
        std::vector<Candidate> list;
        for (size_t i = 0; i < ordered_.size(); ++i) {
            if (!told[i]) continue;
            const bool constant = order_[i][range.begin].rank == order_[i][range.end - 1].rank;
            list.push_back(candidate_of(task, counter_, node, ordered_[i], cuts[i], constant));
        }
        for (int column = 0; column < columns(); ++column) {
            if (std::binary_search(ordered_.begin(), ordered_.end(), column)) continue;
            list.push_back(best_candidate(task, ask.facts, facts(column), count(ask.node, column)));
            list.back().column = column;
        }
        std::stable_sort(list.begin(), list.end(),
                         [](const Candidate& a, const Candidate& b) { return a.column < b.column; });
        found.push_back(std::move(list));
    }
    static_cast<void>(threads); // subtrees run in parallel, not the columns of one
    return found;
}

template <class Counter>
void RowsSmall<Counter>::divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates,
                                int first) {
    RowsCpu::divide(node, node_key, split, surrogates, first);
    const int children = split.children();
    std::vector<int> child_of(static_cast<size_t>(table().rows), -1);
    range_.resize(std::max<size_t>(range_.size(), first + children));
    size_t end = range_[node].begin;
    for (int c = 0; c < children; ++c) {
        for (const Entry& entry : entries(first + c)) child_of[entry.row] = c;
        range_[first + c] = {end, end + entries(first + c).size()};
        end = range_[first + c].end;
    }
    for (std::vector<Place>& order : order_) {
        std::copy(order.begin() + range_[node].begin, order.begin() + range_[node].end, spare_.begin());
        std::vector<size_t> next;
        for (int c = 0; c < children; ++c) next.push_back(range_[first + c].begin);
        for (size_t i = 0; i < range_[node].end - range_[node].begin; ++i) {
            const int child = child_of[spare_[i].row];
            if (child >= 0) order[next[child]++] = spare_[i];
        }
    }
}

template class RowsSmall<TwoClasses<Rule::gini>>;
template class RowsSmall<TwoClasses<Rule::information_gain>>;
template class RowsSmall<TwoClasses<Rule::misclassification>>;
template class RowsSmall<ManyClasses<Rule::gini>>;
template class RowsSmall<ManyClasses<Rule::information_gain>>;
template class RowsSmall<ManyClasses<Rule::misclassification>>;
template class RowsSmall<Sums>;

} // namespace tw

#include "rows/sorted_rows.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/hash.hpp"
#include "rows/column_order.hpp"
#include "rows/exhaustive_rows.hpp"
#include "rows/row_router.hpp"
#include "threshold/surrogate_scan.hpp"

namespace tw {
namespace {

constexpr size_t max_rows_sorted_directly = 48; // so few rows are ordered without a look at their codes

} // namespace

template <TargetCounter Counter>
SortedRows<Counter>::SortedRows(const SearchContext<Counter>& context, std::span<const uint32_t> rows,
                                std::span<const Item> items)
    : context_(context),
      row_(rows),
      item_(items),
      member_(rows.size()),
      slot_(context.by_histogram.size(), -1),
      order_(rows.size() * find_changing()),
      nodes_(1),
      child_(rows.size()),
      spare_(rows.size()) {
    const ProfileTimer watch(context.profile, &Profile::sorting);
    if (static_cast<int64_t>(rows.size()) > max_sorted_rows) throw std::logic_error("SortedRows: too many rows");
    nodes_[0].range = {0, rows.size()};
    for (size_t i = 0; i < rows.size(); ++i) member_[i] = static_cast<uint16_t>(i);
    for (size_t scan_column = 0; scan_column < context.by_histogram.size(); ++scan_column) {
        if (slot_[scan_column] >= 0) order_column(scan_column);
    }
}

template <TargetCounter Counter>
SortedRows<Counter>::SortedRows(const SearchContext<Counter>& context, std::unique_ptr<OwnedRows> own)
    : SortedRows(context, own->row, own->item) {
    own_ = std::move(own);
}

template <TargetCounter Counter>
std::unique_ptr<RowStore> SortedRows<Counter>::detach(int node) {
    return std::make_unique<SortedRows>(context_, std::move(nodes_[node].own));
}

// Gives every column that may be cut a slot; returns how many there are. Where codes are values, one code is one value.
template <TargetCounter Counter>
size_t SortedRows<Counter>::find_changing() {
    const std::vector<ColumnBins>& columns = context_.binned.columns();
    std::vector<uint8_t> changes(columns.size(), 0);
    const uint8_t* first = context_.binned.row(row_[0]);
    for (const uint32_t row : row_) {
        const uint8_t* code = context_.binned.row(row);
        for (size_t c = 0; c < changes.size(); ++c) changes[c] |= static_cast<uint8_t>(code[c] ^ first[c]);
    }
    int slots = 0;
    for (size_t scan_column = 0; scan_column < slot_.size(); ++scan_column) {
        if (changes[static_cast<size_t>(context_.by_histogram[scan_column])] != 0 ||
            !context_.column(scan_column).exact)
            slot_[scan_column] = slots++;
    }
    return static_cast<size_t>(slots);
}

// Rows are sorted by counting their codes, then by value within a code; missing values come last. Where codes are
// values, they stand for them.
template <TargetCounter Counter>
void SortedRows<Counter>::order_column(size_t scan_column) {
    const size_t rows = row_.size(), at = static_cast<size_t>(context_.by_histogram[scan_column]);
    const Numbers& numbers = context_.numbers(scan_column);
    const ColumnBins& column = context_.column(scan_column);
    std::vector<ValueAndRow> sorted(rows);
    size_t known = 0;
    if (rows <= max_rows_sorted_directly && !column.exact) {
        size_t last = rows;
        for (size_t i = 0; i < rows; ++i) {
            const double x = numbers[row_[i]];
            sorted[x == x ? known++ : --last] = {x, static_cast<uint16_t>(i)};
        }
        order_by_value(sorted.data(), sorted.data() + known);
    } else {
        std::array<uint16_t, 257> next{};
        for (const uint32_t row : row_) ++next[context_.binned.row(row)[at] + 1];
        for (size_t code = 1; code < next.size(); ++code)
            next[code] = static_cast<uint16_t>(next[code] + next[code - 1]);
        known = next[column.bins];
        const std::array<uint16_t, 257> start = next;
        for (size_t i = 0; i < rows; ++i) {
            const uint8_t code = context_.binned.row(row_[i])[at];
            const bool by_bin = column.exact || code >= column.bins;
            sorted[next[code]++] = {by_bin ? code : column.known(code, numbers[row_[i]]), static_cast<uint16_t>(i)};
        }
        for (int code = 0; code < column.bins && !column.exact; ++code) {
            if (start[code + 1] - start[code] > 1) {
                order_by_value(sorted.data() + start[code], sorted.data() + start[code + 1]);
            }
        }
    }
    RankedRow* order = this->order(scan_column);
    uint16_t rank = 0;
    for (size_t i = 0; i < rows; ++i) {
        if (i > 0 && i < known && sorted[i].value != sorted[i - 1].value) ++rank;
        order[i] = {i < known ? rank : missing_rank, sorted[i].row};
    }
}

template <TargetCounter Counter>
std::vector<uint32_t> SortedRows<Counter>::table_rows(int node) const {
    const RowRange range = nodes_[node].range;
    std::vector<uint32_t> rows;
    rows.reserve(range.end - range.begin);
    for (size_t at = range.begin; at < range.end; ++at) rows.push_back(row_[member_[at]]);
    return rows;
}

template <TargetCounter Counter>
std::vector<typename SortedRows<Counter>::Item> SortedRows<Counter>::node_items(int node) const {
    const RowRange range = nodes_[node].range;
    std::vector<Item> items;
    items.reserve(range.end - range.begin);
    for (size_t at = range.begin; at < range.end; ++at) items.push_back(item_[member_[at]]);
    return items;
}

template <TargetCounter Counter>
Total SortedRows<Counter>::total(int node) const {
    if (const OwnedRows* own = nodes_[node].own.get()) return total_of_items<Counter>(context_, own->row, own->item);
    // Classes are counted without a look at the table.
    constexpr bool rows_needed = std::is_same_v<Counter, MomentCounter> || !std::is_integral_v<Item>;
    return total_of_items<Counter>(context_, rows_needed ? table_rows(node) : std::vector<uint32_t>{},
                                   node_items(node));
}

// What is seen of each row is `item[row]`: its target, or the child it should be sent to.
template <TargetCounter Counter>
template <CutCounter AnyCounter>
Cut SortedRows<Counter>::best_cut(const AnyCounter& counter, const typename AnyCounter::Item* item,
                                  const CutRules& rules, const Words<AnyCounter>& total, size_t scan_column,
                                  RowRange range, bool tries_missing) const {
    Cut none;
    none.constant = true;
    if (slot_[scan_column] < 0) return none;
    const RankedRow* order = this->order(scan_column);
    size_t end = range.end;
    if (order[range.begin].rank == order[end - 1].rank) return none; // most columns of a small node
    Words<AnyCounter> missing = zero_words(counter);
    if (context_.column(scan_column).has_missing) {
        while (end > range.begin && order[end - 1].rank == missing_rank)
            counter.add(missing.data(), item[order[--end].row]);
    }
    CutScorer<AnyCounter> scorer(counter, rules, total.data(), missing.data(), tries_missing);
    Cut best;
    best.has_missing = scorer.has_missing();
    best.constant = end == range.begin || order[range.begin].rank == order[end - 1].rank;
    if (best.has_missing && tries_missing) best.constant = false;
    size_t best_at = 0;
    const auto value = [&](size_t at) { return context_.numbers(scan_column)[row_[order[at].row]]; };
    const auto offer = [&](size_t at, int64_t low_rows, double gain) {
        if (!rules.beats(gain, best.gain)) return;
        best.gain = gain;
        best.low_rows = low_rows;
        best_at = at;
    };
    const bool ordered = rules.ordered();
    [[maybe_unused]] const bool simple = !best.has_missing && !(scorer.min_weight() > 1) && !ordered;
    bool done = false;
    if constexpr (requires { typename AnyCounter::Running; }) {
        if (AnyCounter::is_running && simple) {
            typename AnyCounter::Running running(total.data(), counter.words());
            const int64_t rows = static_cast<int64_t>(end - range.begin);
            for (size_t at = range.begin; at + 1 < end; ++at) {
                running.move(item[order[at].row]);
                const int64_t low_rows = static_cast<int64_t>(at + 1 - range.begin);
                if (order[at].rank == order[at + 1].rank || low_rows < rules.min_rows ||
                    rows - low_rows < rules.min_rows)
                    continue;
                offer(at, low_rows,
                      context_.reciprocals(static_cast<double>(running.low_squares), low_rows) +
                          context_.reciprocals(static_cast<double>(running.high_squares), rows - low_rows) -
                          scorer.reference());
            }
            done = true;
        }
    }
    Words<AnyCounter> low = zero_words(counter);
    for (size_t at = range.begin; at + 1 < end && !done; ++at) {
        counter.add(low.data(), item[order[at].row]);
        if (order[at].rank == order[at + 1].rank) continue;
        if constexpr (AnyCounter::is_strict) {
            // Between two rows of one class that are alone with their values no cut is better than one at either side.
            if (simple && rules.min_rows <= 1 && item[order[at].row] == item[order[at + 1].row] &&
                (at == range.begin || order[at - 1].rank != order[at].rank) &&
                (at + 2 >= end || order[at + 2].rank != order[at + 1].rank)) {
                continue;
            }
        }
        if (ordered && !is_separable(value(at), value(at + 1), rules.min_gap())) continue;
        const int64_t low_rows = counter.rows(low.data());
        const double gain = scorer.gain(low.data(), low_rows, context_.reciprocals);
        if (ordered && gain > no_gain) ++best.tried;
        offer(at, low_rows, gain);
    }
    if (best.low_rows > 0) {
        best.below = value(best_at);
        best.above = value(best_at + 1);
    }
    if (const double apart = scorer.gain_of_missing(); rules.beats(apart, best.gain)) {
        best.gain = apart;
        best.low_rows = 0;
    }
    return best;
}

// What lies below a cut.
template <TargetCounter Counter>
Words<Counter> SortedRows<Counter>::low_side(size_t scan_column, const Cut& cut, RowRange range) const {
    Words<Counter> low = zero_words(context_.counter);
    if (cut.low_rows == 0) return low;
    const RankedRow* order = this->order(scan_column) + range.begin;
    for (int64_t i = 0; i < cut.low_rows; ++i) context_.counter.add(low.data(), item_[order[i].row]);
    return low;
}

// Both sides of a cut and the rows without a value, which come last.
template <TargetCounter Counter>
Sides SortedRows<Counter>::sides(size_t scan_column, const Cut& cut, RowRange range) const {
    const Measure& measure = training().measure;
    const size_t width = static_cast<size_t>(measure.sums());
    Sides sides{std::vector<Sum>(3 * width, 0), {0, 0, 0}};
    const RankedRow* order = this->order(scan_column);
    const size_t cut_at = cut.low_rows > 0 ? range.begin + static_cast<size_t>(cut.low_rows) : range.end;
    for (size_t at = range.begin; at < range.end; ++at) {
        const auto [rank, row] = order[at];
        const size_t side = rank == missing_rank ? 2 : at < cut_at ? 0 : 1;
        measure.add(&sides.stats[side * width], {row_[row], weight_of_item(item_[row])});
        ++sides.rows[side];
    }
    return sides;
}

template <TargetCounter Counter>
std::vector<std::vector<Candidate>> SortedRows<Counter>::candidates(const Task& task,
                                                                    const std::vector<OpenNode>& open_nodes,
                                                                    ThreadPool&) {
    const ProfileTimer watch(context_.profile, &Profile::sorted_scan);
    const bool tries_missing = scores_missing(context_.recipe.missing);
    std::vector<std::vector<Candidate>> found;
    found.reserve(open_nodes.size());
    for (const OpenNode& open_node : open_nodes) {
        if (nodes_[open_node.node].parent >= 0) partition_columns(nodes_[open_node.node].parent);
        const std::vector<Item> items = node_items(open_node.node);
        Words<Counter> total = zero_words(context_.counter);
        for (const Item& item : items) context_.counter.add(total.data(), item);
        const CutRules rules = cut_rules(task, context_.counter, open_node.facts, target_range_of<Item>(items));
        std::vector<Cut> cuts;
        cuts.reserve(context_.by_histogram.size());
        for (size_t scan_column = 0; scan_column < context_.by_histogram.size(); ++scan_column) {
            cuts.push_back(best_cut(context_.counter, item_.data(), rules, total, scan_column,
                                    nodes_[open_node.node].range, tries_missing));
        }
        const std::vector<CandidateColumn> all = candidate_columns(context_, competitive_columns(task, rules, cuts));
        std::vector<Entry> entries;
        if (!context_.by_value.empty()) entries = entries_of<Item>(table_rows(open_node.node), items);
        std::vector<Candidate>& candidates = found.emplace_back();
        for (const auto [scan_column, column] : all) {
            if (scan_column < 0) {
                candidates.push_back(candidate_by_value(task, training(), open_node.facts, column, entries));
                continue;
            }
            const Cut& cut = cuts[static_cast<size_t>(scan_column)];
            const RowRange range = nodes_[open_node.node].range;
            candidates.push_back(needs_rating(task, context_, cut)
                                     ? cut_to_rated_candidate(task, training(), open_node.facts, column, cut,
                                                              sides(scan_column, cut, range))
                                     : cut_to_candidate(task, context_.counter, open_node.facts, column, cut, total,
                                                        low_side(static_cast<size_t>(scan_column), cut, range)));
        }
    }
    return found;
}

template <TargetCounter Counter>
std::vector<Surrogate> SortedRows<Counter>::surrogates(const Task& task, int node, const Split& split,
                                                       ThreadPool& pool) {
    const std::vector<uint32_t> rows = table_rows(node);
    const SurrogateScan surrogate_scan(training(), split, rows, context_.by_histogram);
    if (!surrogate_scan.possible) return surrogates_by_value(task, training(), surrogate_scan.entries, split, pool);
    if (nodes_[node].parent >= 0) partition_columns(nodes_[node].parent);
    const SurrogateCounter counter;
    const RowRange range = nodes_[node].range;
    std::vector<SurrogateCounter::Item> item(row_.size());
    Words<SurrogateCounter> total = zero_words(counter);
    for (size_t i = 0; i < rows.size(); ++i) {
        item[member_[range.begin + i]] = surrogate_scan.items[i];
        counter.add(total.data(), surrogate_scan.items[i]);
    }
    std::vector<Cut> cuts;
    for (size_t scan_column = 0; scan_column < context_.by_histogram.size(); ++scan_column) {
        const bool is_split_column = context_.column(scan_column).column == split.column;
        cuts.push_back(is_split_column
                           ? Cut{}
                           : best_cut(counter, item.data(), surrogate_scan.rules, total, scan_column, range, false));
    }
    return surrogate_scan.to_surrogates(task, training(), context_.by_histogram, context_.binned, cuts, pool);
}

// --- dividing ---

template <TargetCounter Counter>
void SortedRows<Counter>::partition(int node, uint64_t node_key, const Split& split,
                                    const std::vector<Split>& surrogates, int first, ThreadPool&) {
    const ProfileTimer watch(context_.profile, &Profile::partitioning);
    const std::vector<Column>& columns = training().table.columns;
    const RowRange whole = nodes_[node].range;
    const size_t children = static_cast<size_t>(split.children());
    std::vector<size_t> start(children + 2, 0); // the last child is no child: rows that stop here
    bool any_fractional = false;
    for (size_t at = whole.begin; at < whole.end; ++at) {
        const uint32_t row = row_[member_[at]];
        int child = routed_child(split, surrogates, columns, row);
        if (child == random_child) child = draw_child(split.share, node_key, hash_row(columns, row));
        any_fractional = any_fractional || child == fractional;
        child_[member_[at]] = child;
        ++start[static_cast<size_t>(child < 0 ? split.children() : child) + 1];
    }
    if (any_fractional) return partition_fractional(split, whole, first);
    start[0] = whole.begin;
    for (size_t c = 0; c <= children; ++c) start[c + 1] += start[c];
    const std::vector<uint16_t> members(member_.begin() + whole.begin, member_.begin() + whole.end);
    std::vector<size_t> next = start;
    for (const uint16_t member : members) {
        const int32_t child = child_[member];
        member_[next[child < 0 ? children : static_cast<size_t>(child)]++] = member;
    }
    nodes_[node].first = first;
    nodes_[node].children = static_cast<int>(children);
    for (size_t c = 0; c < children; ++c) nodes_[first + c] = {{start[c], start[c + 1]}, node};
}

// A row that is spread goes to many children, in parts.
template <TargetCounter Counter>
void SortedRows<Counter>::partition_fractional(const Split& split, RowRange range, int first) {
    if constexpr (std::is_integral_v<Item>) {
        throw std::logic_error("rows are spread, but have no weights");
    } else {
        for (int c = 0; c < split.children(); ++c) nodes_[first + c].own = std::make_unique<OwnedRows>();
        for (size_t at = range.begin; at < range.end; ++at) {
            const uint16_t member = member_[at];
            share_weight(split, child_[member], item_[member].weight, [&](int child, int64_t weight) {
                OwnedRows& own = *nodes_[first + child].own;
                own.row.push_back(row_[member]);
                own.item.push_back(item_[member]);
                own.item.back().weight = weight;
            });
        }
    }
}

// The columns of a node, divided as its rows were; put off until a child is asked about, for many never are.
template <TargetCounter Counter>
void SortedRows<Counter>::partition_columns(int parent) {
    const Node& whole = nodes_[parent];
    const size_t begin = whole.range.begin, end = whole.range.end;
    const size_t children = static_cast<size_t>(whole.children);
    std::vector<size_t> start;
    for (size_t at = begin; at < end; ++at) child_[member_[at]] = static_cast<int32_t>(children);
    for (size_t c = 0; c < children; ++c) {
        Node& child = nodes_[whole.first + c];
        child.parent = -1;
        start.push_back(child.range.begin);
        for (size_t at = child.range.begin; at < child.range.end; ++at) child_[member_[at]] = static_cast<int32_t>(c);
    }
    start.push_back(children > 0 ? nodes_[whole.first + whole.children - 1].range.end : begin);
    const bool all_in_two = children == 2 && start[2] == end;
    std::vector<size_t> next;
    for (size_t scan_column = 0; scan_column < context_.by_histogram.size(); ++scan_column) {
        if (slot_[scan_column] < 0) continue;
        RankedRow* order = this->order(scan_column);
        if (all_in_two) { // the lower child stays in place, without a branch
            size_t low = begin, high = 0;
            for (size_t at = begin; at < end; ++at) {
                const RankedRow ranked = order[at];
                const size_t up = static_cast<size_t>(child_[ranked.row]);
                order[low] = ranked;
                spare_[high] = ranked;
                low += 1 - up;
                high += up;
            }
            std::copy_n(spare_.begin(), high, order + low);
            continue;
        }
        std::copy(order + begin, order + end, spare_.begin());
        next = start;
        for (size_t i = 0; i < end - begin; ++i) order[next[static_cast<size_t>(child_[spare_[i].row])]++] = spare_[i];
    }
}

template class SortedRows<TwoClassCounter<Criterion::gini>>;
template class SortedRows<TwoClassCounter<Criterion::information_gain>>;
template class SortedRows<TwoClassCounter<Criterion::misclassification>>;
template class SortedRows<ClassCounter<Criterion::gini>>;
template class SortedRows<ClassCounter<Criterion::gini, max_fixed_classes>>;
template class SortedRows<ClassCounter<Criterion::information_gain>>;
template class SortedRows<ClassCounter<Criterion::misclassification>>;
template class SortedRows<MomentCounter>;
template class SortedRows<WeightedClassCounter<Criterion::gini>>;
template class SortedRows<WeightedClassCounter<Criterion::information_gain>>;
template class SortedRows<WeightedClassCounter<Criterion::misclassification>>;
template class SortedRows<WeightedMomentCounter>;

} // namespace tw

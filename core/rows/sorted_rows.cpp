#include "rows/sorted_rows.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "base/hash.hpp"
#include "rows/column_order.hpp"
#include "rows/early_stop.hpp"
#include "rows/exhaustive_rows.hpp"
#include "rows/row_router.hpp"
#include "threshold/surrogate_scan.hpp"

namespace tw {

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
      spare_(rows.size()),
      spare_member_(rows.size()),
      bound_(bounds_columns<Counter> ? rows.size() : 0) {
    const ProfileTimer watch(context.profile, &Profile::sorting);
    if (static_cast<int64_t>(rows.size()) > max_sorted_rows) throw std::logic_error("SortedRows: too many rows");
    nodes_[0].range = {0, rows.size()};
    for (size_t i = 0; i < rows.size(); ++i) member_[i] = static_cast<uint16_t>(i);
    for (const ScanColumn scan_column : slot_.indices()) {
        if (slot_[scan_column] >= 0) order_rows(context, row_, scan_column, order(scan_column));
    }
    complete_ = std::is_same_v<Counter, MomentCounter> && !has_missing_levels(context, rows);
    for (const ScanColumn i : slot_.indices()) complete_ = complete_ && !context.column(i).has_missing;
}

template <TargetCounter Counter>
SortedRows<Counter>::SortedRows(const SearchContext<Counter>& context, std::unique_ptr<OwnedRows> own)
    : SortedRows(context, own->row, own->item) {
    own_ = std::move(own);
}

template <TargetCounter Counter>
std::vector<MakeRows> SortedRows<Counter>::detach(std::span<const int> nodes) {
    std::vector<MakeRows> makers;
    for (const int node : nodes) {
        makers.push_back([this, node] { return std::make_unique<SortedRows>(context_, std::move(nodes_[node].own)); });
    }
    return makers;
}

// Gives every column that may be cut a slot; returns how many there are. In exact columns one bin is one value.
template <TargetCounter Counter>
size_t SortedRows<Counter>::find_changing() {
    const IndexedVector<BinnedColumn, uint8_t> changes = changing_columns(context_.binned, row_);
    int slots = 0;
    for (const ScanColumn scan_column : slot_.indices()) {
        if (changes[context_.by_histogram[scan_column]] != 0 || !context_.column(scan_column).exact)
            slot_[scan_column] = slots++;
    }
    return static_cast<size_t>(slots);
}

template <TargetCounter Counter>
Total SortedRows<Counter>::total(int node) const {
    if (const OwnedRows* own = nodes_[node].own.get()) return total_of_items<Counter>(context_, own->row, own->item);
    // Classes are counted without a look at the table.
    constexpr bool rows_needed = !counts_classes<Counter>;
    return total_of_items<Counter>(context_, rows_needed ? at_node(row_, node) : SmallVector<uint32_t, few_rows>{},
                                   at_node(item_, node));
}

// --- choosing ---

template <TargetCounter Counter>
template <CutCounter AnyCounter>
Words<AnyCounter> SortedRows<Counter>::count(const AnyCounter& counter, const typename AnyCounter::Item* item,
                                             ScanColumn scan_column, RowRange range) const {
    Words<AnyCounter> words = zero_words(counter);
    if (range.begin == range.end) return words;
    const RankedRow* order = this->order(scan_column);
    for (size_t at = range.begin; at < range.end; ++at) counter.add(words.data(), item[order[at].row]);
    return words;
}

template <TargetCounter Counter>
template <CutCounter AnyCounter>
SortedCut SortedRows<Counter>::best_cut(NodeCuts<AnyCounter>& node, ScanColumn scan_column, double wanted) const {
    const auto& [counter, item, rules, total, range, tries_missing, complete, bound] = node;
    SortedCut found{{}, range.begin, range.end};
    found.cut.constant = true;
    if (slot_[scan_column] < 0) return found;
    const RankedRow* order = this->order(scan_column);
    if (order[range.begin].rank == order[range.end - 1].rank) return found; // most columns of a small node
    size_t& end = found.known_end;
    if (context_.column(scan_column).has_missing) {
        while (end > range.begin && order[end - 1].rank == missing_rank) --end;
    }
    std::optional<CutScorer<AnyCounter>> incomplete;
    if (end < range.end) {
        const Words<AnyCounter> missing = count(counter, item, scan_column, {end, range.end});
        incomplete.emplace(counter, rules, total.data(), missing.data(), tries_missing);
    }
    if (bound && !incomplete && wanted > no_gain && (*bound)({order + range.begin, range.end - range.begin}) < wanted) {
        found.cut.constant = false;
        return found;
    }
    CutScorer<AnyCounter>& scorer = incomplete ? *incomplete : node.complete;
    Cut& cut = found.cut;
    cut.has_missing = scorer.has_missing();
    cut.constant =
        end == range.begin || (order[range.begin].rank == order[end - 1].rank && !(cut.has_missing && tries_missing));
    const auto value = [&](size_t at) { return context_.numbers(scan_column)[row_[order[at].row]]; };
    FirstOfBest<LowSide> best;
    if constexpr (ScoresRows<AnyCounter>) {
        best = best_by_medians(counter, rules, scorer, {order + range.begin, end - range.begin}, {item, row_.size()});
    } else {
        SortedScan<AnyCounter> scan(counter, rules, scorer, context_.reciprocals, order + range.begin,
                                    end - range.begin, item);
        best = scan.best(total, wanted, [&](size_t at) { return value(range.begin + at); }, cut.tried);
    }
    if (!best.found()) return found;
    cut.gain = best.winner().score;
    const LowSide low = best.winner().item;
    if (low.entries == 0) return found;
    cut.low_rows = low.rows;
    found.low_end = range.begin + low.entries;
    cut.at = cut.below = value(found.low_end - 1);
    cut.above = value(found.low_end);
    return found;
}

template <TargetCounter Counter>
std::vector<std::vector<Candidate>> SortedRows<Counter>::candidates(const Task& task,
                                                                    const std::vector<OpenNode>& open_nodes,
                                                                    ThreadPool&) {
    const ProfileTimer watch(context_.profile, &Profile::sorted_scan);
    std::vector<std::vector<Candidate>> found;
    for (const OpenNode& open_node : open_nodes) found.push_back(candidates_of(task, open_node));
    return found;
}

template <TargetCounter Counter>
void SortedRows<Counter>::scan_columns(const CutRules& rules, const Words<Counter>& total, RowRange range,
                                       double unbeatable, ScannedColumns& found) {
    const SearchPlan& plan = context_.plan;
    const size_t levels = plan.scans_levels && orders_levels<Counter> ? context_.by_value.size() : 0;
    found.cuts.assign(context_.scanned(), {});
    found.gains.assign(context_.scanned(), no_gain);
    found.level_gains.assign(levels, no_gain);
    EarlyStop stop(rules, unbeatable);
    NodeCuts<Counter> node{context_.counter, item_.data(), rules, total, range, plan.tries_missing};
    const bool best_alone = only_best_matters(context_.recipe, plan) && !plan.draws_columns;
    if constexpr (bounds_columns<Counter>) {
        const bool by_gain = best_alone && !rules.ordered && !rules.ties.in_order;
        if (by_gain && range.end - range.begin >= ColumnBound::least_rows) {
            const std::span<const uint16_t> members(member_.data() + range.begin, range.end - range.begin);
            bound_.set<Counter>(total, rules, context_.reciprocals, members, item_.data());
            node.bound = &bound_;
        }
    }
    const uint16_t* member = member_.data() + range.begin;
    size_t next = 0; // of the columns of levels
    const auto levels_settle = [&](TableColumn before) {
        for (; next < levels && context_.by_value[next] < before; ++next) {
            found.level_gains[next] = level_scan_.best_gain_of_rows(
                context_, rules, total, context_.by_value[next], range.end - range.begin,
                [&](size_t at) { return row_[member[at]]; }, [&](size_t at) { return item_[member[at]]; });
            if (stop.settles(found.level_gains[next])) return true;
        }
        return false;
    };
    for (const ScanColumn i : slot_.indices()) {
        if (levels_settle(context_.column(i).column)) return;
        found.cuts[i] = best_cut(node, i, best_alone ? stop.least_wanted() : no_gain);
        found.gains[i] = found.cuts[i].cut.gain;
        if (stop.settles(found.gains[i])) return;
    }
    levels_settle(TableColumn(plan.columns.size()));
    return;
}

// Every cut of the sorted rows is scanned, so the search of threshold/search.hpp, which bounds what it does not scan,
// comes down to its last step.
template <TargetCounter Counter>
std::vector<Candidate> SortedRows<Counter>::candidates_of(const Task& task, const OpenNode& open_node) {
    const auto& [node, facts] = open_node;
    if (nodes_[node].parent >= 0) partition_columns(nodes_[node].parent);
    const RowRange range = nodes_[node].range;
    const SmallVector<Item, few_rows> items = at_node(item_, node);
    Words<Counter> total = zero_words(context_.counter);
    for (const Item& item : items) context_.counter.add(total.data(), item);
    const CutRules rules = cut_rules(task, context_, facts, target_range_of<Item>(items));
    auto& [cuts, gains, of_levels] = scanned_;
    const double unbeatable =
        unbeatable_gain(task, context_, rules, facts, total, std::span<const Item>(items), complete_);
    scan_columns(rules, total, range, unbeatable, scanned_);
    std::vector<Entry> entries;
    const auto make_by_value = [&](TableColumn column) {
        if (entries.empty()) entries = entries_of<Item>(at_node(row_, node), items);
        return candidate_by_value(task, training(), facts, column, entries);
    };
    std::vector<Candidate> by_value; // where columns are drawn, made before
    if (context_.plan.draws_columns) {
        for (const TableColumn column : context_.by_value) by_value.push_back(make_by_value(column));
        const std::vector<int> drawn = drawn_columns(task, context_, facts, by_value,
                                                     [&](ScanColumn column) { return cuts[column].cut.constant; });
        for (const ScanColumn i : cuts.indices()) {
            if (is_drawn(drawn, context_.column(i).column.value)) continue;
            cuts[i].cut = {.constant = true};
            gains[i] = no_gain;
        }
    }
    const std::vector<CandidateColumn> columns = candidate_columns(task, context_, rules, gains, of_levels);
    const auto make = [&](const CandidateColumn& made) {
        if (!made.scan_column) {
            return by_value.empty() ? make_by_value(made.column) : std::move(by_value[made.by_value]);
        }
        if (entries.empty() && context_.plan.counts_sides) entries = entries_of<Item>(at_node(row_, node), items);
        const ScanColumn scan_column = *made.scan_column;
        const auto& [cut, low_end, known_end] = cuts[scan_column];
        const Words<Counter> low = count(context_.counter, item_.data(), scan_column, {range.begin, low_end});
        const Words<Counter> missing = count(context_.counter, item_.data(), scan_column, {known_end, range.end});
        Words<Counter> known = total;
        for (int w = 0; w < context_.counter.words(); ++w) known[w] -= missing[w];
        return to_candidate(task, context_, facts, made.column, cut, known, missing, low, [&, &of = cut] {
            return histogram_of_sides(training(), entries, made.column.value, values_beside(of));
        });
    };
    std::vector<Candidate> candidates;
    candidates.reserve(columns.size());
    for (const CandidateColumn& column : columns) {
        candidates.push_back(make(column));
        if (candidates.size() == 1 && wins_every_tie(task, context_, rules, facts, gains, of_levels, candidates[0])) {
            break;
        }
    }
    return candidates;
}

template <TargetCounter Counter>
std::vector<std::vector<Surrogate>> SortedRows<Counter>::surrogates(const Task& task,
                                                                    const std::vector<ChosenSplit>& chosen,
                                                                    ThreadPool& pool) {
    std::vector<std::vector<Surrogate>> found;
    for (const ChosenSplit& one : chosen) found.push_back(surrogates_of(task, one, pool));
    return found;
}

template <TargetCounter Counter>
std::vector<Surrogate> SortedRows<Counter>::surrogates_of(const Task& task, const ChosenSplit& chosen,
                                                          ThreadPool& pool) {
    const auto& [node, split] = chosen;
    const std::vector<Entry> entries = whole_rows(training().measure, at_node(row_, node));
    if (!can_scan_surrogates(context_, *split)) return surrogates_by_value(task, training(), entries, *split, pool);
    if (nodes_[node].parent >= 0) partition_columns(nodes_[node].parent);
    const SurrogateCounter counter;
    const RowRange range = nodes_[node].range;
    const std::vector<SurrogateCounter::Item> items = surrogate_items(training(), *split, entries);
    std::vector<SurrogateCounter::Item> item(row_.size()); // of each row of the subtree
    Words<SurrogateCounter> total = zero_words(counter);
    for (size_t i = 0; i < items.size(); ++i) {
        item[member_[range.begin + i]] = items[i];
        counter.add(total.data(), items[i]);
    }
    const CutRules rules = surrogate_cut_rules();
    NodeCuts<SurrogateCounter> node_cuts{counter, item.data(), rules, total, range, false};
    IndexedVector<ScanColumn, AgreeingCut> cuts(context_.scanned());
    for (const ScanColumn i : cuts.indices()) {
        if (context_.column(i).column.value == split->column) continue;
        const auto [cut, low_end, known_end] = best_cut(node_cuts, i, no_gain);
        if (cut.low_rows == 0) continue;
        cuts[i] = {cut, count(counter, item.data(), i, {range.begin, low_end}),
                   count(counter, item.data(), i, {known_end, range.end})};
    }
    std::vector<Histogram> by_value(context_.by_value.size());
    for (size_t i = 0; i < by_value.size(); ++i) {
        const int column = context_.by_value[i].value;
        if (column != split->column) by_value[i] = child_histogram(training(), entries, column, *split);
    }
    return to_surrogates(task, context_, *split, total, cuts, by_value);
}

// --- partitioning ---

template <TargetCounter Counter>
void SortedRows<Counter>::partition(std::vector<NodeSplit> splits, int64_t, ThreadPool&) {
    const ProfileTimer watch(context_.profile, &Profile::partitioning);
    nodes_.resize(nodes_after(splits));
    for (const NodeSplit& at : splits) partition_node(at);
}

template <TargetCounter Counter>
void SortedRows<Counter>::partition_node(const NodeSplit& at_node) {
    const auto& [node, node_key, split, surrogates, first] = at_node;
    const std::vector<Column>& columns = training().table.columns;
    const RowRange whole = nodes_[node].range;
    const size_t children = static_cast<size_t>(split.children());
    SmallVector<size_t, 4> start; // the last child is no child: rows that stop here
    start.assign(children + 2, 0);
    bool any_fractional = false;
    for (size_t at = whole.begin; at < whole.end; ++at) {
        const uint32_t row = row_[member_[at]];
        const int child = route_row(split, surrogates, columns, row, split.share, node_key).child;
        any_fractional = any_fractional || child == fractional;
        child_[member_[at]] = child;
        ++start[static_cast<size_t>(child < 0 ? split.children() : child) + 1];
    }
    if (any_fractional) return partition_fractional(split, whole, first);
    start[0] = whole.begin;
    for (size_t c = 0; c <= children; ++c) start[c + 1] += start[c];
    const auto begin = member_.begin() + static_cast<std::ptrdiff_t>(whole.begin);
    const auto end =
        std::copy(begin, begin + static_cast<std::ptrdiff_t>(whole.end - whole.begin), spare_member_.begin());
    SmallVector<size_t, 4> next = start;
    for (const uint16_t member : std::span(spare_member_.begin(), end)) {
        const int32_t child = child_[member];
        member_[next[child < 0 ? children : static_cast<size_t>(child)]++] = member;
    }
    nodes_[node].first = first;
    nodes_[node].children = static_cast<int>(children);
    for (size_t c = 0; c < children; ++c) nodes_[first + c] = {{start[c], start[c + 1]}, node};
}

// A fractional row goes to many children, with shares of its weight.
template <TargetCounter Counter>
void SortedRows<Counter>::partition_fractional(const Split& split, RowRange range, int first) {
    if constexpr (!WeightedItem<Item>) {
        throw std::logic_error("fractional rows need weights");
    } else {
        for (int c = 0; c < split.children(); ++c) nodes_[first + c].own = std::make_unique<OwnedRows>();
        for (size_t at = range.begin; at < range.end; ++at) {
            const uint16_t member = member_[at];
            share_weight(split.share, child_[member], item_[member].weight, [&](int child, int64_t weight) {
                OwnedRows& own = *nodes_[first + child].own;
                own.row.push_back(row_[member]);
                own.item.push_back(item_[member]);
                own.item.back().weight = weight;
            });
        }
    }
}

// The columns of a node, partitioned as its rows were; put off until a child is searched, for many never are.
template <TargetCounter Counter>
void SortedRows<Counter>::partition_columns(int parent) {
    const Node& whole = nodes_[parent];
    const size_t begin = whole.range.begin, end = whole.range.end;
    const size_t children = static_cast<size_t>(whole.children);
    SmallVector<size_t, 4> start;
    for (size_t at = begin; at < end; ++at) child_[member_[at]] = static_cast<int32_t>(children);
    for (size_t c = 0; c < children; ++c) {
        Node& child = nodes_[whole.first + c];
        child.parent = -1;
        start.push_back(child.range.begin);
        for (size_t at = child.range.begin; at < child.range.end; ++at) child_[member_[at]] = static_cast<int32_t>(c);
    }
    start.push_back(children > 0 ? nodes_[whole.first + whole.children - 1].range.end : begin);
    const bool all_in_two = children == 2 && start[2] == end;
    for (const ScanColumn scan_column : slot_.indices()) {
        if (slot_[scan_column] < 0) continue;
        RankedRow* order = this->order(scan_column);
        if (all_in_two) {
            partition_in_two({order + begin, end - begin}, child_, spare_);
            continue;
        }
        partition_in_order({order + begin, end - begin}, child_, start, spare_, order);
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
template class SortedRows<Repeated<FewOfTwoClasses>>;
template class SortedRows<Repeated<TwoClassCounter<Criterion::gini>>>;
template class SortedRows<Repeated<ClassCounter<Criterion::gini, max_fixed_classes>>>;
template class SortedRows<Repeated<MomentCounter>>;
template class SortedRows<WeightedClassCounter>;
template class SortedRows<WeightedMomentCounter>;
template class SortedRows<ClassPairCounter>;
template class SortedRows<MomentPairCounter>;
template class SortedRows<MedianCounter<int64_t>>;
template class SortedRows<MedianCounter<Sum>>;

} // namespace tw

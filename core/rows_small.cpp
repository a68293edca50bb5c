#include "rows_small.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "draw.hpp"
#include "imitate.hpp"
#include "rows_cpu.hpp"

namespace tw {
namespace {

constexpr size_t few = 48; // so few rows are ordered without a look at their codes

struct Keyed {
    double value;
    uint16_t row;
};

void order_by_value(Keyed* begin, Keyed* end) {
    constexpr std::ptrdiff_t insertion = 16;
    if (end - begin > insertion) {
        std::sort(begin, end, [](const Keyed& a, const Keyed& b) { return a.value < b.value; });
        return;
    }
    for (Keyed* at = begin + 1; at < end; ++at) {
        const Keyed moved = *at;
        Keyed* to = at;
        for (; to > begin && moved.value < to[-1].value; --to) *to = to[-1];
        *to = moved;
    }
}

} // namespace

template <class Counter>
RowsSmall<Counter>::RowsSmall(const Ground<Counter>& ground, std::span<const uint32_t> rows,
                              std::span<const Item> items)
    : ground_(ground),
      row_(rows),
      item_(items),
      member_(rows.size()),
      slot_(ground.swept.size(), -1),
      order_(rows.size() * find_changing()),
      part_(1),
      child_(rows.size()),
      spare_(rows.size()) {
    const Stopwatch watch(ground.account, &Account::ordering);
    part_[0].stretch = {0, rows.size()};
    for (size_t i = 0; i < rows.size(); ++i) member_[i] = static_cast<uint16_t>(i);
    for (size_t which = 0; which < ground.swept.size(); ++which) {
        if (slot_[which] >= 0) order_column(which);
    }
}

template <class Counter>
RowsSmall<Counter>::RowsSmall(const Ground<Counter>& ground, std::unique_ptr<Own> own)
    : RowsSmall(ground, own->row, own->item) {
    own_ = std::move(own);
}

template <class Counter>
std::unique_ptr<Rows> RowsSmall<Counter>::detach(int node) {
    return std::make_unique<RowsSmall>(ground_, std::move(part_[node].own));
}

// Gives every column that may be cut a slot; returns how many there are. Where codes are values, one code is one value.
template <class Counter>
size_t RowsSmall<Counter>::find_changing() {
    const std::vector<CodedColumn>& columns = ground_.coded.columns();
    std::vector<uint8_t> changes(columns.size(), 0);
    const uint8_t* first = ground_.coded.row(row_[0]);
    for (const uint32_t row : row_) {
        const uint8_t* code = ground_.coded.row(row);
        for (size_t c = 0; c < changes.size(); ++c) changes[c] |= static_cast<uint8_t>(code[c] ^ first[c]);
    }
    int slots = 0;
    for (size_t which = 0; which < slot_.size(); ++which) {
        if (changes[static_cast<size_t>(ground_.swept[which])] != 0 || !ground_.column(which).exact)
            slot_[which] = slots++;
    }
    return static_cast<size_t>(slots);
}

// Rows are sorted by counting their codes, then by value within a code; missing values come last. Where codes are
// values, they stand for them.
template <class Counter>
void RowsSmall<Counter>::order_column(size_t which) {
    const size_t rows = row_.size(), at = static_cast<size_t>(ground_.swept[which]);
    const Numbers& numbers = ground_.numbers(which);
    const CodedColumn& column = ground_.column(which);
    std::vector<Keyed> keyed(rows);
    size_t known = 0;
    if (rows <= few && !column.exact) {
        size_t last = rows;
        for (size_t i = 0; i < rows; ++i) {
            const double x = numbers[row_[i]];
            keyed[x == x ? known++ : --last] = {x, static_cast<uint16_t>(i)};
        }
        order_by_value(keyed.data(), keyed.data() + known);
    } else {
        std::array<uint16_t, 257> next{};
        for (const uint32_t row : row_) ++next[ground_.coded.row(row)[at] + 1];
        for (size_t code = 1; code < next.size(); ++code)
            next[code] = static_cast<uint16_t>(next[code] + next[code - 1]);
        known = next[column.bins];
        const std::array<uint16_t, 257> start = next;
        for (size_t i = 0; i < rows; ++i) {
            const uint8_t code = ground_.coded.row(row_[i])[at];
            const bool by_code = column.exact || code >= column.bins;
            keyed[next[code]++] = {by_code ? code : column.known(code, numbers[row_[i]]), static_cast<uint16_t>(i)};
        }
        for (int code = 0; code < column.bins && !column.exact; ++code) {
            if (start[code + 1] - start[code] > 1) {
                order_by_value(keyed.data() + start[code], keyed.data() + start[code + 1]);
            }
        }
    }
    Place* order = this->order(which);
    uint16_t rank = 0;
    for (size_t i = 0; i < rows; ++i) {
        if (i > 0 && i < known && keyed[i].value != keyed[i - 1].value) ++rank;
        order[i] = {i < known ? rank : missing_rank, keyed[i].row};
    }
}

template <class Counter>
std::vector<uint32_t> RowsSmall<Counter>::table_rows(int node) const {
    const Stretch stretch = part_[node].stretch;
    std::vector<uint32_t> rows;
    rows.reserve(stretch.end - stretch.begin);
    for (size_t at = stretch.begin; at < stretch.end; ++at) rows.push_back(row_[member_[at]]);
    return rows;
}

template <class Counter>
std::vector<typename RowsSmall<Counter>::Item> RowsSmall<Counter>::node_items(int node) const {
    const Stretch stretch = part_[node].stretch;
    std::vector<Item> items;
    items.reserve(stretch.end - stretch.begin);
    for (size_t at = stretch.begin; at < stretch.end; ++at) items.push_back(item_[member_[at]]);
    return items;
}

template <class Counter>
Total RowsSmall<Counter>::total(int node) const {
    if (const Own* own = part_[node].own.get()) return total_of_rows<Counter>(ground_, own->row, own->item);
    // Classes are counted without a look at the table.
    constexpr bool rows_needed = std::is_same_v<Counter, Sums> || !std::is_integral_v<Item>;
    return total_of_rows<Counter>(ground_, rows_needed ? table_rows(node) : std::vector<uint32_t>{}, node_items(node));
}

// What is seen of each row is `item[row]`: its target, or the child it should be sent to.
template <class Counter>
template <class Seen>
Cut RowsSmall<Counter>::best_cut(const Seen& seen, const typename Seen::Item* item, const Yardstick& node,
                                 const Words<Seen>& total, size_t which, Stretch stretch, bool places_missing) const {
    Cut none;
    none.constant = true;
    if (slot_[which] < 0) return none;
    const Place* order = this->order(which);
    size_t end = stretch.end;
    if (order[stretch.begin].rank == order[end - 1].rank) return none; // most columns of a small node
    Words<Seen> missing = no_words(seen);
    if (ground_.column(which).gaps) {
        while (end > stretch.begin && order[end - 1].rank == missing_rank)
            seen.add(missing.data(), item[order[--end].row]);
    }
    Scale<Seen> scale(seen, node, total.data(), missing.data(), places_missing);
    Cut best;
    best.gaps = scale.gaps();
    best.constant = end == stretch.begin || order[stretch.begin].rank == order[end - 1].rank;
    if (best.gaps && places_missing) best.constant = false;
    size_t best_at = 0;
    const auto value = [&](size_t at) { return ground_.numbers(which)[row_[order[at].row]]; };
    const auto offer = [&](size_t at, int64_t low_rows, double merit) {
        if (!node.beats(merit, best.merit)) return;
        best.merit = merit;
        best.low_rows = low_rows;
        best_at = at;
    };
    const bool in_order = node.in_order();
    [[maybe_unused]] const bool simple = !best.gaps && !(scale.least_weight() > 1) && !in_order;
    bool done = false;
    if constexpr (requires { typename Seen::Running; }) {
        if (Seen::is_running && simple) {
            typename Seen::Running running(total.data(), seen.words());
            const int64_t rows = static_cast<int64_t>(end - stretch.begin);
            for (size_t at = stretch.begin; at + 1 < end; ++at) {
                running.move(item[order[at].row]);
                const int64_t low_rows = static_cast<int64_t>(at + 1 - stretch.begin);
                if (order[at].rank == order[at + 1].rank || low_rows < node.least || rows - low_rows < node.least)
                    continue;
                offer(at, low_rows,
                      ground_.inverses(static_cast<double>(running.low_squares), low_rows) +
                          ground_.inverses(static_cast<double>(running.high_squares), rows - low_rows) -
                          scale.reference());
            }
            done = true;
        }
    }
    Words<Seen> low = no_words(seen);
    for (size_t at = stretch.begin; at + 1 < end && !done; ++at) {
        seen.add(low.data(), item[order[at].row]);
        if (order[at].rank == order[at + 1].rank) continue;
        if constexpr (Seen::is_strict) {
            // Between two rows of one class that are alone with their values no cut is better than one at either side.
            if (simple && node.least <= 1 && item[order[at].row] == item[order[at + 1].row] &&
                (at == stretch.begin || order[at - 1].rank != order[at].rank) &&
                (at + 2 >= end || order[at + 2].rank != order[at + 1].rank)) {
                continue;
            }
        }
        if (in_order && !may_part(value(at), value(at + 1), node.gap())) continue;
        const int64_t low_rows = seen.rows(low.data());
        const double merit = scale.of(low.data(), low_rows, ground_.inverses);
        if (in_order && merit > nothing) ++best.tried;
        offer(at, low_rows, merit);
    }
    if (best.low_rows > 0) {
        best.below = value(best_at);
        best.above = value(best_at + 1);
    }
    if (const double apart = scale.of_missing(); node.beats(apart, best.merit)) {
        best.merit = apart;
        best.low_rows = 0;
    }
    return best;
}

// What lies below a cut.
template <class Counter>
Words<Counter> RowsSmall<Counter>::low_side(size_t which, const Cut& cut, Stretch stretch) const {
    Words<Counter> low = no_words(ground_.counter);
    if (cut.low_rows == 0) return low;
    const Place* order = this->order(which) + stretch.begin;
    for (int64_t i = 0; i < cut.low_rows; ++i) ground_.counter.add(low.data(), item_[order[i].row]);
    return low;
}

// Both sides of a cut and the rows without a value, which come last.
template <class Counter>
Sides RowsSmall<Counter>::sides(size_t which, const Cut& cut, Stretch stretch) const {
    const Measure& measure = source().measure;
    const size_t width = static_cast<size_t>(measure.sums());
    Sides sides{std::vector<Sum>(3 * width, 0), {0, 0, 0}};
    const Place* order = this->order(which);
    const size_t cut_at = cut.low_rows > 0 ? stretch.begin + static_cast<size_t>(cut.low_rows) : stretch.end;
    for (size_t at = stretch.begin; at < stretch.end; ++at) {
        const auto [rank, row] = order[at];
        const size_t side = rank == missing_rank ? 2 : at < cut_at ? 0 : 1;
        measure.add(&sides.stats[side * width], {row_[row], weight_of_item(item_[row])});
        ++sides.rows[side];
    }
    return sides;
}

template <class Counter>
std::vector<std::vector<Candidate>> RowsSmall<Counter>::candidates(const Task& task, const std::vector<Ask>& asks,
                                                                   Pool&) {
    const Stopwatch watch(ground_.account, &Account::scanning);
    const bool places_missing = scores_missing(ground_.recipe.missing);
    std::vector<std::vector<Candidate>> found;
    found.reserve(asks.size());
    for (const Ask& ask : asks) {
        if (part_[ask.node].parent >= 0) divide_columns(part_[ask.node].parent);
        const std::vector<Item> items = node_items(ask.node);
        Words<Counter> total = no_words(ground_.counter);
        for (const Item& item : items) ground_.counter.add(total.data(), item);
        const Yardstick node = yardstick(task, ground_.counter, ask.facts, span_of<Item>(items));
        std::vector<Cut> cuts;
        cuts.reserve(ground_.swept.size());
        for (size_t which = 0; which < ground_.swept.size(); ++which) {
            cuts.push_back(
                best_cut(ground_.counter, item_.data(), node, total, which, part_[ask.node].stretch, places_missing));
        }
        const std::vector<Telling> all = tellings(ground_, worth_telling(task, node, cuts));
        std::vector<Entry> entries;
        if (!ground_.gathered.empty()) entries = entries_of<Item>(table_rows(ask.node), items);
        std::vector<Candidate>& told = found.emplace_back();
        for (const auto [which, column] : all) {
            if (which < 0) {
                told.push_back(tell_gathered(task, source(), ask.facts, column, entries));
                continue;
            }
            const Cut& cut = cuts[static_cast<size_t>(which)];
            const Stretch stretch = part_[ask.node].stretch;
            told.push_back(is_rated(task, ground_, cut)
                               ? rated_cut(task, source(), ask.facts, column, cut, sides(which, cut, stretch))
                               : candidate_of(task, ground_.counter, ask.facts, column, cut, total,
                                              low_side(static_cast<size_t>(which), cut, stretch)));
        }
    }
    return found;
}

template <class Counter>
std::vector<Surrogate> RowsSmall<Counter>::surrogates(const Task& task, int node, const Split& split, Pool& pool) {
    const std::vector<uint32_t> rows = table_rows(node);
    const ImitationTask imitated(source(), split, rows, ground_.swept);
    if (!imitated.possible) return gather_surrogates(task, source(), imitated.entries, split, pool);
    if (part_[node].parent >= 0) divide_columns(part_[node].parent);
    const Imitation counter;
    const Stretch stretch = part_[node].stretch;
    std::vector<Imitation::Item> item(row_.size());
    Words<Imitation> total = no_words(counter);
    for (size_t i = 0; i < rows.size(); ++i) {
        item[member_[stretch.begin + i]] = imitated.items[i];
        counter.add(total.data(), imitated.items[i]);
    }
    std::vector<Cut> cuts;
    for (size_t which = 0; which < ground_.swept.size(); ++which) {
        const bool asked = ground_.column(which).column == split.column;
        cuts.push_back(asked ? Cut{} : best_cut(counter, item.data(), imitated.yard, total, which, stretch, false));
    }
    return imitated.tell(task, source(), ground_.swept, ground_.coded, cuts, pool);
}

// --- dividing ---

template <class Counter>
void RowsSmall<Counter>::divide(int node, uint64_t node_key, const Split& split, const std::vector<Split>& surrogates,
                                int first, Pool&) {
    const Stopwatch watch(ground_.account, &Account::dividing);
    const std::vector<Column>& columns = source().table.columns;
    const Stretch whole = part_[node].stretch;
    const size_t children = static_cast<size_t>(split.children());
    std::vector<size_t> start(children + 2, 0); // the last child is no child: rows that stop here
    bool any_spread = false;
    for (size_t at = whole.begin; at < whole.end; ++at) {
        const uint32_t row = row_[member_[at]];
        int child = destination(split, surrogates, columns, row);
        if (child == random_child) child = draw_child(split.share, node_key, hash_row(columns, row));
        any_spread = any_spread || child == spread;
        child_[member_[at]] = child;
        ++start[static_cast<size_t>(child < 0 ? split.children() : child) + 1];
    }
    if (any_spread) return divide_and_spread(split, whole, first);
    start[0] = whole.begin;
    for (size_t c = 0; c <= children; ++c) start[c + 1] += start[c];
    const std::vector<uint16_t> members(member_.begin() + whole.begin, member_.begin() + whole.end);
    std::vector<size_t> next = start;
    for (const uint16_t member : members) {
        const int32_t child = child_[member];
        member_[next[child < 0 ? children : static_cast<size_t>(child)]++] = member;
    }
    part_[node].first = first;
    part_[node].children = static_cast<int>(children);
    for (size_t c = 0; c < children; ++c) part_[first + c] = {{start[c], start[c + 1]}, node};
}

// A row that is spread goes to many children, in parts.
template <class Counter>
void RowsSmall<Counter>::divide_and_spread(const Split& split, Stretch stretch, int first) {
    if constexpr (std::is_integral_v<Item>) {
        throw std::logic_error("rows are spread, but have no weights");
    } else {
        for (int c = 0; c < split.children(); ++c) part_[first + c].own = std::make_unique<Own>();
        for (size_t at = stretch.begin; at < stretch.end; ++at) {
            const uint16_t member = member_[at];
            send_parts(split, child_[member], item_[member].weight, [&](int child, int64_t weight) {
                Own& own = *part_[first + child].own;
                own.row.push_back(row_[member]);
                own.item.push_back(item_[member]);
                own.item.back().weight = weight;
            });
        }
    }
}

// The columns of a node, divided as its rows were; put off until a child is asked about, for many never are.
template <class Counter>
void RowsSmall<Counter>::divide_columns(int parent) {
    const Part& whole = part_[parent];
    const size_t begin = whole.stretch.begin, end = whole.stretch.end;
    const size_t children = static_cast<size_t>(whole.children);
    std::vector<size_t> start;
    for (size_t at = begin; at < end; ++at) child_[member_[at]] = static_cast<int32_t>(children);
    for (size_t c = 0; c < children; ++c) {
        Part& child = part_[whole.first + c];
        child.parent = -1;
        start.push_back(child.stretch.begin);
        for (size_t at = child.stretch.begin; at < child.stretch.end; ++at)
            child_[member_[at]] = static_cast<int32_t>(c);
    }
    start.push_back(children > 0 ? part_[whole.first + whole.children - 1].stretch.end : begin);
    const bool all_in_two = children == 2 && start[2] == end;
    std::vector<size_t> next;
    for (size_t which = 0; which < ground_.swept.size(); ++which) {
        if (slot_[which] < 0) continue;
        Place* order = this->order(which);
        if (all_in_two) { // the lower child stays in place, without a branch
            size_t low = begin, high = 0;
            for (size_t at = begin; at < end; ++at) {
                const Place place = order[at];
                const size_t up = static_cast<size_t>(child_[place.row]);
                order[low] = place;
                spare_[high] = place;
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

template class RowsSmall<TwoClasses<Rule::gini>>;
template class RowsSmall<TwoClasses<Rule::information_gain>>;
template class RowsSmall<TwoClasses<Rule::misclassification>>;
template class RowsSmall<ManyClasses<Rule::gini>>;
template class RowsSmall<ManyClasses<Rule::gini, few_classes>>;
template class RowsSmall<ManyClasses<Rule::information_gain>>;
template class RowsSmall<ManyClasses<Rule::misclassification>>;
template class RowsSmall<Sums>;
template class RowsSmall<WeightedClasses>;
template class RowsSmall<WeightedSums>;

} // namespace tw

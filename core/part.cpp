#include "part.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string_view>

#include "cut.hpp"
#include "imitate.hpp"
#include "rows_cpu.hpp"
#include "send.hpp"
#include "sweep.hpp"

namespace tw {
namespace {

constexpr uint64_t few_cells = 256;

// A row in a cell of a range.
struct Held {
    uint64_t cell;
    uint32_t row;
};

// The cells of each range, from the rows in it; what a row adds is `item(row)`.
template <class Counter, class ItemOf>
void put_cells(const Counter& counter, std::span<const Range> ranges, std::vector<std::vector<Held>>& held,
               std::vector<Cells>& out, const ItemOf& item) {
    using Word = typename Counter::Word;
    const size_t words = static_cast<size_t>(counter.words());
    for (size_t i = 0; i < held.size(); ++i) {
        std::vector<Held>& inside = held[i];
        Cells& cells = out.emplace_back();
        auto& counts = cells.counts.template of<Word>();
        const uint64_t last = (ranges[i].last - ranges[i].first) >> ranges[i].shift;
        if (last < few_cells) { // counted where they stand
            std::vector<Word> all((last + 1) * words, Word{0});
            for (const auto& [cell, row] : inside) counter.add(&all[cell * words], item(row));
            for (uint64_t cell = 0; cell <= last; ++cell) {
                if (counter.listed(&all[cell * words]) == 0) continue;
                cells.cell.push_back(cell);
                for (size_t w = 0; w < words; ++w) counts.push_back(all[cell * words + w]);
            }
            continue;
        }
        std::sort(inside.begin(), inside.end(), [](const Held& a, const Held& b) { return a.cell < b.cell; });
        for (const auto& [cell, row] : inside) {
            if (cells.cell.empty() || cells.cell.back() != cell) {
                cells.cell.push_back(cell);
                counts.resize(counts.size() + words, 0);
            }
            counter.add(reinterpret_cast<Word*>(&counts[counts.size() - words]), item(row));
        }
    }
}

// A part in the middle of growing.
class Part {
public:
    Part(const Table& table, const Answers& answers, const Recipe& recipe, const Prepared& prepared)
        : table_(table),
          recipe_(recipe),
          plan_(plan_of(prepared)),
          measure_(measure_by(plan_, prepared, answers, table.rows)),
          source_(source_of(table, measure_, recipe, prepared)),
          coded_(table, plan_.coded, prepared.by_row, prepared.by_column) {}

    Places at_root() const {
        LargeVector<uint32_t> rows = taking_part(table_, recipe_, measure_);
        Places places;
        places.node = std::vector<int32_t>{0};
        places.start = std::vector<int64_t>{0, static_cast<int64_t>(rows.size())};
        places.row = std::move(rows);
        return places;
    }

    Places sent(const Places& places, const std::vector<Sending>& sendings) const;
    void say(const Question& question, const Places& places, Answer& answer) const;

private:
    // A node's rows where they lie, and their weights where rows were divided.
    struct Stretch {
        std::span<const uint32_t> rows;
        std::span<const int64_t> weights;
    };
    Stretch stretch(const Places& places, int node) const {
        const auto* at = std::find(places.node.begin(), places.node.end(), node);
        if (at == places.node.end()) return {};
        const size_t place = static_cast<size_t>(at - places.node.begin());
        const size_t begin = static_cast<size_t>(places.start[place]);
        const size_t size = static_cast<size_t>(places.start[place + 1]) - begin;
        return {places.row.span().subspan(begin, size),
                places.weight.empty() ? std::span<const int64_t>{} : places.weight.span().subspan(begin, size)};
    }
    std::vector<Entry> entries(const Stretch& stretch) const {
        std::vector<Entry> all;
        all.reserve(stretch.rows.size());
        for (size_t i = 0; i < stretch.rows.size(); ++i) {
            const uint32_t row = stretch.rows[i];
            all.push_back({row, stretch.weights.empty() ? measure_.weight_of(row) : stretch.weights[i]});
        }
        return all;
    }

    template <class Act>
    void with_items(std::span<const uint32_t> rows, const Act& act) const {
        with_counter(counted_rule(recipe_.rule), measure_, [&](const auto& counter) {
            using Counter = std::decay_t<decltype(counter)>;
            std::vector<typename Counter::Item> items;
            items.reserve(rows.size());
            for (const uint32_t row : rows) items.push_back(counter.item(row));
            act(counter, items);
        });
    }

    Total total(const Stretch& stretch) const;
    Known values(const Places& places, int column) const;
    Counts histogram(std::span<const uint32_t> rows) const;
    Counts imitation_histogram(const Stretch& stretch, const Split& split) const;
    void count_cells(std::span<const uint32_t> rows, std::span<const Range> ranges, const Split* imitated,
                     std::vector<Cells>& out) const;
    Sides edges(std::span<const uint32_t> rows, const CutAt& cut) const;
    Bundle bundle(const Stretch& stretch) const;

    const Table& table_;
    const Recipe& recipe_;
    Plan plan_;
    Measure measure_;
    Source source_;
    CodedTable coded_;
};

// --- dividing ---

Places Part::sent(const Places& places, const std::vector<Sending>& sendings) const {
    std::vector<int32_t> node;
    std::vector<int64_t> start{0};
    LargeVector<uint32_t> row;
    std::vector<int64_t> weight;
    const bool in_parts = recipe_.missing == Missing::spread;
    row.reserve(places.row.size());
    if (in_parts) weight.reserve(places.row.size());
    const auto close = [&](int id) {
        node.push_back(id);
        start.push_back(static_cast<int64_t>(row.size()));
    };
    for (const int32_t id : places.node) {
        const auto found =
            std::find_if(sendings.begin(), sendings.end(), [id](const Sending& s) { return s.node == id; });
        const Stretch here = stretch(places, id);
        if (found == sendings.end()) {
            row.insert(row.end(), here.rows.begin(), here.rows.end());
            if (in_parts) {
                for (const Entry& entry : entries(here)) weight.push_back(entry.weight);
            }
            close(id);
            continue;
        }
        const size_t children = static_cast<size_t>(found->split.children());
        if (!plan_.coded.empty() && !in_parts) {
            std::vector<int32_t> child(here.rows.size());
            std::vector<size_t> count(children, 0);
            const Sender sender(coded_, table_.columns, found->split, found->surrogates, found->key);
            sender.send(here.rows, child.data(), count);
            for (size_t c = 0; c < children; ++c) {
                const size_t begin = row.size();
                row.resize(begin + count[c]);
                uint32_t* to = row.data() + begin;
                for (size_t i = 0; i < child.size(); ++i) {
                    if (child[i] == static_cast<int32_t>(c)) *to++ = here.rows[i];
                }
                close(found->first + static_cast<int>(c));
            }
            continue;
        }
        std::vector<std::vector<Entry>> to(children);
        send_entries(table_.columns, found->key, found->split, found->surrogates, entries(here),
                     [&](int child, const Entry& entry) { to[static_cast<size_t>(child)].push_back(entry); });
        for (size_t c = 0; c < children; ++c) {
            for (const Entry& entry : to[c]) row.push_back(entry.row);
            if (in_parts) {
                for (const Entry& entry : to[c]) weight.push_back(entry.weight);
            }
            close(found->first + static_cast<int>(c));
        }
    }
    return {std::move(node), std::move(start), std::move(row), std::move(weight)};
}

// --- counting ---

// Most tables have classes and undivided rows, which need no entries.
Total Part::total(const Stretch& stretch) const {
    if (measure_.n_classes == 0 || !measure_.weight.empty()) return total_of(source_, entries(stretch));
    std::vector<int64_t> count(static_cast<size_t>(measure_.n_classes), 0);
    for (const uint32_t row : stretch.rows) ++count[static_cast<size_t>(measure_.classes[row])];
    Total total = total_of(source_, {});
    std::copy(count.begin(), count.end(), total.all.stats.begin());
    total.all.rows[0] = static_cast<int64_t>(stretch.rows.size());
    return total;
}

Known Part::values(const Places& places, int column) const {
    const Stretch root = stretch(places, 0);
    Known known;
    for (const auto& [value, weight] : known_values(table_.columns[static_cast<size_t>(column)], measure_, root.rows)) {
        known.value.push_back(value);
        known.weight.push_back(weight);
    }
    return known;
}

Counts Part::histogram(std::span<const uint32_t> rows) const {
    Counts counts;
    with_items(rows, [&](const auto& counter, const auto& items) {
        using Counter = std::decay_t<decltype(counter)>;
        using Word = typename Counter::Word;
        const size_t bins = static_cast<size_t>(coded_.bins()), words = static_cast<size_t>(counter.words());
        const size_t narrow = static_cast<size_t>(counter.narrow_words());
        auto& all = counts.template of<Word>();
        all.assign(bins * words, 0);
        std::vector<typename Counter::Narrow> some(bins * narrow);
        const std::span<const typename Counter::Item> added(items);
        for (size_t at = 0; at < rows.size(); at += narrow_rows) {
            const size_t size = std::min<size_t>(narrow_rows, rows.size() - at);
            std::fill(some.begin(), some.end(), typename Counter::Narrow{0});
            count_rows(counter, coded_, rows.subspan(at, size), added.subspan(at, size), narrow, some.data());
            for (size_t bin = 0; bin < bins; ++bin) {
                counter.widen(reinterpret_cast<Word*>(&all[bin * words]), &some[bin * narrow]);
            }
        }
    });
    return counts;
}

Counts Part::imitation_histogram(const Stretch& stretch, const Split& split) const {
    const Imitation counter;
    const std::vector<Imitation::Item> items = imitation_items(source_, split, entries(stretch));
    std::vector<Imitation::Word> all(static_cast<size_t>(coded_.bins() * counter.words()), 0);
    count_rows(counter, coded_, stretch.rows, std::span<const Imitation::Item>(items),
               static_cast<size_t>(counter.words()), all.data());
    Counts counts;
    counts.wide.assign(all.begin(), all.end());
    return counts;
}

// The ranges are of one column at one node, rising.
void Part::count_cells(std::span<const uint32_t> rows, std::span<const Range> ranges, const Split* imitated,
                       std::vector<Cells>& out) const {
    const size_t place = static_cast<size_t>(ranges[0].place);
    const CodedColumn& column = plan_.coded[place];
    const Numbers& numbers = table_.columns[static_cast<size_t>(column.column)].numbers;
    const auto bin_of = [&](uint64_t key) {
        const auto end = std::lower_bound(column.end.begin(), column.end.end(), number_of(key));
        return static_cast<size_t>(end - column.end.begin());
    };
    std::array<int32_t, 256> first_in; // the first range that reaches into a bin
    first_in.fill(-1);
    for (size_t i = ranges.size(); i-- > 0;) {
        for (size_t bin = bin_of(ranges[i].first); bin <= bin_of(ranges[i].last); ++bin) {
            first_in[bin] = static_cast<int32_t>(i);
        }
    }
    first_in[static_cast<size_t>(column.bins)] = -1; // missing
    std::vector<std::vector<Held>> held(ranges.size());
    const uint8_t* codes = coded_.column(place);
    for (const uint32_t row : rows) {
        const int32_t from = first_in[codes[row]];
        if (from < 0) continue;
        const uint64_t key = key_of(numbers[row]);
        size_t i = static_cast<size_t>(from);
        while (i < ranges.size() && key > ranges[i].last) ++i;
        if (i == ranges.size() || key < ranges[i].first) continue;
        held[i].push_back({(key - ranges[i].first) >> ranges[i].shift, row});
    }
    if (imitated) {
        const Column& asked = table_.columns[static_cast<size_t>(imitated->column)];
        return put_cells(Imitation{}, ranges, held, out, [&](uint32_t row) {
            const int child = route(*imitated, asked, row);
            return Imitation::Item{child < 0 ? Imitation::no_child : child, measure_.weight_of(row)};
        });
    }
    with_counter(counted_rule(recipe_.rule), measure_, [&](const auto& counter) {
        put_cells(counter, ranges, held, out, [&](uint32_t row) { return counter.item(row); });
    });
}

// Only the values next to a cut of known numbers. Of either side, only the bin nearest to it is looked into.
Sides Part::edges(std::span<const uint32_t> rows, const CutAt& cut) const {
    const size_t place = static_cast<size_t>(coded_.place_of(cut.column));
    const CodedColumn& column = plan_.coded[place];
    const Numbers& numbers = table_.columns[static_cast<size_t>(cut.column)].numbers;
    const uint8_t* codes = coded_.column(place);
    const int cut_bin =
        static_cast<int>(std::lower_bound(column.end.begin(), column.end.end(), cut.at) - column.end.begin());
    const double far = std::numeric_limits<double>::infinity();
    Sides sides{{}, {}, -far, far};
    int low = 0, high = column.bins - 1; // nearest bins with rows so far
    for (const uint32_t row : rows) {
        const int code = codes[row];
        if (code < low || code > high) continue; // missing ones too
        const double x = numbers[row];
        if (x <= cut.at) {
            low = std::min(code, cut_bin);
            sides.below = std::max(sides.below, x);
        } else {
            high = std::max(code, cut_bin);
            sides.above = std::min(sides.above, x);
        }
    }
    return sides;
}

Bundle Part::bundle(const Stretch& stretch) const {
    const size_t columns = table_.columns.size();
    Bundle bundle;
    bundle.single.resize(columns);
    bundle.numbers.resize(columns);
    bundle.codes.resize(columns);
    for (size_t i = 0; i < columns; ++i) {
        const Column& column = table_.columns[i];
        for (const uint32_t row : stretch.rows) {
            if (column.kind != Kind::number) {
                bundle.codes[i].push_back(column.codes[row]);
            } else if (column.numbers.single()) {
                bundle.single[i].push_back(static_cast<float>(column.numbers[row]));
            } else {
                bundle.numbers[i].push_back(column.numbers[row]);
            }
        }
    }
    for (const uint32_t row : stretch.rows) {
        if (measure_.n_classes > 0) {
            bundle.classes.push_back(measure_.classes[row]);
        } else {
            bundle.target.push_back(measure_.raw[row]);
        }
    }
    if (!measure_.weight.empty()) {
        for (const Entry& entry : entries(stretch)) bundle.weight.push_back(entry.weight);
    }
    return bundle;
}

void Part::say(const Question& question, const Places& places, Answer& answer) const {
    for (const int column : question.values) answer.values.push_back(values(places, column));
    for (const int node : question.totals) {
        Total total = this->total(stretch(places, node));
        answer.low.push_back(total.low);
        answer.high.push_back(total.high);
        answer.totals.push_back(std::move(total.all));
    }
    for (const int node : question.histograms) answer.histograms.push_back(histogram(stretch(places, node).rows));
    std::vector<Entry> here;
    for (size_t i = 0; i < question.buckets.size(); ++i) {
        const ColumnAt& asked = question.buckets[i];
        if (i == 0 || question.buckets[i - 1].node != asked.node) here = entries(stretch(places, asked.node));
        answer.buckets.push_back(count_target(source_, here, asked.column));
    }
    for (const Imitated& asked : question.imitated) {
        const std::vector<Entry> all = entries(stretch(places, asked.node));
        for (const int column : asked.columns) {
            answer.imitated.push_back(count_children(source_, all, column, asked.split));
        }
    }
    for (const Imitated& asked : question.imitations) {
        if (!question.ranges.empty()) break;
        answer.imitations.push_back(imitation_histogram(stretch(places, asked.node), asked.split));
    }
    const std::span<const Range> ranges(question.ranges);
    for (size_t begin = 0, end = 0; begin < ranges.size(); begin = end) {
        const Range& first = ranges[begin];
        while (end < ranges.size() && ranges[end].node == first.node && ranges[end].place == first.place) ++end;
        const Split* imitated =
            first.imitation < 0 ? nullptr : &question.imitations[static_cast<size_t>(first.imitation)].split;
        count_cells(stretch(places, first.node).rows, ranges.subspan(begin, end - begin), imitated, answer.ranges);
    }
    for (const CutAt& cut : question.cuts) {
        const Stretch here = stretch(places, cut.node);
        answer.cuts.push_back(cut.counted ? count_sides(source_, entries(here), cut.column, cut.is_cut, cut.at)
                                          : edges(here.rows, cut));
    }
    for (const int node : question.rows) answer.rows.push_back(bundle(stretch(places, node)));
}

} // namespace

Answered answer_for_part(const Table& table, const Answers& answers, const Recipe& recipe, const Prepared& prepared,
                         const Places& places, const Question& question) {
    Answered answered;
    Answer& answer = answered.answer;
    if (question.look > 0) {
        Units every; // as if every row had weight
        every.needs = needs_of(recipe.rule);
        every.n_classes = answers.n_classes;
        Answers unweighted = answers;
        unweighted.weight = nullptr;
        answer.look =
            Look{weigh(answers, table.rows), target_facts(unweighted, table.rows, every), sketch(table, question.look)};
    }
    if (question.heaviest) answer.weight_parts = weight_parts(answers, table.rows, *question.heaviest);
    if (question.weighed) answer.weighed = target_facts(answers, table.rows, *question.weighed);
    if (question.plan) answered.prepared = prepare(table, answers, *question.plan);
    if (!question.bounds.empty()) {
        answered.prepared = with_bounds(answered.prepared.value_or(prepared), table, question.bounds);
    }
    const Prepared& now = answered.prepared ? *answered.prepared : prepared;
    if (now.plan.empty()) return answered;
    const Part part(table, answers, recipe, now);
    if (question.plan) answered.places = part.at_root();
    if (!question.sendings.empty()) {
        answered.places = part.sent(answered.places ? *answered.places : places, question.sendings);
    }
    part.say(question, answered.places ? *answered.places : places, answer);
    return answered;
}

} // namespace tw

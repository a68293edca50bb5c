#include "rows/histogram_surrogates.hpp"

#include "rows/exhaustive_rows.hpp"
#include "rows/memory_cuts.hpp"
#include "threshold/surrogate_scan.hpp"

namespace tw {

std::vector<Surrogate> surrogates_by_histogram(const Task& task, const SearchColumns& columns,
                                               const ChosenSplit& chosen, std::span<const uint32_t> rows,
                                               ThreadPool& pool) {
    const Split& split = *chosen.split;
    const TrainingTable& training = columns.training;
    const std::vector<Entry> entries = whole_rows(training.measure, rows);
    if (!can_scan_surrogates(columns, split)) return surrogates_by_value(task, training, entries, split, pool);
    const SurrogateCounter counter;
    const std::vector<SurrogateCounter::Item> items = surrogate_items(training, split, entries);
    const size_t words = static_cast<size_t>(counter.words()), bins = static_cast<size_t>(columns.binned.bins());
    std::vector<SurrogateCounter::Word> histogram(static_cast<size_t>(columns.cells()) * words, 0);
    SurrogateCounter::Word* level_cells = histogram.data() + bins * words;
    count_rows(counter, columns.binned, rows, items, words, histogram.data());
    count_codes(counter, *columns.levels, columns.levels->cells(), rows, items, words, level_cells);
    NodeSearches<SurrogateCounter> searches(1);
    searches[0].node = chosen.node;
    searches[0].rules = surrogate_cut_rules();
    Words<SurrogateCounter> total = zero_words(counter);
    for (const SurrogateCounter::Item& item : items) counter.add(total.data(), item);
    searches[0].scan.emplace(counter, columns, histogram.data(), false, total);
    MemoryCuts<SurrogateCounter> source(columns);
    source.add(searches[0], rows, items);
    std::vector<Histogram> by_value(columns.by_value.size());
    pool.run(static_cast<int64_t>(by_value.size()), [&](int64_t i) {
        const TableColumn column = columns.by_value[i];
        if (column.value == split.column) return;
        const LevelColumn* counted = columns.counted(column);
        by_value[i] = counted ? child_histogram_of_cells(*counted, &level_cells[counted->start * counter.words()])
                              : child_histogram(training, entries, column.value, split);
    });
    return find_surrogates(task, columns, {&chosen, 1}, searches, by_value, source, pool)[0];
}

} // namespace tw

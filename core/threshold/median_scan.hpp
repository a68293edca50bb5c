// The best cut of a binned column where rows are needed to score a cut: the absolute error.
//
// A node's rows lie by rising target, and go from the high side of a cut to the low one, bin after bin. No cut inside
// a bin leaves less than the absolute deviations of the rows before the bin plus those of the rows after it, each
// from its own median: more rows only add to them. Bins that could still hold the best cut are sorted.
#pragma once

#include <algorithm>
#include <vector>

#include "threshold/histogram_scan.hpp"

namespace tw {

// Both sides of a cut. `all`: the rows of `items` are high at first, otherwise none.
template <ScoresRows Counter>
class MedianSides {
public:
    using Item = typename Counter::Item;

    MedianSides(std::span<const Item> items, bool all) : low_(items, false), high_(items, all) {}

    void add(size_t row) { high_.insert(row); }
    void leave_out(size_t row) { high_.erase(row); }
    void move(size_t row) {
        high_.erase(row);
        low_.insert(row);
    }
    auto low_deviations() { return low_.deviations(); }
    auto high_deviations() { return high_.deviations(); }
    auto deviations() { return low_.deviations() + high_.deviations(); }

private:
    typename Counter::Median low_, high_;
};

template <CutCounter Counter>
class MedianScan {
public:
    using Item = typename Counter::Item;
    using Word = typename Counter::Word;

    // `rows` of the node by rising target.
    MedianScan(const HistogramScan<Counter>& scan, const CutRules& rules, ScanColumn scan_column,
               std::span<const uint32_t> rows, std::span<const Item> items)
        : scan_(scan),
          counter_(scan.counter()),
          rules_(rules),
          scan_column_(scan_column),
          column_(scan.column(scan_column)),
          rows_(rows),
          items_(items),
          scorer_(scan.scorer(rules, scan_column)),
          sides_(items, true),
          start_(static_cast<size_t>(column_.bins) + 2, 0),
          by_bin_(rows.size()) {
        sort_by_bin();
        for (const uint32_t row : rows_of(column_.bins)) sides_.leave_out(row);
        undivided_ = sides_.deviations();
    }

    // The cuts between bins, and what a cut inside each bin could gain.
    EdgeScan scan_bin_edges() {
        EdgeScan edges;
        edges.most_of_bin.assign(static_cast<size_t>(column_.bins), no_gain);
        for (int bin = 0; bin < column_.bins; ++bin) {
            const std::span<const uint32_t> own = rows_of(bin);
            if (own.empty()) continue;
            const auto before = sides_.low_deviations();
            for (const uint32_t row : own) sides_.move(row);
            take_words(bin);
            const auto after = sides_.high_deviations();
            edges.most_of_bin[static_cast<size_t>(bin)] = static_cast<double>(undivided_ - before - after);
            const int64_t low_rows = counter_.rows(low_.data());
            if (low_rows == scorer_.known_rows()) break;
            edges.several = true;
            if (is_allowed()) rules_.ties.offer(edges.best, gain(), {bin, low_rows});
        }
        scan_.note_rows(scorer_, scan_column_, edges);
        return edges;
    }

    // The column's cut; those of less gain than `to_beat()` may be left out.
    template <class ToBeat>
    LocatedCut<Counter> refine(const EdgeScan& edges, const ToBeat& to_beat) {
        FirstOfBest<InnerCut<Counter>> inner;
        const auto could_hold = [&](int bin) {
            return !column_.exact && rows_of(bin).size() >= 2 &&
                   edges.most_of_bin[static_cast<size_t>(bin)] >=
                       rules_.least_wanted(std::max(to_beat(), inner.most()));
        };
        int last = column_.bins - 1;
        while (last >= 0 && !could_hold(last)) --last;
        bool constant = edges.constant;
        for (int bin = 0; bin <= last; ++bin) {
            const std::span<const uint32_t> own = rows_of(bin);
            if (!could_hold(bin)) {
                for (const uint32_t row : own) sides_.move(row);
                take_words(bin);
                continue;
            }
            scan_inside(bin, inner);
            if (!edges.several) constant = sorted_.front().value == sorted_.back().value;
        }
        LocatedCut<Counter> found = scan_.best_cut(rules_, scan_column_, edges, inner);
        found.cut.constant = constant;
        return found;
    }

private:
    struct ValueAndRow {
        double value;
        uint32_t row; // its number among those of the node
    };

    // Numbers of the node's rows, bin after bin, those without a value last.
    void sort_by_bin() {
        const Word* bin = scan_.bins(scan_column_);
        const size_t words = static_cast<size_t>(counter_.words());
        for (size_t b = 0; b < static_cast<size_t>(column_.bins); ++b) {
            start_[b + 1] = start_[b] + static_cast<size_t>(counter_.listed(bin + b * words));
        }
        start_.back() = rows_.size();
        std::vector<size_t> next(start_.begin(), start_.end() - 1);
        const uint8_t* bin_of = scan_.columns().bin_of_row(scan_column_);
        for (size_t i = 0; i < rows_.size(); ++i) by_bin_[next[bin_of[rows_[i]]]++] = static_cast<uint32_t>(i);
    }
    std::span<const uint32_t> rows_of(int bin) const {
        const size_t b = static_cast<size_t>(bin);
        return {by_bin_.data() + start_[b], start_[b + 1] - start_[b]};
    }
    void take_words(int bin) {
        const Word* words = scan_.bins(scan_column_) + bin * counter_.words();
        for (int w = 0; w < counter_.words(); ++w) low_[w] += words[w];
    }

    double gain() { return static_cast<double>(undivided_ - sides_.deviations()); }
    bool is_allowed() const {
        Words<Counter> high = scorer_.known();
        for (int w = 0; w < counter_.words(); ++w) high[w] -= low_[w];
        return scorer_.is_enough(low_.data()) && scorer_.is_enough(high.data());
    }

    // Every cut between the values of a bin.
    void scan_inside(int bin, FirstOfBest<InnerCut<Counter>>& best) {
        const Numbers& numbers = scan_.columns().numbers(scan_column_);
        sorted_.clear();
        for (const uint32_t row : rows_of(bin)) sorted_.push_back({column_.known(bin, numbers[rows_[row]]), row});
        std::sort(sorted_.begin(), sorted_.end(),
                  [](const ValueAndRow& a, const ValueAndRow& b) { return a.value < b.value; });
        for (size_t i = 0; i < sorted_.size(); ++i) {
            const auto& [at, row] = sorted_[i];
            sides_.move(row);
            counter_.add(low_.data(), items_[row]);
            if (i + 1 == sorted_.size() || sorted_[i + 1].value == at || !is_allowed()) continue;
            const double found = gain();
            if (found > best.most()) {
                rules_.ties.offer(best, found, {at, counter_.rows(low_.data()), at, sorted_[i + 1].value, low_});
            }
        }
        if (scan_.columns().profile) scan_.columns().profile->refined_rows += static_cast<int64_t>(sorted_.size());
    }

    const HistogramScan<Counter>& scan_;
    const Counter& counter_;
    const CutRules& rules_;
    ScanColumn scan_column_;
    const ColumnBins& column_;
    std::span<const uint32_t> rows_;
    std::span<const Item> items_;
    CutScorer<Counter> scorer_;
    MedianSides<Counter> sides_;
    std::vector<size_t> start_; // of each bin in `by_bin_`
    std::vector<uint32_t> by_bin_;
    decltype(std::declval<MedianSides<Counter>>().deviations()) undivided_;
    Words<Counter> low_{}; // what lies on the low side
    std::vector<ValueAndRow> sorted_;
};

} // namespace tw

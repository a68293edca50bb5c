#include "threshold/plan.hpp"

#include <algorithm>

#include "binning/level_table.hpp"
#include "criterion/weighted_counters.hpp"
#include "split/branching.hpp"

namespace tw {
namespace {

template <Criterion criterion>
const char* name_of(const TwoClassCounter<criterion>&) {
    return "two classes";
}
template <Criterion criterion, int lanes>
const char* name_of(const ClassCounter<criterion, lanes>&) {
    return "classes";
}
const char* name_of(const WeightedClassCounter&) { return "weighted classes"; }
const char* name_of(const ClassPairCounter&) { return "weighted classes"; }
const char* name_of(const MomentPairCounter&) { return "weighted sums and squares"; }
const char* name_of(const MomentCounter&) { return "sums"; }
const char* name_of(const WeightedMomentCounter&) { return "weighted sums"; }
template <class Amount>
const char* name_of(const MedianCounter<Amount>& counter) {
    return counter.is_weighted ? "weighted rows" : "rows";
}

const char* counter_of(Criterion criterion, const Measure& measure, RowPlace place) {
    const char* name = nullptr;
    const auto take = [&](const auto& counter) { name = name_of(counter); };
    if (place == RowPlace::remote) {
        with_counter(counted_criterion(criterion), measure, take);
    } else {
        with_counter_of_rows(counted_criterion(criterion), measure, take);
    }
    return name;
}

bool is_ordered_search(const Recipe& recipe) {
    return recipe.threshold.min_gap > 0 || recipe.threshold.cut_penalty || recipe.tie_tolerance > 0;
}

// The choice by which numbers are searched value by value; null: histograms serve.
const char* choice_by_value(const Recipe& recipe, size_t columns, const char* counter, RowPlace place) {
    const ThresholdOptions& threshold = recipe.threshold;
    const bool remote = place == RowPlace::remote;
    if (!counter) return "criterion";
    if (recipe.numeric != Numeric::threshold) return "numeric";
    if (remote && (threshold.observed || threshold.min_side_rule || threshold.cut_penalty || threshold.min_gap > 0))
        return "numeric";
    if (remote && recipe.missing == Missing::fractional) return "missing";
    if (recipe.branching == Branching::merge) return "branching";
    if (remote && recipe.stopping.significance) return "stopping.significance";
    if (remote && recipe.stopping.max_features < static_cast<int>(columns)) return "stopping.max_features";
    // The search in order of values bounds bins by what they hold.
    if (scores_rows(recipe.criterion) && is_ordered_search(recipe))
        return recipe.tie_tolerance > 0 ? "tie_tolerance" : "numeric";
    // A tolerance of -ln p is none of a statistic.
    if (recipe.tie_tolerance > 0 && (remote || is_test(recipe.criterion))) return "tie_tolerance";
    return nullptr;
}

} // namespace

bool SearchPlan::uses_histograms() const {
    return counts_levels || std::any_of(columns.begin(), columns.end(), [](const Column& column) {
               return column.method == SearchMethod::histogram || column.method == SearchMethod::ordered;
           });
}

SearchPlan plan_search(const Recipe& recipe, const std::vector<Column>& columns, const Measure& measure,
                       const std::vector<bool>& has_missing, RowPlace place) {
    const ThresholdOptions& threshold = recipe.threshold;
    SearchPlan plan;
    plan.counter = counter_of(recipe.criterion, measure, place);
    plan.ordered = is_ordered_search(recipe);
    plan.needs_ranks = plan.ordered || threshold.observed;
    plan.tries_missing = scores_missing(recipe.missing);
    plan.draws_columns = recipe.stopping.max_features < static_cast<int>(columns.size());
    // Gain ratio and C4.5's penalty select the cut of largest gain within a column, but compare columns by another
    // number; with a tie tolerance the order of columns decides.
    plan.keeps_all_columns =
        recipe.criterion == Criterion::gain_ratio || threshold.cut_penalty || recipe.tie_tolerance > 0;
    // A p follows from the statistic and from the rows that have a value; without them columns do not compare.
    const bool some_missing =
        has_missing.empty() || std::ranges::any_of(has_missing, [](bool is_missing) { return is_missing; });
    if (is_test(recipe.criterion) && some_missing && !plan.tries_missing) plan.keeps_all_columns = true;
    const bool pairs = scores_pairs(recipe.criterion), from_rows = scores_rows(recipe.criterion);
    plan.rates_sides = !measure.unit_weights || plan.keeps_all_columns || threshold.observed || pairs || from_rows ||
                       recipe.stopping.significance.has_value();
    plan.counts_sides = from_rows || (measure.n_classes == 0 && recipe.stopping.significance.has_value() && !pairs);
    plan.surrogates_by_value =
        recipe.branching != Branching::binary && recipe.missing == Missing::surrogates && recipe.max_surrogates > 0;
    // Where one order of the levels is enough, and nothing but the gain decides which column wins.
    plan.scans_levels = place == RowPlace::memory && recipe.branching == Branching::binary && measure.unit_weights &&
                        recipe.missing != Missing::own && recipe.missing != Missing::fractional &&
                        !plan.keeps_all_columns && !plan.draws_columns && !pairs && !from_rows &&
                        (measure.n_classes == 0 || measure.n_classes == 2);
    // A third child for missing values is more than a cut gives; and where they are tried on both sides, cuts are not
    // counted one by one, and medians are not followed.
    const bool own_child = recipe.missing == Missing::own && recipe.branching != Branching::binary;
    const bool counts_cuts = threshold.cut_penalty || recipe.tie_tolerance > 0;
    const bool by_value_if_missing = own_child || ((counts_cuts || from_rows) && plan.tries_missing);
    const char* choice = choice_by_value(recipe, columns.size(), plan.counter, place);
    const auto has_levels = [](const Column& column) { return column.kind != Kind::number; };
    plan.scans_levels = plan.scans_levels && !choice && std::ranges::any_of(columns, has_levels);
    plan.counts_levels =
        place == RowPlace::memory && plan.counter && !from_rows && std::ranges::any_of(columns, is_counted_by_level);
    for (size_t i = 0; i < columns.size(); ++i) {
        SearchPlan::Column& column = plan.columns.emplace_back();
        if (!columns[i].allowed) {
            column.method = SearchMethod::none;
        } else if (columns[i].kind != Kind::number) {
            column.reason = columns[i].kind == Kind::nominal ? "nominal" : "ordinal";
        } else if (choice) {
            column.reason = choice;
        } else if (by_value_if_missing && !has_missing.empty() && has_missing[i]) {
            column.reason = "missing";
        } else {
            column.method = plan.ordered ? SearchMethod::ordered : SearchMethod::histogram;
        }
    }
    return plan;
}

std::string to_text(const SearchPlan& plan) {
    std::string text = "counter: " + std::string(plan.counter ? plan.counter : "none");
    const auto add = [&](bool is_so, const char* what) {
        if (is_so) text += std::string("; ") + what;
    };
    add(plan.needs_ranks, "ranks of values");
    add(plan.tries_missing, "missing values on either side");
    add(plan.keeps_all_columns, "candidates of all columns");
    add(plan.rates_sides, "sides are rated");
    add(plan.counts_sides, "sides are counted from rows");
    add(plan.draws_columns, "columns are drawn");
    add(plan.counts_levels, "levels counted in large nodes");
    add(plan.scans_levels, "levels scanned before they are candidates");
    add(plan.surrogates_by_value, "surrogates by value");
    for (size_t i = 0; i < plan.columns.size(); ++i) {
        const SearchPlan::Column& column = plan.columns[i];
        text += "\ncolumn " + std::to_string(i) + ": ";
        switch (column.method) {
            case SearchMethod::histogram:
                text += "histogram";
                break;
            case SearchMethod::ordered:
                text += "histogram, in order of values";
                break;
            case SearchMethod::by_value:
                text += std::string("by value (") + column.reason + ")";
                break;
            case SearchMethod::none:
                text += "forbidden";
                break;
        }
    }
    return text;
}

} // namespace tw

// The search plan: which column of a table is searched how, decided once for a fit.
#pragma once

#include <string>
#include <vector>

#include "base/recipe.hpp"
#include "base/table.hpp"
#include "target/measure.hpp"

namespace tw {

enum class SearchMethod {
    histogram, // cuts between bins, then inside the bins that could hold a better one
    ordered,   // the same in rising order of values: the values present at a node matter (threshold/ordered_scan.hpp)
    by_value,  // target statistics of every value
    none,      // not at all: the column is forbidden
};
enum class RowPlace { memory, remote };

struct SearchPlan {
    struct Column {
        SearchMethod method = SearchMethod::by_value;
        const char* reason = nullptr; // by value: the kind of the column, or the choice of the recipe that requires it
    };
    std::vector<Column> columns;      // of the table
    const char* counter = nullptr;    // what histogram bins count; null: the criterion has no counter
    bool ordered = false;             // numbers by SearchMethod::ordered instead of histogram
    bool needs_ranks = false;         // the distinct values of numbers, in order
    bool tries_missing = false;       // a cut is scored with the missing values on either side
    bool keeps_all_columns = false;   // the best cut of every column is a candidate, not only those of the largest gain
    bool rates_sides = false;         // a candidate needs the sums of both sides, not only the gain of its cut
    bool counts_sides = false;        // and these from its rows: squares and medians are in no counter
    bool counts_levels = false;       // levels are counted in the histograms of large nodes
    bool scans_levels = false;        // the gain of levels is known before they are made candidates
    bool draws_columns = false;       // a node looks at some of the columns only (split/column_draw.hpp)
    bool surrogates_by_value = false; // splits into many children have surrogates that no cut gives

    bool uses_histograms() const;
};

// `has_missing`: of each column; empty: not known yet. `measure` needs no rows.
SearchPlan plan_search(const Recipe& recipe, const std::vector<Column>& columns, const Measure& measure,
                       const std::vector<bool>& has_missing, RowPlace place);

// One line for the whole, one per column.
std::string to_text(const SearchPlan& plan);

} // namespace tw

// A part's rows as counting likes them: coded and measured once for every tree.
//
// Comes in: the part's rows and the plan all parts share. Goes out: `Prepared`, plain arrays that can be kept anywhere,
// and from them the measure and the source that counting reads. Always holds: nothing is copied on the way back.
#pragma once

#include "array.hpp"
#include "gather.hpp"
#include "question.hpp"
#include "recipe.hpp"

namespace tw {

// Empty arrays are not needed.
struct Prepared {
    Array<uint8_t> plan; // the written form of the Plan
    Array<int64_t> weight, target, square, log;
    Array<uint32_t> rank;
    Array<uint8_t> by_row, by_column;
    Array<uint8_t> bounds;    // the written form of the binned columns' bounds
    Array<int32_t> bin_codes; // of binned columns, one after the other

    // Calls visit(name, array) for each.
    template <class Self, class Visit>
    static void each(Self& self, const Visit& visit) {
        visit("plan", self.plan);
        visit("weight", self.weight);
        visit("target", self.target);
        visit("square", self.square);
        visit("log", self.log);
        visit("rank", self.rank);
        visit("by_row", self.by_row);
        visit("by_column", self.by_column);
        visit("bounds", self.bounds);
        visit("bin_codes", self.bin_codes);
    }
};

Prepared prepare(const Table& table, const Answers& answers, const Plan& plan);
// The same with the bins of binned columns.
Prepared with_bounds(Prepared prepared, const Table& table, const std::vector<std::vector<double>>& bounds);

Plan plan_of(const Prepared& prepared);
Measure measure_by(const Plan& plan, const Prepared& prepared, const Answers& answers, int64_t rows);
Source source_of(const Table& table, const Measure& measure, const Recipe& recipe, const Prepared& prepared);

} // namespace tw

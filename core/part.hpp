// One part of a table in parts: it answers questions about its own rows.
//
// Comes in: the part's rows, what it remembers, a question. Goes out: its answer and what it remembers from now on.
// Always holds: a pure function; nothing that is handed in is changed. Rows that take no part are in no node.
#pragma once

#include <optional>

#include "question.hpp"
#include "recipe.hpp"

namespace tw {

// Rows as counting likes them, made once for every tree. Empty arrays are not needed.
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

// Which rows lie in which node: nodes one after the other. `weight` is empty where no row was ever divided.
struct Places {
    Array<int32_t> node;
    Array<int64_t> start; // one more than nodes
    Array<uint32_t> row;
    Array<int64_t> weight;

    template <class Self, class Visit>
    static void each(Self& self, const Visit& visit) {
        visit("node", self.node);
        visit("start", self.start);
        visit("row", self.row);
        visit("weight", self.weight);
    }
};

struct Answered {
    std::optional<Prepared> prepared; // where it changed
    std::optional<Places> places;
    Answer answer;
};

Answered answer_for_part(const Table& table, const Answers& answers, const Recipe& recipe, const Prepared& prepared,
                         const Places& places, const Question& question);

} // namespace tw

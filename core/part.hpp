// One part of a table in parts: it answers questions about its own rows.
//
// Comes in: the part's rows, what it remembers, a question. Goes out: its answer and what it remembers from now on.
// Always holds: a pure function; nothing that is handed in is changed. Rows that take no part are in no node.
#pragma once

#include <optional>

#include "prepared.hpp"
#include "question.hpp"

namespace tw {

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

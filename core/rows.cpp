#include "rows.hpp"

#include "pool.hpp"

namespace tw {

std::vector<std::vector<Candidate>> Rows::candidates(const Task& task, const std::vector<Ask>& asks, int threads) {
    const int64_t width = columns();
    std::vector<std::vector<Candidate>> found(asks.size(), std::vector<Candidate>(width));
    parallel_for(static_cast<int64_t>(asks.size()) * width, threads, [&](int64_t i) {
        const Ask& ask = asks[i / width];
        const int column = static_cast<int>(i % width);
        Candidate& candidate = found[i / width][column];
        candidate = best_candidate(task, ask.facts, facts(column), count(ask.node, column));
        candidate.column = column;
    });
    return found;
}

} // namespace tw

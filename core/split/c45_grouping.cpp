// C4.5's grouping of levels (option -s): blocks of levels are merged pair by pair while that pays.
//
// Details of C4.5 that show in its trees: levels of half a row or less share one last block; blocks of one class are
// merged first; of equally good mergers the later wins; while fewer than three blocks are large enough, the largest is
// left alone.
#include <algorithm>
#include <optional>

#include "base/interrupt.hpp"
#include "split/branching.hpp"

namespace tw {
namespace {

constexpr double epsilon = 1e-3;

struct Block {
    std::vector<int> bins;
    std::vector<double> stat;
    double weight = 0;
};

struct BlockScore {
    double gain = -epsilon;
    double value = -epsilon; // what is climbed: ratio, or gain
};

class BlockMerger {
public:
    BlockMerger(const Task& task, const Parent& parent) : task_(task), parent_(parent) {}

    BlockScore score_of(const std::vector<Block>& blocks) const {
        const auto filled = std::count_if(blocks.begin(), blocks.end(), [](const Block& b) { return b.weight >= 1; });
        if (filled < 2) return {};
        Children children(task_.measure.width());
        children.resize(static_cast<int>(blocks.size()));
        for (size_t i = 0; i < blocks.size(); ++i) {
            std::copy(blocks[i].stat.begin(), blocks[i].stat.end(), children.stat(static_cast<int>(i)));
        }
        const Rating rating = rate(task_, parent_, children);
        const bool by_ratio = task_.recipe.criterion == Criterion::gain_ratio;
        const bool counts = by_ratio ? rating.gain >= 0 && rating.information > epsilon : rating.gain > -epsilon;
        return {rating.gain, counts ? rating.score : -epsilon};
    }

    // Joins the last block into the gap so that the order of the others stays as the original keeps it.
    static std::vector<Block> joined(std::vector<Block> blocks, size_t a, size_t b) {
        Block& into = blocks[a];
        const Block& from = blocks[b];
        into.bins.insert(into.bins.end(), from.bins.begin(), from.bins.end());
        for (size_t c = 0; c < into.stat.size(); ++c) into.stat[c] += from.stat[c];
        into.weight += from.weight;
        std::swap(blocks[b], blocks.back());
        blocks.pop_back();
        return blocks;
    }

    static std::vector<Block> join_pure(std::vector<Block> blocks) {
        for (size_t a = 0; a + 1 < blocks.size(); ++a) {
            const auto first =
                std::find_if(blocks[a].stat.begin(), blocks[a].stat.end(), [](double w) { return w >= 0.1; });
            const size_t c = static_cast<size_t>(first - blocks[a].stat.begin());
            const auto pure = [&](const Block& b) { return c < b.stat.size() && b.stat[c] >= b.weight - 0.1; };
            if (!pure(blocks[a])) continue;
            for (size_t b = a + 1; b < blocks.size();) {
                if (pure(blocks[b])) {
                    blocks = joined(std::move(blocks), a, b);
                } else {
                    ++b;
                }
            }
        }
        return blocks;
    }

    // The blocks after climbing, or nothing if they are worth nothing.
    std::optional<std::vector<Block>> run(std::vector<Block> blocks) const {
        const bool by_ratio = task_.recipe.criterion == Criterion::gain_ratio;
        BlockScore now = score_of(blocks);
        const double half = now.gain / 2;
        while (blocks.size() > 2) {
            const auto large = std::count_if(blocks.begin(), blocks.end(), [&](const Block& b) {
                return b.weight >= task_.recipe.stopping.min_weight_two;
            });
            const auto largest = std::max_element(blocks.begin(), blocks.end(),
                                                  [](const Block& a, const Block& b) { return a.weight < b.weight; });
            const size_t barred = large >= 3 ? blocks.size() : static_cast<size_t>(largest - blocks.begin());
            std::optional<std::vector<Block>> best;
            BlockScore best_score{-epsilon, 0};
            for (size_t a = 0; a + 1 < blocks.size(); ++a) {
                check_interrupt();
                for (size_t b = a + 1; b < blocks.size(); ++b) {
                    if (a == barred || b == barred) continue;
                    std::vector<Block> next = joined(blocks, a, b);
                    const BlockScore w = score_of(next);
                    const bool enough_now = w.gain >= half && best_score.gain < half;
                    const bool forced = !best && (!by_ratio || large < 2);
                    if (enough_now || w.value >= best_score.value - rounding || forced) {
                        best = std::move(next);
                        best_score = w;
                    }
                }
            }
            if (!best || (by_ratio && large >= 2 && best_score.value < now.value + 1e-5)) break;
            blocks = std::move(*best);
            now = best_score;
        }
        if (now.value <= rounding) return std::nullopt; // nothing gained but rounding
        return blocks;
    }

private:
    const Task& task_;
    const Parent& parent_;
};

} // namespace

std::optional<Grouping> group_levels(const Task& task, const Parent& parent, const Histogram& histogram, int levels) {
    std::vector<Block> blocks;
    std::vector<int> light;
    int declared_seen = 0;
    for (int i = 0; i < histogram.size(); ++i) {
        Block block{{i}, std::vector<double>(task.measure.width()), 0};
        task.measure.read(histogram.bin(i).stat, block.stat.data());
        block.weight = weight_of(task.recipe.criterion, block.stat);
        declared_seen += level_of(histogram, i) != missing_level;
        if (block.weight > 0.5) {
            blocks.push_back(std::move(block));
        } else {
            light.push_back(i);
        }
    }
    const BlockMerger merger(task, parent);
    const auto grouped = merger.run(BlockMerger::join_pure(std::move(blocks)));
    if (!grouped) return std::nullopt;

    Grouping result;
    result.mapping.children = static_cast<int>(grouped->size());
    result.mapping.child.assign(histogram.size(), -1);
    for (size_t b = 0; b < grouped->size(); ++b) {
        for (int bin : (*grouped)[b].bins) result.mapping.child[bin] = static_cast<int>(b);
    }
    if (!light.empty() || declared_seen < levels) {
        result.rest = result.mapping.children++;
        for (int bin : light) result.mapping.child[bin] = result.rest;
    }
    return result;
}

} // namespace tw

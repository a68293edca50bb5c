// CHAID: levels that do not differ significantly are merged, then the split is tested with Bonferroni's correction.
//
// Groups stand in the order of their first member; of equally similar pairs the first is merged; the missing entries of
// an ordered column float: they join one group or stay alone, whichever gives the smaller p.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "split/branching.hpp"
#include "split/group_similarity.hpp"

namespace tw {
namespace {

struct Group {
    std::vector<int> members; // bins, rising
    bool missing = false;     // also holds the missing entries (ordered columns)
    std::vector<Sum> sums;
    std::vector<double> stat; // the sums as the criterion reads them
    int64_t rows = 0;
};
using Groups = std::vector<Group>;

double log_sum(double a, double b) {
    const double high = std::max(a, b);
    if (high == -std::numeric_limits<double>::infinity()) return high;
    return high + std::log(std::exp(a - high) + std::exp(b - high));
}

double log_choose(int n, int k) {
    if (k < 0 || k > n) return -std::numeric_limits<double>::infinity();
    double result = 0;
    for (int i = 1; i <= k; ++i) result += std::log(static_cast<double>(n - k + i) / i);
    return result;
}

// ln of the number of ways to put n things into k groups (Stirling's numbers of the second kind).
double log_stirling(int n, int k) {
    const double minus_infinity = -std::numeric_limits<double>::infinity();
    std::vector<double> row(k + 1, minus_infinity);
    row[0] = 0;
    for (int i = 1; i <= n; ++i) {
        for (int j = std::min(i, k); j >= 1; --j) row[j] = log_sum(row[j] + std::log(j), row[j - 1]);
        row[0] = minus_infinity;
    }
    return row[k];
}

class Merger {
public:
    Merger(const Task& task, const ColumnFacts& facts, const Histogram& histogram)
        : task_(task),
          choice_(task.recipe.merge),
          histogram_(histogram),
          ordered_(facts.kind == Kind::ordinal),
          own_(task.recipe.missing == Missing::own),
          floats_(own_ && ordered_ && histogram.has_missing()) {}

    Groups merged() const {
        Groups groups;
        for (int i = 0; i < histogram_.size(); ++i) groups.push_back(group_of(i));
        groups = choice_.exhaustive ? best_of_all_steps(groups) : while_alike(std::move(groups));
        return floats_ ? with_floating(groups) : groups;
    }

    // Groups with too few rows join the one most like them.
    Groups enlarged(Groups groups) const {
        while (groups.size() > 1) {
            size_t small = groups.size();
            for (size_t i = 0; i < groups.size(); ++i) {
                if (!is_small(groups[i])) continue;
                if (small == groups.size() || groups[i].rows < groups[small].rows) small = i;
            }
            if (small == groups.size()) break;
            const size_t partner = most_like(groups, small);
            join(groups, std::min(small, partner), std::max(small, partner));
        }
        return groups;
    }

    Children children(const Groups& groups) const {
        Children result(task_.measure.width());
        result.resize(static_cast<int>(groups.size()));
        for (size_t i = 0; i < groups.size(); ++i) {
            std::copy(groups[i].stat.begin(), groups[i].stat.end(), result.stat(static_cast<int>(i)));
            result.rows[i] = groups[i].rows;
        }
        return result;
    }

    double log_multiplier(size_t groups) const {
        if (!choice_.bonferroni) return 0;
        const int r = static_cast<int>(groups);
        const int categories = histogram_.size() + (floats_ ? 1 : 0);
        const double i = categories;
        if (choice_.exhaustive) {
            if (ordered_) return std::log(i * (i - 1) / 2);
            return std::log(i * (i * i - 1) / (choice_.biggs ? 6 : 2));
        }
        if (!ordered_) return log_stirling(categories, r);
        if (!floats_) return log_choose(categories - 1, r - 1);
        return log_sum(log_choose(categories - 2, r - 2), std::log(r) + log_choose(categories - 2, r - 1));
    }

    BinMapping mapping(const Groups& groups) const {
        BinMapping result{static_cast<int>(groups.size()), std::vector<int>(histogram_.size(), 0), -1};
        for (size_t g = 0; g < groups.size(); ++g) {
            for (int bin : groups[g].members) result.child[bin] = static_cast<int>(g);
            if (groups[g].missing) result.missing = static_cast<int>(g);
        }
        return result;
    }

    // A level without rows at the node: with the nearest one (ordered), else with most rows.
    std::vector<int> absent(const Groups& groups, const ColumnFacts& facts) const {
        const auto fewer_rows = [](const Group& a, const Group& b) { return a.rows < b.rows; };
        const auto largest = std::max_element(groups.begin(), groups.end(), fewer_rows) - groups.begin();
        std::vector<int> result(facts.levels, static_cast<int>(largest));
        if (!ordered_) return result;
        const BinMapping where = mapping(groups);
        int nearest = 0; // levels rise, and so do the nearest; the lower of equals
        for (int level = 0; level < facts.levels; ++level) {
            const auto distance = [&](int bin) { return std::abs(level_of(histogram_, bin) - level); };
            while (nearest + 1 < histogram_.size() && distance(nearest + 1) < distance(nearest)) ++nearest;
            result[level] = where.child[nearest];
        }
        return result;
    }

    double log_p(const Groups& groups) const {
        const Children parts = children(groups);
        return test(task_.recipe.criterion, parts.stats, parts.width).log_p;
    }

private:
    // The group of one bin; the bin after the last holds the missing entries.
    Group group_of(int bin) const {
        const Bin from = histogram_.bin(bin);
        const bool missing = bin == histogram_.size();
        Group group{missing ? std::vector<int>{} : std::vector<int>{bin}, missing, {}, {}, from.rows};
        group.sums.assign(from.stat, from.stat + task_.measure.sums());
        update_stat(group);
        return group;
    }

    void update_stat(Group& group) const {
        group.stat.resize(task_.measure.width());
        task_.measure.read(group.sums.data(), group.stat.data());
    }

    void add(Group& to, const Group& from) const {
        const auto middle = static_cast<std::ptrdiff_t>(to.members.size());
        to.members.insert(to.members.end(), from.members.begin(), from.members.end());
        std::inplace_merge(to.members.begin(), to.members.begin() + middle, to.members.end());
        to.missing = to.missing || from.missing;
        to.rows += from.rows;
        for (size_t s = 0; s < to.sums.size(); ++s) to.sums[s] += from.sums[s];
        update_stat(to);
    }

    // The first of two groups takes in the other; their order stays that of first members.
    void join(Groups& groups, size_t a, size_t b) const {
        add(groups[a], groups[b]);
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(b));
    }

    bool is_small(const Group& group) const {
        const Stopping& stopping = task_.recipe.stopping;
        return group.rows < std::max(choice_.min_child, stopping.min_samples_leaf) ||
               weight_of(task_.recipe.criterion, group.stat) < stopping.min_weight_leaf - 1e-9;
    }

    Test pair_test(const Group& a, const Group& b) const {
        const Criterion criterion = task_.recipe.criterion;
        const TestGroup pair[2] = {test_group(criterion, a.stat), test_group(criterion, b.stat)};
        std::vector<double> column(a.stat.size());
        return test_statistic(criterion, std::span<const TestGroup, 2>(pair), column);
    }

    double pair_log_p(const Group& a, const Group& b) const {
        return test_log_p(task_.recipe.criterion, pair_test(a, b));
    }

    // The group that may be joined with this one and differs least from it.
    size_t most_like(const Groups& groups, size_t group) const {
        LargestP largest;
        size_t partner = groups.size();
        double best = 0;
        for (size_t i = 0; i < groups.size(); ++i) {
            if (i == group || !neighbours(groups, group, i)) continue;
            if (!largest.offer(task_.recipe.criterion, pair_test(groups[group], groups[i]))) continue;
            if (partner < groups.size() && largest.log_p() <= best + rounding) continue;
            partner = i;
            best = largest.log_p();
        }
        return partner;
    }

    // While small groups are merged, a group with missing entries floats as a whole and does not separate its sides.
    bool neighbours(const Groups& groups, size_t a, size_t b) const {
        if (!ordered_ || groups[a].missing || groups[b].missing) return true;
        for (size_t i = std::min(a, b) + 1; i < std::max(a, b); ++i) {
            if (!groups[i].missing) return false;
        }
        return true;
    }

    GroupSimilarity similarity_of(const Groups& groups) const {
        return {task_.recipe.criterion, ordered_, task_.measure.width(), children(groups).stats};
    }

    // Groups are named by their first members, as in GroupSimilarity, whose order is the same.
    static size_t position_of(const Groups& groups, size_t first_member) {
        const auto before = [](const Group& group, size_t first) {
            return static_cast<size_t>(group.members[0]) < first;
        };
        return static_cast<size_t>(std::lower_bound(groups.begin(), groups.end(), first_member, before) -
                                   groups.begin());
    }

    // Joins a pair and returns the position of the joined group.
    size_t join_pair(Groups& groups, GroupSimilarity& similarity, const GroupSimilarity::Pair& pair) const {
        const size_t position = position_of(groups, pair.a);
        join(groups, position, position_of(groups, pair.b));
        similarity.erase(pair.b);
        similarity.set(pair.a, groups[position].stat);
        return position;
    }

    Groups while_alike(Groups groups) const {
        GroupSimilarity similarity = similarity_of(groups);
        std::set<std::vector<std::vector<int>>> seen;
        while (groups.size() > 2) {
            const GroupSimilarity::Pair pair = similarity.most_alike();
            if (!(pair.log_p > std::log(choice_.alpha_merge))) break;
            const size_t joined = join_pair(groups, similarity, pair);
            if (!choice_.alpha_resplit || groups[joined].members.size() < 3) continue;
            const std::vector<Group> parts = resplit(groups, joined, seen);
            for (const Group& part : parts) similarity.set(static_cast<size_t>(part.members[0]), part.stat);
        }
        return groups;
    }

    // A merged group of three or more is undone where its best division in two is significant after all; returns the
    // two groups.
    Groups resplit(Groups& groups, size_t merged_group, std::set<std::vector<std::vector<int>>>& seen) const {
        const std::vector<int>& members = groups[merged_group].members;
        const int size = static_cast<int>(members.size());
        if (!ordered_ && size > 12) return {};
        double best = std::numeric_limits<double>::infinity();
        Groups parts, two(2);
        for (Group& part : two) part.sums.resize(task_.measure.sums());
        const int64_t last = ordered_ ? size : int64_t{1} << (size - 1);
        for (int64_t set = 1; set < last; ++set) {
            for (Group& part : two) {
                part.members.clear();
                part.rows = 0;
                std::fill(part.sums.begin(), part.sums.end(), Sum{0});
            }
            for (int i = 0; i < size; ++i) {
                Group& part = two[(ordered_ ? i < set : !((set >> i) & 1)) ? 0 : 1];
                const Bin bin = histogram_.bin(members[i]);
                part.members.push_back(members[i]);
                part.rows += bin.rows;
                for (size_t s = 0; s < part.sums.size(); ++s) part.sums[s] += bin.stat[s];
            }
            for (Group& part : two) update_stat(part);
            const double log_p = pair_log_p(two[0], two[1]);
            if (log_p < best - rounding) {
                best = log_p;
                parts = two;
            }
        }
        if (parts.empty() || best > std::log(*choice_.alpha_resplit)) return {};
        Groups next = groups;
        next[merged_group] = parts[0];
        next.push_back(parts[1]);
        std::sort(next.begin(), next.end(), [](const Group& x, const Group& y) { return x.members[0] < y.members[0]; });
        std::vector<std::vector<int>> picture;
        for (const Group& group : next) picture.push_back(group.members);
        if (!seen.insert(picture).second) return {}; // merging and undoing would never end
        groups = std::move(next);
        return parts;
    }

    // Merges down to two groups and returns to the step of the smallest p.
    Groups best_of_all_steps(const Groups& first) const {
        Groups groups = first;
        GroupSimilarity similarity = similarity_of(groups);
        std::vector<GroupSimilarity::Pair> steps;
        size_t best_steps = 0;
        double best_log_p = log_p(groups);
        while (groups.size() > 2) {
            steps.push_back(similarity.most_alike());
            join_pair(groups, similarity, steps.back());
            const double now = log_p(groups);
            if (now < best_log_p - rounding * std::abs(best_log_p)) {
                best_steps = steps.size();
                best_log_p = now;
            }
        }
        Groups best = first;
        for (size_t i = 0; i < best_steps; ++i)
            join(best, position_of(best, steps[i].a), position_of(best, steps[i].b));
        return best;
    }

    Groups with_floating(const Groups& groups) const {
        const Group alone = group_of(histogram_.size());
        size_t like = 0;
        double best = -std::numeric_limits<double>::infinity();
        for (size_t i = 0; i < groups.size(); ++i) {
            const double p = pair_log_p(groups[i], alone);
            if (p > best + rounding) {
                like = i;
                best = p;
            }
        }
        Groups together = groups, apart = groups;
        add(together[like], alone);
        apart.push_back(alone);
        if (together.size() < 2) return apart;
        const double together_log_p = log_p(together);
        return log_p(apart) < together_log_p - rounding * std::abs(together_log_p) ? apart : together;
    }

    const Task& task_;
    const MergeOptions& choice_;
    const Histogram& histogram_;
    bool ordered_;
    bool own_;
    bool floats_;
};

} // namespace

double log_multiplier(const Task& task, const ColumnFacts& facts, const Histogram& histogram, int groups) {
    return Merger(task, facts, histogram).log_multiplier(static_cast<size_t>(groups));
}

Candidate merge_levels(const Task& task, const NodeFacts& node, const ColumnFacts& facts, const Histogram& given) {
    const Parent parent = parent_of(task, node, given);
    Histogram histogram = given;
    if (task.recipe.missing == Missing::own && facts.kind == Kind::nominal)
        histogram = with_missing_level(std::move(histogram));
    Candidate candidate;
    candidate.column = histogram.column;
    const bool floating = task.recipe.missing == Missing::own && histogram.has_missing();
    if (histogram.size() + (floating ? 1 : 0) < 2 || histogram.size() == 0) return candidate;

    const Merger merger(task, facts, histogram);
    const auto rated = [&](const Groups& groups) {
        const Children children = merger.children(groups);
        RatedSplit result;
        result.log_multiplier = merger.log_multiplier(groups.size());
        result.rating = rate(task, parent, children);
        result.rating.score = -std::min(0.0, result.rating.test.log_p + result.log_multiplier);
        result.split = split_of(task, facts, histogram, merger.mapping(groups), children, merger.absent(groups, facts));
        return result;
    };
    const Groups groups = merger.merged();
    static_cast<RatedSplit&>(candidate) = rated(groups);
    candidate.enlarged = std::make_shared<const RatedSplit>(rated(merger.enlarged(groups)));
    candidate.obstacle = Obstacle::none;
    candidate.significant = -candidate.rating.score <= std::log(task.recipe.merge.alpha_split) + rounding;
    return candidate;
}

} // namespace tw

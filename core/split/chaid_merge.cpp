// CHAID: levels that do not differ significantly are merged, then the split is tested with Bonferroni's correction.
//
// Groups stand in the order of their first member; of equally similar pairs the first is merged; the missing entries of
// an ordered column float: they join one group or stay alone, whichever gives the smaller p.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/interrupt.hpp"
#include "split/branching.hpp"

namespace tw {
namespace {

constexpr double rounding = 1e-12;

struct Group {
    std::vector<int> members; // bucket numbers
    bool missing = false;     // also holds the missing entries (ordered columns)
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
        for (int i = 0; i < histogram_.size(); ++i) groups.push_back({{i}, false});
        groups = choice_.exhaustive ? best_of_all_steps(groups) : while_alike(groups);
        return floats_ ? with_floating(groups) : groups;
    }

    // Groups with too few rows join the one most like them.
    Groups enlarged(Groups groups) const {
        while (groups.size() > 1) {
            size_t small = groups.size();
            for (size_t i = 0; i < groups.size(); ++i) {
                if (!is_small(groups[i])) continue;
                if (small == groups.size() || rows(groups[i]) < rows(groups[small])) small = i;
            }
            if (small == groups.size()) break;
            int partner = -1;
            double best = 0;
            for (size_t i = 0; i < groups.size(); ++i) {
                if (i == small || !neighbours(groups, small, i)) continue;
                const double p = pair_log_p(groups[small], groups[i]);
                if (partner < 0 || p > best + rounding) {
                    partner = static_cast<int>(i);
                    best = p;
                }
            }
            join(groups, std::min<size_t>(small, partner), std::max<size_t>(small, partner));
        }
        return groups;
    }

    Children children(const Groups& groups) const {
        Children result(task_.measure.width());
        result.resize(static_cast<int>(groups.size()));
        for (size_t i = 0; i < groups.size(); ++i) {
            Accumulator accumulator(task_.measure, histogram_);
            fill(groups[i], accumulator);
            accumulator.read(result.stat(static_cast<int>(i)));
            result.rows[i] = accumulator.rows();
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

    // A level nobody at the node has: with the nearest one (ordered), else with most rows.
    std::vector<int> absent(const Groups& groups, const ColumnFacts& facts) const {
        size_t largest = 0;
        for (size_t g = 1; g < groups.size(); ++g) {
            if (rows(groups[g]) > rows(groups[largest])) largest = g;
        }
        std::vector<int> result(facts.levels, static_cast<int>(largest));
        if (!ordered_) return result;
        const BinMapping where = mapping(groups);
        for (int level = 0; level < facts.levels; ++level) {
            int nearest = 0;
            for (int i = 1; i < histogram_.size(); ++i) {
                if (std::abs(level_of(histogram_, i) - level) < std::abs(level_of(histogram_, nearest) - level))
                    nearest = i;
            }
            result[level] = where.child[nearest];
        }
        return result;
    }

    double log_p(const Groups& groups) const {
        const Children parts = children(groups);
        return test(task_.recipe.criterion, parts.stats, parts.width).log_p;
    }

private:
    void fill(const Group& group, Accumulator& accumulator) const {
        for (int bin : group.members) accumulator.add(histogram_.bin(bin));
        if (group.missing) accumulator.add(histogram_.missing());
    }

    bool is_small(const Group& group) const {
        const Stopping& stopping = task_.recipe.stopping;
        if (rows(group) < std::max(choice_.min_child, stopping.min_samples_leaf)) return true;
        const Children alone = children({group});
        return weight_of(task_.recipe.criterion, alone.stat(0)) < stopping.min_weight_leaf - 1e-9;
    }

    int64_t rows(const Group& group) const {
        int64_t total = group.missing ? histogram_.missing().rows : 0;
        for (int bin : group.members) total += histogram_.bin(bin).rows;
        return total;
    }

    double pair_log_p(const Group& a, const Group& b) const { return log_p({a, b}); }

    // While small groups are merged, a group with missing entries floats as a whole and does not separate its sides.
    bool neighbours(const Groups& groups, size_t a, size_t b) const {
        if (!ordered_ || groups[a].missing || groups[b].missing) return true;
        for (size_t i = std::min(a, b) + 1; i < std::max(a, b); ++i) {
            if (!groups[i].missing) return false;
        }
        return true;
    }

    static void join(Groups& groups, size_t a, size_t b) {
        Group& into = groups[a];
        const Group& from = groups[b];
        into.members.insert(into.members.end(), from.members.begin(), from.members.end());
        std::sort(into.members.begin(), into.members.end());
        into.missing = into.missing || from.missing;
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(b));
        std::stable_sort(groups.begin(), groups.end(), [](const Group& x, const Group& y) {
            const int none = std::numeric_limits<int>::max();
            return (x.members.empty() ? none : x.members[0]) < (y.members.empty() ? none : y.members[0]);
        });
    }

    struct Pair {
        size_t a = 0, b = 0;
        double log_p = -std::numeric_limits<double>::infinity();
    };

    // The table of all pairs' similarities; a merger changes one row of it.
    class Similarities {
    public:
        Similarities(const Merger& merger, const Groups& groups) : merger_(merger) { reset(groups); }

        void reset(const Groups& groups) {
            log_p_.assign(groups.size(), std::vector<double>(groups.size(), 0.0));
            for (size_t i = 0; i < groups.size(); ++i) {
                check_interrupt();
                for (size_t j = i + 1; j < groups.size(); ++j) update(groups, i, j);
            }
        }
        void joined(const Groups& groups, size_t a, size_t b) {
            check_interrupt();
            log_p_.erase(log_p_.begin() + static_cast<std::ptrdiff_t>(b));
            for (auto& row : log_p_) row.erase(row.begin() + static_cast<std::ptrdiff_t>(b));
            for (size_t i = 0; i < groups.size(); ++i) {
                if (i != a) update(groups, std::min(i, a), std::max(i, a));
            }
        }
        Pair most_alike() const {
            Pair best;
            for (size_t i = 0; i < log_p_.size(); ++i) {
                const size_t end = merger_.ordered_ ? std::min(i + 2, log_p_.size()) : log_p_.size();
                for (size_t j = i + 1; j < end; ++j) {
                    if (log_p_[i][j] > best.log_p + rounding) best = {i, j, log_p_[i][j]};
                }
            }
            return best;
        }

    private:
        void update(const Groups& groups, size_t i, size_t j) {
            if (!merger_.ordered_ || j == i + 1) log_p_[i][j] = merger_.pair_log_p(groups[i], groups[j]);
        }

        const Merger& merger_;
        std::vector<std::vector<double>> log_p_;
    };

    Groups while_alike(Groups groups) const {
        Similarities similar(*this, groups);
        std::set<std::vector<std::vector<int>>> seen;
        while (groups.size() > 2) {
            const Pair pair = similar.most_alike();
            if (!(pair.log_p > std::log(choice_.alpha_merge))) break;
            join(groups, pair.a, pair.b);
            similar.joined(groups, pair.a, pair.b);
            if (choice_.alpha_resplit && groups[pair.a].members.size() >= 3 && resplit(groups, pair.a, seen)) {
                similar.reset(groups);
            }
        }
        return groups;
    }

    // A merged group of three or more is undone where its best division in two is significant after all.
    bool resplit(Groups& groups, size_t merged_group, std::set<std::vector<std::vector<int>>>& seen) const {
        const std::vector<int> members = groups[merged_group].members;
        const int size = static_cast<int>(members.size());
        if (!ordered_ && size > 12) return false;
        Pair best{0, 0, 0};
        bool found = false;
        Groups parts;
        const int64_t last = ordered_ ? size : int64_t{1} << (size - 1);
        for (int64_t set = 1; set < last; ++set) {
            Groups two(2);
            for (int i = 0; i < size; ++i) {
                const bool first = ordered_ ? i < set : !((set >> i) & 1);
                two[first ? 0 : 1].members.push_back(members[i]);
            }
            const double p = pair_log_p(two[0], two[1]);
            if (!found || p < best.log_p - rounding) {
                found = true;
                best.log_p = p;
                parts = two;
            }
        }
        if (!found || best.log_p > std::log(*choice_.alpha_resplit)) return false;
        Groups next = groups;
        next[merged_group] = parts[0];
        next.push_back(parts[1]);
        std::sort(next.begin(), next.end(), [](const Group& x, const Group& y) { return x.members[0] < y.members[0]; });
        std::vector<std::vector<int>> picture;
        for (const Group& group : next) picture.push_back(group.members);
        if (!seen.insert(picture).second) return false; // been there: merging and undoing would never end
        groups = next;
        return true;
    }

    Groups best_of_all_steps(Groups groups) const {
        Groups best = groups;
        double best_log_p = log_p(groups);
        Similarities similar(*this, groups);
        while (groups.size() > 2) {
            const Pair pair = similar.most_alike();
            join(groups, pair.a, pair.b);
            similar.joined(groups, pair.a, pair.b);
            const double now = log_p(groups);
            if (now < best_log_p - rounding * std::abs(best_log_p)) {
                best = groups;
                best_log_p = now;
            }
        }
        return best;
    }

    Groups with_floating(const Groups& groups) const {
        const Group alone{{}, true};
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
        together[like].missing = true;
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

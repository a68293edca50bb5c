#include "criterion/criterion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "criterion/group_test.hpp"

namespace tw {
namespace {

double sum_of(Stat stat) { return std::accumulate(stat.begin(), stat.end(), 0.0); }

double gini(Stat stat) {
    const double total = sum_of(stat);
    if (!(total > 0)) return 0;
    double same = 0;
    for (double w : stat) same += (w / total) * (w / total);
    return std::max(0.0, 1 - same);
}

double largest_of(Stat stat) { return *std::max_element(stat.begin(), stat.end()); }

double misclassification(Stat stat) {
    const double total = sum_of(stat);
    return total > 0 ? std::max(0.0, (total - largest_of(stat)) / total) : 0;
}

double variance(Stat stat) {
    if (!(stat[0] > 0)) return 0;
    const double mean = stat[1] / stat[0];
    return std::max(0.0, stat[2] / stat[0] - mean * mean);
}

// What dividing takes off the variance, as the variance between the children: taking one variance from the other would
// lose the digits in which close splits differ.
double between(Stat parent, std::span<const double> children) {
    const double mean = parent[1] / parent[0];
    double sum = 0;
    for (size_t at = 0; at < children.size(); at += 3) {
        if (!(children[at] > 0)) continue;
        const double away = children[at + 1] / children[at] - mean;
        sum += children[at] / parent[0] * away * away;
    }
    return sum;
}

// Half the mean Poisson deviance around the mean; the statistic's third number is the sum of y ln y.
double poisson(Stat stat, double offset) {
    if (!(stat[0] > 0)) return 0;
    const double mean = offset + stat[1] / stat[0];
    return mean > 0 ? std::max(0.0, stat[2] / stat[0] - mean * std::log(mean)) : 0;
}

// The same after dividing, less before: the sums of y ln y cancel, so they are left out.
double poisson_between(Stat parent, std::span<const double> children, double offset) {
    const double mean = offset + parent[1] / parent[0];
    double sum = 0;
    for (size_t at = 0; at < children.size(); at += 3) {
        if (!(children[at] > 0)) continue;
        const double own = offset + children[at + 1] / children[at];
        if (own > 0 && mean > 0) sum += children[at] / parent[0] * own * std::log(own / mean);
    }
    return sum;
}

double twoing(std::span<const double> children, int width) {
    const Stat left = children.subspan(0, width);
    const Stat right = children.subspan(width, width);
    const double left_weight = sum_of(left), right_weight = sum_of(right);
    if (!(left_weight > 0) || !(right_weight > 0)) return 0;
    const double total = left_weight + right_weight;
    double distance = 0;
    for (int c = 0; c < width; ++c) distance += std::abs(left[c] / left_weight - right[c] / right_weight);
    return (left_weight / total) * (right_weight / total) / 4 * distance * distance;
}

// The distance between the distributions of two classes over the children (Cieslak and Chawla 2008): it does not depend
// on how frequent the classes are.
double hellinger(std::span<const double> children, int width) {
    if (width != 2) throw std::invalid_argument("the Hellinger distance compares two classes");
    double first = 0, second = 0, sum = 0;
    for (size_t at = 0; at < children.size(); at += 2) {
        first += children[at];
        second += children[at + 1];
    }
    if (!(first > 0) || !(second > 0)) return 0;
    for (size_t at = 0; at < children.size(); at += 2) {
        const double difference = std::sqrt(children[at] / first) - std::sqrt(children[at + 1] / second);
        sum += difference * difference;
    }
    return std::sqrt(sum);
}

} // namespace

double weight_of(Criterion criterion, Stat stat) { return is_for_classes(criterion) ? sum_of(stat) : stat[0]; }

double entropy_of(Stat parts) {
    const double total = sum_of(parts);
    if (!(total > 0)) return 0;
    double bits = 0;
    for (double w : parts) {
        if (w > 0) bits -= w / total * std::log2(w / total);
    }
    return std::max(0.0, bits);
}

double impurity(Criterion criterion, Stat stat, double offset) {
    switch (criterion) {
        case Criterion::information_gain:
        case Criterion::gain_ratio:
            return entropy_of(stat);
        case Criterion::gini:
        case Criterion::twoing:
        case Criterion::hellinger:
        case Criterion::chi_square:
        case Criterion::likelihood_ratio:
        case Criterion::custom_classes:
            return gini(stat);
        case Criterion::misclassification:
            return misclassification(stat);
        case Criterion::variance:
        case Criterion::f:
        case Criterion::custom_numbers:
            return variance(stat);
        case Criterion::standard_deviation:
            return std::sqrt(variance(stat));
        case Criterion::fifth_root:
            return std::pow(variance(stat), 0.2);
        case Criterion::absolute_error:
            return stat[0] > 0 ? stat[2] / stat[0] : 0;
        case Criterion::poisson:
            return poisson(stat, offset);
    }
    unknown_value("Criterion");
}

double improvement(Criterion criterion, Stat parent, std::span<const double> children, double offset) {
    const size_t width = parent.size();
    const double total = weight_of(criterion, parent);
    if (!(total > 0)) return 0;
    const auto each_child = [&](const auto& part) {
        double sum = 0;
        for (size_t at = 0; at < children.size(); at += width) sum += part(children.subspan(at, width));
        return sum;
    };
    // Each way keeps a gain that is zero at zero: sums that may cancel are of whole units, all else is a difference of
    // what is the same number where shares or means are the same.
    switch (criterion) {
        case Criterion::variance:
            return between(parent, children);
        case Criterion::poisson:
            return poisson_between(parent, children, offset);
        case Criterion::misclassification:
            return (each_child(largest_of) - largest_of(parent)) / total;
        case Criterion::absolute_error:
            return (parent[2] - each_child([](Stat child) { return child[2]; })) / total;
        case Criterion::information_gain:
        case Criterion::gain_ratio:
        case Criterion::gini:
        case Criterion::twoing:
        case Criterion::hellinger:
        case Criterion::chi_square:
        case Criterion::likelihood_ratio:
        case Criterion::standard_deviation:
        case Criterion::fifth_root:
        case Criterion::f:
        case Criterion::custom_classes:
        case Criterion::custom_numbers: {
            const double before = impurity(criterion, parent, offset);
            return each_child([&](Stat child) {
                return weight_of(criterion, child) / total * (before - impurity(criterion, child, offset));
            });
        }
    }
    unknown_value("Criterion");
}

Test test(Criterion criterion, std::span<const double> children, int width) {
    std::vector<TestGroup> groups;
    for (size_t at = 0; at < children.size(); at += width)
        groups.push_back(test_group(criterion, children.subspan(at, width)));
    std::vector<double> column(width);
    Test result = test_statistic(criterion, std::span<const TestGroup>(groups), column);
    result.log_p = test_log_p(criterion, result);
    return result;
}

double own_score(Criterion criterion, std::span<const double> children, int width) {
    if (criterion == Criterion::twoing) return twoing(children, width);
    if (criterion == Criterion::hellinger) return hellinger(children, width);
    throw std::logic_error("own_score: the criterion has no score of its own");
}

bool can_rate(Criterion criterion, std::span<const double> children, int width, double offset) {
    if (criterion != Criterion::poisson) return true;
    for (size_t at = 0; at < children.size(); at += width) {
        if (children[at] > 0 && !(offset + children[at + 1] / children[at] > 0)) return false;
    }
    return true;
}

} // namespace tw

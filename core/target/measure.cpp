#include "target/measure.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/sorted_union.hpp"

namespace tw {
namespace {

constexpr int bits = 52; // every quantity fits a double's mantissa, every
                         // product of two fits a Sum

// Places for a numeric target: so many that its weighted sum fits 64 bits. By weight, not by rows, so that a row given
// twice is measured like a row of weight two.
int target_bits(double total_weight) {
    int exponent = 0;
    std::frexp(total_weight, &exponent);
    return std::clamp(62 - exponent, 20, bits);
}

// The largest power of two p such that total * p stays below 2^places.
double power_below(double total, int assignment = bits) {
    if (!(total > 0)) return 1;
    int exponent = 0;
    std::frexp(total, &exponent); // total < 2^exponent
    return std::ldexp(1.0, std::clamp(assignment - exponent, -1000, 1000));
}

double log_part(double y) { return y > 0 ? y * std::log(y) : 0; }

// A weight as an integer; bounded, for weights may change while they are read.
int64_t weight_in(const Units& units, double weight) {
    if (!(weight > 0)) return 0;
    const double most = std::ldexp(1.0, bits);
    return std::llround(std::min(weight * units.weight_scale, most));
}

// A target as an integer, from the middle of its range; bounded, for targets may change while they are read, and be no
// numbers then.
int64_t scaled(double y, const Units& units) {
    constexpr long long most = int64_t{1} << bits;
    return std::clamp(std::llround((y - units.offset) * units.target_scale), -most, most);
}

} // namespace

// --- units ---

void WeightSummary::merge(const WeightSummary& other) {
    max_weight = std::max(max_weight, other.max_weight);
    whole = whole && other.whole;
    rows += other.rows;
}

WeightSummary summarize_weights(const Target& targets, int64_t rows) {
    WeightSummary facts{1, true, rows};
    if (targets.repeats) facts.rows = std::accumulate(targets.repeats, targets.repeats + rows, int64_t{0});
    if (!targets.weight) return facts;
    facts.max_weight = 0;
    for (int64_t i = 0; i < rows; ++i) {
        facts.max_weight = std::max(facts.max_weight, targets.weight[i]);
        facts.whole = facts.whole && targets.weight[i] == std::floor(targets.weight[i]);
    }
    return facts;
}

constexpr double coarse = 1 << 30;

Sum scaled_total_weight(const Target& targets, int64_t rows, double max_weight) {
    Sum parts = 0;
    for (int64_t i = 0; i < rows; ++i) {
        const int32_t repeats = targets.repeats ? targets.repeats[i] : 1;
        parts +=
            repeats * static_cast<Sum>(std::llround((targets.weight ? targets.weight[i] : 1.0) / max_weight * coarse));
    }
    return parts;
}

Units weight_units(const WeightSummary& facts, Sum parts, bool has_weights, bool fractions, Statistic statistic,
                   int n_classes) {
    Units units;
    units.statistic = statistic;
    units.n_classes = n_classes;
    units.weighted = has_weights || fractions;
    units.total_weight = static_cast<double>(facts.rows);
    if (!units.weighted) return units;
    const double total = (static_cast<double>(parts) + 1) / coarse * facts.max_weight;
    const bool kept = facts.whole && !fractions && total < std::ldexp(1.0, bits);
    units.total_weight = total;
    units.weight_scale = kept ? 1.0 : power_below(total);
    units.unit_weights = units.weight_scale == 1 && facts.max_weight == 1;
    return units;
}

void TargetSummary::merge(const TargetSummary& other) {
    if (other.any) {
        low = any ? std::min(low, other.low) : other.low;
        high = any ? std::max(high, other.high) : other.high;
        any = true;
    }
    max_log = std::max(max_log, other.max_log);
    distinct.insert(distinct.end(), other.distinct.begin(), other.distinct.end());
    make_distinct(distinct);
}

TargetSummary summarize_target(const Target& targets, int64_t rows, const Units& units) {
    TargetSummary facts;
    if (units.n_classes > 0) return facts;
    for (int64_t i = 0; i < rows; ++i) {
        if (targets.weight && weight_in(units, targets.weight[i]) == 0) continue;
        if (targets.repeats && targets.repeats[i] <= 0) continue;
        const double y = targets.numbers[i];
        facts.low = facts.any ? std::min(facts.low, y) : y;
        facts.high = facts.any ? std::max(facts.high, y) : y;
        facts.any = true;
    }
    if (units.statistic == Statistic::deviance) {
        for (int64_t i = 0; i < rows; ++i) {
            facts.max_log = std::max(facts.max_log, std::abs(log_part(targets.numbers[i])));
        }
    }
    if (units.statistic == Statistic::medians) {
        facts.distinct.assign(targets.numbers, targets.numbers + rows);
        make_distinct(facts.distinct);
    }
    return facts;
}

void set_target_units(const TargetSummary& facts, Units& units) {
    if (units.n_classes > 0) return;
    // Measured from the middle of its range, a target loses the fewest digits; the middle does not depend on row order.
    units.offset = facts.low / 2 + facts.high / 2;
    const double max_abs = std::max(facts.high - units.offset, units.offset - facts.low);
    units.target_scale = power_below(max_abs, target_bits(units.total_weight));
    units.square_scale = power_below(max_abs * max_abs);
    units.max_abs = std::max<int64_t>({1, scaled(facts.high, units), -scaled(facts.low, units)});
    if (units.statistic == Statistic::deviance) units.log_scale = power_below(facts.max_log);
    units.distinct = facts.distinct;
}

// --- measures ---

Measure empty_measure(const Units& units) {
    Measure m;
    m.statistic = units.statistic;
    m.n_classes = units.n_classes;
    m.unit_weights = units.unit_weights;
    m.max_abs = units.max_abs;
    m.weight_unit = 1 / units.weight_scale;
    m.offset = units.offset;
    m.target_unit = 1 / units.target_scale;
    m.sum_unit = m.weight_unit / units.target_scale;
    m.square_unit = m.weight_unit / units.square_scale;
    m.log_unit = m.weight_unit / units.log_scale;
    if (units.statistic != Statistic::medians) return m;
    std::vector<int64_t> rank_target;
    for (const double y : units.distinct) rank_target.push_back(scaled(y, units));
    m.rank_value = units.distinct;
    m.rank_target = std::move(rank_target);
    return m;
}

Measure measure_rows(const Target& targets, int64_t rows, const Units& units) {
    Measure m = empty_measure(units);
    m.rows = rows;
    const auto per_row = [&](const auto& number) {
        std::vector<int64_t> values(static_cast<size_t>(rows));
        for (int64_t i = 0; i < rows; ++i) values[static_cast<size_t>(i)] = number(i);
        return values;
    };
    if (units.weighted) {
        m.weight = per_row([&](int64_t i) { return weight_in(units, targets.weight ? targets.weight[i] : 1.0); });
    }
    if (targets.repeats) m.repeats = {targets.repeats, static_cast<size_t>(rows)}; // of a sample: nobody writes it
    if (units.n_classes > 0) {
        // Read once: sums are found by class, and writes by other threads must not lead them astray.
        std::vector<int32_t> classes(targets.classes, targets.classes + rows);
        for (int32_t& code : classes) code = std::clamp(code, 0, units.n_classes - 1);
        m.classes = std::move(classes);
        return m;
    }
    const double* y = m.raw = targets.numbers;
    const int64_t most = units.max_abs;
    std::vector<int64_t> target(static_cast<size_t>(rows)), square(static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i) {
        const double from = y[i] - units.offset;
        // No farther than those that were found, for bounds rely on it.
        target[static_cast<size_t>(i)] = std::clamp(scaled(y[i], units), -most, most);
        square[static_cast<size_t>(i)] = std::llround(from * from * units.square_scale);
    }
    m.target = std::move(target);
    m.square = std::move(square);
    if (units.statistic == Statistic::deviance) {
        m.log = per_row([&](int64_t i) { return std::llround(log_part(y[i]) * units.log_scale); });
    }
    if (units.statistic == Statistic::medians) {
        std::vector<uint32_t> rank(static_cast<size_t>(rows));
        for (int64_t i = 0; i < rows; ++i) {
            const auto position = std::lower_bound(units.distinct.begin(), units.distinct.end(), y[i]);
            const size_t last = units.distinct.size() - 1; // for a target that has changed since
            rank[static_cast<size_t>(i)] =
                static_cast<uint32_t>(std::min(last, static_cast<size_t>(position - units.distinct.begin())));
        }
        m.rank = std::move(rank);
    }
    return m;
}

void Measure::read_moments(const Sum* stat, double* out) const {
    if (n_classes > 0) {
        for (int c = 0; c < n_classes; ++c) out[c] = static_cast<double>(stat[c]) * weight_unit;
    } else {
        out[0] = static_cast<double>(stat[0]) * weight_unit;
        out[1] = static_cast<double>(stat[1]) * sum_unit;
        out[2] = static_cast<double>(stat[2]) * square_unit;
    }
}

void Measure::read(const Sum* stat, double* out) const {
    read_moments(stat, out);
    if (statistic == Statistic::deviance) out[2] = static_cast<double>(stat[3]) * log_unit;
}

void Measure::to_report(const Sum* stat, double* out) const {
    read_moments(stat, out);
    if (n_classes > 0 || !(out[0] > 0)) return;
    const double mean = out[1] / out[0];
    out[2] = std::max(0.0, out[2] - out[1] * mean);
    out[1] = offset + mean;
}

Measure measure_target(const Target& targets, int64_t rows, bool fractions, Statistic statistic) {
    const WeightSummary facts = summarize_weights(targets, rows);
    const bool weighted = targets.weight != nullptr || fractions;
    const Sum parts = weighted ? scaled_total_weight(targets, rows, facts.max_weight) : 0;
    Units units = weight_units(facts, parts, targets.weight != nullptr, fractions, statistic, targets.n_classes);
    set_target_units(summarize_target(targets, rows, units), units);
    return measure_rows(targets, rows, units);
}

} // namespace tw

#include "stat.hpp"

#include <algorithm>
#include <cmath>

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
double power_below(double total, int places = bits) {
    if (!(total > 0)) return 1;
    int exponent = 0;
    std::frexp(total, &exponent); // total < 2^exponent
    return std::ldexp(1.0, std::clamp(places - exponent, -1000, 1000));
}

// Returns the total weight, the same for any order of rows.
double measure_weights(Measure& m, const Answers& answers, int64_t rows, bool fractions) {
    m.even = !answers.weight && !fractions;
    if (m.even) return static_cast<double>(rows);
    const auto weight = [&](int64_t i) { return answers.weight ? answers.weight[i] : 1.0; };
    double heaviest = 0;
    bool whole = true;
    for (int64_t i = 0; i < rows; ++i) {
        heaviest = std::max(heaviest, weight(i));
        whole = whole && weight(i) == std::floor(weight(i));
    }
    // The scale must not depend on row order either, so the total that sets it is added up in integers.
    const double coarse = std::ldexp(1.0, 30);
    Sum parts = 0;
    for (int64_t i = 0; i < rows; ++i) parts += std::llround(weight(i) / heaviest * coarse);
    const double total = (static_cast<double>(parts) + 1) / coarse * heaviest;
    const double scale = whole && !fractions && total < std::ldexp(1.0, bits) ? 1.0 : power_below(total);
    m.weight_unit = 1 / scale;
    m.weight.resize(rows);
    for (int64_t i = 0; i < rows; ++i) m.weight[i] = std::llround(weight(i) * scale);
    m.even = scale == 1 && heaviest == 1;
    return total;
}

void measure_numbers(Measure& m, const Answers& answers, int64_t rows, double total_weight) {
    double low = 0, high = 0;
    bool first = true;
    for (int64_t i = 0; i < rows; ++i) {
        if (m.weight_of(i) == 0) continue;
        const double y = answers.numbers[i];
        low = first ? y : std::min(low, y);
        high = first ? y : std::max(high, y);
        first = false;
    }
    // Measured from the middle of its range, a target loses the fewest digits; the middle does not depend on row order.
    m.offset = low / 2 + high / 2;
    const double reach = std::max(high - m.offset, m.offset - low);
    const double scale = power_below(reach, target_bits(total_weight));
    const double square_scale = power_below(reach * reach);
    m.target_unit = 1 / scale;
    m.sum_unit = m.weight_unit / scale;
    m.square_unit = m.weight_unit / square_scale;
    m.target.resize(rows);
    m.square.resize(rows);
    for (int64_t i = 0; i < rows; ++i) {
        const double y = answers.numbers[i] - m.offset;
        m.target[i] = std::llround(y * scale);
        m.square[i] = std::llround(y * y * square_scale);
    }
}

void measure_logs(Measure& m, const Answers& answers, int64_t rows) {
    const auto log_part = [&](int64_t i) {
        const double y = answers.numbers[i];
        return y > 0 ? y * std::log(y) : 0;
    };
    double reach = 0;
    for (int64_t i = 0; i < rows; ++i) reach = std::max(reach, std::abs(log_part(i)));
    const double scale = power_below(reach);
    m.log_unit = m.weight_unit / scale;
    m.log.resize(rows);
    for (int64_t i = 0; i < rows; ++i) m.log[i] = std::llround(log_part(i) * scale);
}

void measure_ranks(Measure& m, const Answers& answers, int64_t rows) {
    m.rank_value.assign(answers.numbers, answers.numbers + rows);
    std::sort(m.rank_value.begin(), m.rank_value.end());
    m.rank_value.erase(std::unique(m.rank_value.begin(), m.rank_value.end()), m.rank_value.end());
    m.rank.resize(rows);
    m.rank_target.resize(m.rank_value.size());
    for (int64_t i = 0; i < rows; ++i) {
        const auto place = std::lower_bound(m.rank_value.begin(), m.rank_value.end(), answers.numbers[i]);
        m.rank[i] = static_cast<uint32_t>(place - m.rank_value.begin());
        m.rank_target[m.rank[i]] = m.target[i];
    }
}

} // namespace

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
    if (needs == Needs::deviance) out[2] = static_cast<double>(stat[3]) * log_unit;
}

void Measure::tell(const Sum* stat, double* out) const {
    read_moments(stat, out);
    if (n_classes > 0 || !(out[0] > 0)) return;
    const double mean = out[1] / out[0];
    out[2] = std::max(0.0, out[2] - out[1] * mean);
    out[1] = offset + mean;
}

Needs needs_of(Rule rule) {
    if (rule == Rule::absolute_error) return Needs::medians;
    if (rule == Rule::poisson) return Needs::deviance;
    return is_for_classes(rule) ? Needs::classes : Needs::squares;
}

Measure measure(const Answers& answers, int64_t rows, bool fractions, Needs needs) {
    Measure m;
    m.needs = needs;
    m.rows = rows;
    m.n_classes = answers.n_classes;
    const double total_weight = measure_weights(m, answers, rows, fractions);
    if (answers.n_classes > 0) {
        m.classes.assign(answers.classes, answers.classes + rows);
        return m;
    }
    m.raw = answers.numbers;
    measure_numbers(m, answers, rows, total_weight);
    if (needs == Needs::deviance) measure_logs(m, answers, rows);
    if (needs == Needs::medians) measure_ranks(m, answers, rows);
    return m;
}

} // namespace tw

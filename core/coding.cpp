#include "coding.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace tw {
namespace {

constexpr size_t most_bins = 256;
constexpr size_t sample_size = 16384;

void make_distinct(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::vector<double> sampled(std::span<const double> values) {
    const size_t step = std::max<size_t>(1, values.size() / sample_size);
    std::vector<double> sample;
    for (size_t i = 0; i < values.size(); i += step) sample.push_back(values[i]);
    return sample;
}

// The code is the number of ends below the value. Steps of fixed size keep the search free of branches.
class Finder {
public:
    explicit Finder(const std::vector<double>& ends) {
        size_ = std::bit_ceil(ends.size() + 1);
        ends_.assign(size_, std::numeric_limits<double>::infinity());
        std::copy(ends.begin(), ends.end(), ends_.begin());
    }
    size_t operator()(double x) const {
        size_t below = 0;
        for (size_t step = size_ / 2; step > 0; step /= 2) below += ends_[below + step - 1] < x ? step : 0;
        return below;
    }

private:
    size_t size_;
    std::vector<double> ends_;
};

// All distinct values if there are few, otherwise nothing.
std::vector<double> few_distinct(std::span<const double> values, std::vector<double> sample) {
    make_distinct(sample);
    if (sample.size() > most_bins) return {};
    const Finder find(sample);
    std::vector<double> others;
    for (double x : values) {
        const size_t place = find(x);
        if (place < sample.size() && sample[place] == x) continue;
        if (others.empty() || others.back() != x) others.push_back(x);
        if (others.size() > 64 * most_bins) return {};
    }
    sample.insert(sample.end(), others.begin(), others.end());
    make_distinct(sample);
    return sample.size() <= most_bins ? sample : std::vector<double>{};
}

std::vector<double> quantiles(std::vector<double> sample) {
    std::sort(sample.begin(), sample.end());
    std::vector<double> ends;
    for (size_t i = 1; i < most_bins; ++i) {
        const double end = sample[i * sample.size() / most_bins];
        if (ends.empty() || ends.back() < end) ends.push_back(end);
    }
    return ends;
}

} // namespace

Codes code_column(std::span<const double> values) {
    Codes codes;
    const std::vector<double> sample = sampled(values);
    std::vector<double> distinct = few_distinct(values, sample);
    codes.exact = !distinct.empty();
    if (codes.exact) {
        distinct.pop_back();
        codes.upper = std::move(distinct);
    } else {
        codes.upper = quantiles(sample);
    }
    const Finder find(codes.upper);
    codes.code.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) codes.code[i] = static_cast<uint8_t>(find(values[i]));
    return codes;
}

} // namespace tw

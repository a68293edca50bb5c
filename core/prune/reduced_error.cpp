#include "prune/reduced_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "criterion/leaf_value.hpp"

namespace tw {
namespace {

// A node that a row comes through, and with how much of itself.
struct Visit {
    int32_t node;
    double share;
    bool ends; // without going on to a child
};

// A row that goes down several branches: every node it comes to, depth first, and its loss as the tree stands.
struct FractionalRow {
    int64_t row;
    std::vector<Visit> visits;
    double loss = 0;
};

// A loss, and the size of the terms it was computed from, which bounds its rounding error.
struct Loss {
    double value = 0;
    double scale = 0;
};

class Reducer {
public:
    Reducer(const FlatTree& flat, const std::vector<Column>& columns, uint64_t seed, const Measure& measure,
            const std::vector<double>& cost)
        : flat_(flat),
          columns_(columns),
          measure_(measure),
          cost_(cost),
          routing_(routing_nodes_of(flat)),
          keys_(node_keys(routing_, seed)),
          end_(routing_.size()),
          here_(routing_.size() * measure.sums(), 0),
          through_(here_),
          weight_through_(routing_.size(), 0),
          fractional_rows_of_(routing_.size()),
          value_(flat.value.all()),
          reduced_{std::vector<int32_t>(routing_.size(), 0), std::vector<double>(routing_.size(), 0),
                   std::vector<double>(routing_.size(), 0)} {
        for (size_t i = routing_.size(); i-- > 0;) {
            end_[i] = routing_[i].children.empty() ? static_cast<int32_t>(i) + 1 : end_[routing_[i].children.back()];
        }
    }

    Reduced run() {
        for (const Entry& entry : training_entries(Recipe{}, measure_, columns_)) place_row(entry);
        for (FractionalRow& row : fractional_rows_) row.loss = loss_of(row, -1);
        while (pass()) {
        }
        return std::move(reduced_);
    }

private:
    // Follows a row, as prediction does; a row of one path is added up where it ends, any other is kept with its
    // visits.
    void place_row(const Entry& entry) {
        FractionalRow row{entry.row, {}};
        std::vector<Visit> open{{0, 1.0, false}};
        bool is_split = false;
        while (!open.empty()) {
            Visit visit = open.back();
            open.pop_back();
            const RoutingNode& routing = routing_[visit.node];
            const int child =
                routing.children.empty() ? stop_here : route_row(routing, keys_[visit.node], columns_, entry.row).child;
            visit.ends = child == stop_here;
            row.visits.push_back(visit);
            if (child >= 0) open.push_back({routing.children[child], visit.share, false});
            if (child != fractional) continue;
            is_split = true;
            for (size_t c = routing.children.size(); c-- > 0;) {
                const double share = routing.split.share[c];
                if (share > 0) open.push_back({routing.children[c], visit.share * share, false});
            }
        }
        if (!is_split) {
            for (const Visit& visit : row.visits) add(through_, visit.node, entry);
            add(here_, row.visits.back().node, entry);
            for (const Visit& visit : row.visits) weight_through_[visit.node] += entry.weight;
            return;
        }
        for (const Visit& visit : row.visits) fractional_rows_of_[visit.node].push_back(fractional_rows_.size());
        fractional_rows_.push_back(std::move(row));
    }

    const double* value(size_t node) const { return &value_[node * flat_.value.width()]; }

    size_t label(const double* values) const {
        return predicted_class(cost_, {values, static_cast<size_t>(measure_.n_classes)});
    }

    double cost_of(size_t truth, size_t predicted) const {
        if (!cost_.empty()) return cost_[truth * measure_.n_classes + predicted];
        return truth == predicted ? 0 : 1;
    }

    // Adds a row to the sums of a node. An absolute error is linear on either side of the node's value, so rows count
    // with their sign: sums of integers, which do not depend on the order of rows.
    void add(std::vector<Sum>& sums, size_t node, Entry entry) const {
        const bool negative = measure_.statistic == Statistic::medians && measure_.raw[entry.row] <= value(node)[0];
        if (negative) entry.weight = -entry.weight;
        measure_.add(&sums[node * measure_.sums()], entry);
    }

    // The loss of rows with these sums, predicted by one value.
    Loss loss(const Sum* sums, Sum weight, const double* prediction) const {
        if (measure_.n_classes > 0) {
            const size_t predicted = label(prediction);
            double total_cost = 0;
            for (int c = 0; c < measure_.n_classes; ++c)
                total_cost += static_cast<double>(sums[c]) * cost_of(c, predicted);
            return {total_cost * measure_.weight_unit, 0};
        }
        double moments[3];
        measure_.read(sums, moments);
        const double from = prediction[0] - measure_.offset;
        switch (measure_.statistic) {
            case Statistic::squares:
                return {std::max(0.0, moments[2] - 2 * from * moments[1] + from * from * moments[0]), moments[2]};
            case Statistic::medians: {
                const double range = static_cast<double>(measure_.max_abs) * measure_.target_unit;
                return {std::max(0.0, moments[1] - from * moments[0]),
                        static_cast<double>(weight) * measure_.weight_unit * (range + std::abs(from))};
            }
            case Statistic::deviance: {
                const double mean = prediction[0], log_mean = positive_log(mean);
                const double sum = measure_.offset * moments[0] + moments[1];
                return {std::max(0.0, moments[2] - (log_mean + 1) * sum + mean * moments[0]),
                        std::abs(moments[2]) + std::abs(log_mean + 1) * sum + mean * moments[0]};
            }
            case Statistic::classes:
                break;
        }
        unknown_value("Statistic");
    }

    // The loss of one row with a numeric target.
    double row_loss(double truth, double prediction) const {
        if (measure_.statistic == Statistic::medians) return std::abs(truth - prediction);
        if (measure_.statistic == Statistic::squares) return (truth - prediction) * (truth - prediction);
        const double log_ratio = truth > 0 ? std::log(truth) - positive_log(prediction) : 0;
        return std::max(0.0, truth * log_ratio - truth + prediction);
    }

    // A mean of zero has an infinite deviance from a positive target; the smallest number keeps losses comparable.
    static double positive_log(double mean) { return std::log(std::max(mean, std::numeric_limits<double>::min())); }

    // The loss of a fractional row by the tree as it stands, or (`cut` >= 0) with that node as a leaf.
    double loss_of(const FractionalRow& row, int32_t cut) const {
        std::vector<double> prediction(flat_.value.width(), 0.0);
        const std::vector<Visit>& visits = row.visits;
        for (size_t i = 0; i < visits.size();) {
            const int32_t node = visits[i].node;
            const bool leaf = visits[i].ends || reduced_.leaf[node] || node == cut;
            if (!leaf) {
                ++i;
                continue;
            }
            for (size_t k = 0; k < prediction.size(); ++k) prediction[k] += visits[i].share * value(node)[k];
            while (i < visits.size() && visits[i].node < end_[node]) ++i;
        }
        const double weight = static_cast<double>(measure_.weight_of(row.row));
        if (measure_.n_classes > 0) {
            return weight * cost_of(measure_.classes[row.row], label(prediction.data())) * measure_.weight_unit;
        }
        return weight * measure_.weight_unit * row_loss(measure_.raw[row.row], prediction[0]);
    }

    // Once through the tree from below; whether anything was cut.
    bool pass() {
        const int width = measure_.sums();
        std::vector<int32_t> removed(routing_.size(), 0);
        for (size_t i = 1; i < routing_.size(); ++i)
            removed[i] = removed[flat_.parent[i]] || reduced_.leaf[flat_.parent[i]];
        std::vector<double> below(routing_.size(), 0);
        bool changed = false;
        for (size_t i = routing_.size(); i-- > 0;) {
            if (removed[i]) continue;
            const Loss alone = loss(&through_[i * width], weight_through_[i], value(i));
            if (routing_[i].children.empty() || reduced_.leaf[i]) {
                below[i] = alone.value;
                continue;
            }
            below[i] = loss(&here_[i * width], weight_through_[i], value(i)).value;
            for (int child : routing_[i].children) below[i] += below[child];
            if (cut(i, alone, below[i])) {
                below[i] = alone.value;
                changed = true;
            }
        }
        return changed;
    }

    bool cut(size_t node, const Loss& alone, double below) {
        std::vector<double> losses, before;
        for (const size_t i : fractional_rows_of_[node]) {
            losses.push_back(loss_of(fractional_rows_[i], static_cast<int32_t>(node)));
            before.push_back(fractional_rows_[i].loss);
        }
        const double as_leaf = alone.value + sum_of(losses);
        const double as_is = below + sum_of(before);
        if (as_leaf > as_is + rounding * alone.scale) return false;
        for (size_t i = 0; i < losses.size(); ++i) fractional_rows_[fractional_rows_of_[node][i]].loss = losses[i];
        reduced_.leaf[node] = 1;
        reduced_.as_leaf[node] = as_leaf;
        reduced_.below[node] = as_is;
        return true;
    }

    // Smallest first, so that the order of rows cannot matter.
    static double sum_of(std::vector<double> losses) {
        std::sort(losses.begin(), losses.end());
        return std::accumulate(losses.begin(), losses.end(), 0.0);
    }

    static constexpr double rounding = 1e-14; // of the terms of a loss

    const FlatTree& flat_;
    const std::vector<Column>& columns_;
    const Measure& measure_;
    const std::vector<double>& cost_;
    std::vector<RoutingNode> routing_;
    std::vector<uint64_t> keys_;
    std::vector<int32_t> end_;                   // the subtree of node i is i .. end_[i] - 1
    std::vector<Sum> here_;                      // rows of one path that end at the node
    std::vector<Sum> through_;                   // rows of one path that come through it
    std::vector<Sum> weight_through_;            // their weight
    std::vector<FractionalRow> fractional_rows_; // all others
    std::vector<std::vector<size_t>> fractional_rows_of_;
    std::vector<double> value_;
    Reduced reduced_;
};

} // namespace

Reduced reduce_error(const FlatTree& flat, const std::vector<Column>& columns, uint64_t seed, const Measure& measure,
                     const std::vector<double>& cost) {
    return Reducer(flat, columns, seed, measure, cost).run();
}

} // namespace tw

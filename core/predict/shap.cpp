#include "predict/shap.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace tw {
namespace {

struct Points {
    std::vector<double> at, weight;
};

// Gauss-Legendre on (0, 1): `count` points are exact up to the degree 2 count - 1.
Points points_of(size_t count) {
    Points points{std::vector<double>(count), std::vector<double>(count)};
    const double n = static_cast<double>(count);
    for (size_t i = 0; i < count; ++i) {
        double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5));
        double slope = 1;
        for (int step = 0; step < 100; ++step) { // Newton's method on the polynomial; a handful of steps is enough
            double before = 1, here = x;
            for (size_t k = 2; k <= count; ++k) {
                const double j = static_cast<double>(k);
                const double next = ((2 * j - 1) * x * here - (j - 1) * before) / j;
                before = here;
                here = next;
            }
            slope = n * (x * here - before) / (x * x - 1);
            const double move = here / slope;
            x -= move;
            if (std::abs(move) < 1e-16) break;
        }
        points.at[i] = (1 - x) / 2;
        points.weight[i] = 1 / ((1 - x * x) * slope * slope);
    }
    return points;
}

} // namespace

TreeShap::TreeShap(const FlatTree& flat, uint64_t seed)
    : outputs_(flat.value.width()),
      routing_nodes_(routing_nodes_of(flat)),
      keys_(node_keys(routing_nodes_, seed)),
      depth_(flat.depth),
      child_number_(routing_nodes_.size(), 0),
      zero_(routing_nodes_.size(), 1),
      value_(flat.value.all()),
      base_(outputs_, 0) {
    std::set<int> split_column;
    std::vector<double> max_abs(routing_nodes_.size(), 1);
    for (size_t i = 0; i < routing_nodes_.size(); ++i) {
        const RoutingNode& routing_node = routing_nodes_[i];
        deepest_ = std::max(deepest_, static_cast<size_t>(depth_[i]));
        if (routing_node.children.empty()) {
            for (size_t k = 0; k < outputs_; ++k) base_[k] += max_abs[i] * value_[i * outputs_ + k];
            continue;
        }
        split_column.insert(routing_node.split.column);
        for (const Split& surrogate : routing_node.surrogates) split_column.insert(surrogate.column);
        double total = 0;
        for (const int32_t child : routing_node.children) total += flat.weight[child];
        for (size_t c = 0; c < routing_node.children.size(); ++c) {
            const int32_t child = routing_node.children[c];
            child_number_[child] = static_cast<int32_t>(c);
            // Without any weight in the children (rows all stopped above them), every child counts the same.
            zero_[child] =
                total > 0 ? flat.weight[child] / total : 1.0 / static_cast<double>(routing_node.children.size());
            max_abs[child] = max_abs[i] * zero_[child];
        }
    }
    n_split_columns_ = split_column.size();
}

// One row's way through all nodes, depth first; open nodes lie on a path from the root.
class TreeShap::Walk {
public:
    Walk(const TreeShap& tree, size_t columns)
        : tree_(tree),
          points_(padded(points_of((std::min(tree.n_split_columns_, tree.deepest_) + 1) / 2))),
          latest_(columns, 0),
          path_(tree.deepest_ + 1),
          factors_((tree.deepest_ + 2) * factor_size()),
          ends_((tree.deepest_ + 1) * n_points() * tree.outputs_) {
        std::fill_n(product(0), 2 * n_points(), 1.0); // the root: all factors are one
    }

    // out: columns x outputs, zero before.
    void run(const std::vector<Column>& columns, int64_t row, double* out) {
        out_ = out;
        size_t open = 0; // nodes with children, from the root down
        for (size_t i = 0; i < tree_.routing_nodes_.size(); ++i) {
            const auto depth = static_cast<size_t>(tree_.depth_[i]);
            while (open > depth) close(--open);
            if (depth > 0) enter(depth, i);
            if (tree_.routing_nodes_[i].children.empty()) {
                end(depth, path_[depth], i);
            } else {
                open = depth + 1;
                descend(depth, i, columns, row);
            }
        }
        while (open > 1) close(--open);
    }

private:
    struct Open {
        size_t column = 0;       // that decided the way here: the parent's
        size_t before = 0;       // the depth above where the same column did, 0 for the first time
        double one = 1;          // the row's weight by that column, down to here
        double zero = 1;         // the training weight
        size_t split_column = 0; // the column that decides the way on
        Routing routing;         // where the row goes on
        const RoutingNode* routing_node = nullptr;
    };

    static constexpr size_t lanes = 4; // points, for processors that multiply several numbers at once

    // Points without weight fill up the last group.
    static Points padded(Points points) {
        while (points.at.size() % lanes != 0) {
            points.at.push_back(0.5);
            points.weight.push_back(0);
        }
        return points;
    }
    template <class Work>
    void each_point(Work work) const {
        for (size_t first = 0; first < n_points(); first += lanes) {
            for (size_t q = 0; q < lanes; ++q) work(first + q);
        }
    }

    size_t n_points() const { return points_.at.size(); }
    size_t factor_size() const { return 3 * n_points(); }
    // Per open node and point: the product of all columns' factors; the inverse of its own column's factor; that
    // column's (one - zero) / factor. One more place than nodes: a path that ends where a value is missing.
    double* product(size_t depth) { return &factors_[depth * factor_size()]; }
    double* inverse(size_t depth) { return product(depth) + n_points(); }
    double* excess(size_t depth) { return product(depth) + 2 * n_points(); }
    // Per open node with children, output and point: the values reached below it, times their paths' products.
    double* ends(size_t depth) { return &ends_[depth * n_points() * tree_.outputs_]; }

    // The factors at `depth`, given what its parent knows and the step's own weights.
    void multiply(size_t depth, Open& here, double one, double zero) {
        here.one = one = one * path_[here.before].one;
        here.zero = zero = zero * path_[here.before].zero;
        double *out = product(depth), *inverted = inverse(depth), *more = excess(depth);
        const double *above = product(depth - 1), *old = inverse(here.before), *at = points_.at.data();
        if (!(one + zero > 1e-290)) { // no weight, or next to none, comes here: its inverse would be no number
            std::fill_n(out, factor_size(), 0.0);
            return;
        }
        each_point([=](size_t q) {
            const double factor = one * at[q] + zero * (1 - at[q]);
            const double inverted_factor = 1 / factor;
            out[q] = above[q] * factor * old[q];
            inverted[q] = inverted_factor;
            more[q] = (one - zero) * inverted_factor;
        });
    }

    void enter(size_t depth, size_t node) {
        Open& here = path_[depth];
        const Open& parent = path_[depth - 1];
        const int child_number = tree_.child_number_[node];
        const Split& split = parent.routing_node->split;
        const double own = part_of_child(split, parent.routing, split.share, child_number);
        here.column = parent.split_column;
        here.before = latest_[here.column];
        multiply(depth, here, own, tree_.zero_[node]);
    }

    void descend(size_t depth, size_t node, const std::vector<Column>& columns, int64_t row) {
        Open& here = path_[depth];
        const RoutingNode& routing_node = tree_.routing_nodes_[node];
        const Routing routing = route_row(routing_node, tree_.keys_[node], columns, row);
        const bool by_surrogate = routing.routed_by == RoutedBy::surrogate;
        here.routing_node = &routing_node;
        here.routing = routing;
        here.split_column = static_cast<size_t>(by_surrogate ? routing_node.surrogates[routing.surrogate].column
                                                             : routing_node.split.column);
        std::fill_n(ends(depth), n_points() * tree_.outputs_, 0.0);
        if (depth > 0) latest_[here.column] = depth;
        if (routing.child == stop_here) stop(depth, node);
    }

    // The row ends at a node with children: as if it had one more child, for this row alone.
    void stop(size_t depth, size_t node) {
        Open here;
        here.column = path_[depth].split_column;
        here.before = latest_[here.column];
        multiply(depth + 1, here, 1, 0);
        end(depth + 1, here, node);
    }

    // A path ends with the value of `node`.
    void end(size_t depth, const Open& here, size_t node) {
        const double* reached = product(depth);
        const double gained = integral(depth, here.before, reached);
        for (size_t k = 0; k < tree_.outputs_; ++k) {
            const double value = tree_.value_[node * tree_.outputs_ + k];
            double* sum = ends(depth - 1) + k * n_points();
            each_point([=](size_t q) { sum[q] += reached[q] * value; });
            out_[here.column * tree_.outputs_ + k] += gained * value;
        }
    }

    // The integral of what the step to `depth` adds to its column; the step before has added the rest.
    double integral(size_t depth, size_t before, const double* reached) {
        const double *more = excess(depth), *less = excess(before), *weight = points_.weight.data();
        double sum[lanes] = {};
        for (size_t first = 0; first < n_points(); first += lanes) {
            for (size_t q = 0; q < lanes; ++q) {
                sum[q] += weight[first + q] * reached[first + q] * (more[first + q] - less[first + q]);
            }
        }
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }

    void close(size_t depth) {
        const Open& here = path_[depth];
        double* out = out_ + here.column * tree_.outputs_;
        for (size_t k = 0; k < tree_.outputs_; ++k) {
            const double* below = ends(depth) + k * n_points();
            double* sum = ends(depth - 1) + k * n_points();
            out[k] += integral(depth, here.before, below);
            each_point([=](size_t q) { sum[q] += below[q]; });
        }
        latest_[here.column] = here.before;
    }

    const TreeShap& tree_;
    Points points_;
    std::vector<size_t> latest_; // per column: the deepest open node that it led to, 0 for none
    std::vector<Open> path_;     // per depth
    std::vector<double> factors_, ends_;
    double* out_ = nullptr;
};

void TreeShap::shap_values(const std::vector<Column>& columns, int64_t rows, ThreadPool& pool, double* out) const {
    constexpr int64_t block = 256;
    const size_t width = columns.size() * outputs_;
    std::fill_n(out, static_cast<size_t>(rows) * width, 0.0);
    if (deepest_ == 0) return;
    pool.run((rows + block - 1) / block, [&](int64_t b) {
        Walk walk(*this, columns.size());
        const int64_t last = std::min(rows, (b + 1) * block);
        for (int64_t row = b * block; row < last; ++row) {
            walk.run(columns, row, out + static_cast<size_t>(row) * width);
        }
    });
}

} // namespace tw

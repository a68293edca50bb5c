#include "predict.hpp"

#include <algorithm>

#include "draw.hpp"
#include "pool.hpp"

namespace tw {
namespace {

Split split_at(const FlatTree& flat, int i) {
    Split split;
    split.column = flat.column[i];
    split.closed = flat.closed[i] != 0;
    split.missing = flat.missing[i];
    split.unseen = flat.unseen[i];
    split.breaks.assign(flat.breaks.begin() + flat.break_start[i], flat.breaks.begin() + flat.break_start[i + 1]);
    split.child_of_bin.assign(flat.child_of_bin.begin() + flat.bin_start[i],
                              flat.child_of_bin.begin() + flat.bin_start[i + 1]);
    split.share.assign(flat.share.begin() + flat.share_start[i], flat.share.begin() + flat.share_start[i + 1]);
    return split;
}

} // namespace

Router::Router(const FlatTree& flat, uint64_t seed)
    : answers_(flat.n_values), nodes_(flat.parent.size()), value_(flat.value) {
    nodes_[0].key = mix(seed, 0);
    for (size_t i = 0; i < nodes_.size(); ++i) {
        Node& node = nodes_[i];
        node.children.assign(flat.children.begin() + flat.child_start[i],
                             flat.children.begin() + flat.child_start[i + 1]);
        if (node.children.empty()) continue;
        node.split = split_at(flat, flat.split_start[i]);
        for (int s = 1; s <= flat.n_surrogates[i]; ++s)
            node.surrogates.push_back(split_at(flat, flat.split_start[i] + s));
        for (size_t c = 0; c < node.children.size(); ++c) nodes_[node.children[c]].key = mix(node.key, c + 1);
    }
}

template <class Visit>
void Router::follow(const std::vector<Column>& columns, int64_t row, Visit visit) const {
    struct Path {
        int32_t node;
        double weight;
    };
    std::vector<Path> others; // where a missing value went down several branches; a stack, for trees may be very deep
    Path path{0, 1.0};
    while (true) {
        const Node& at = nodes_[path.node];
        int child = at.children.empty() ? stop_here : destination(at.split, at.surrogates, columns, row);
        if (child == random_child) child = draw_child(at.split.share, at.key, hash_row(columns, row));
        if (child >= 0) {
            path.node = at.children[child];
            continue;
        }
        if (child == spread) {
            for (size_t c = at.children.size(); c-- > 0;) {
                if (at.split.share[c] > 0) others.push_back({at.children[c], path.weight * at.split.share[c]});
            }
        } else {
            visit(path.node, path.weight);
        }
        if (others.empty()) return;
        path = others.back();
        others.pop_back();
    }
}

template <class Work>
void Router::in_blocks(int64_t rows, int threads, Work work) const {
    constexpr int64_t block = 4096;
    parallel_for((rows + block - 1) / block, threads, [&](int64_t b) {
        for (int64_t row = b * block; row < std::min(rows, (b + 1) * block); ++row) work(row);
    });
}

void Router::predict(const std::vector<Column>& columns, int64_t rows, int threads, double* out) const {
    in_blocks(rows, threads, [&](int64_t row) {
        double* answer = out + row * answers_;
        std::fill(answer, answer + answers_, 0.0);
        follow(columns, row, [&](int node, double weight) {
            const double* value = &value_[static_cast<size_t>(node) * answers_];
            for (int i = 0; i < answers_; ++i) answer[i] += weight * value[i];
        });
    });
}

void Router::apply(const std::vector<Column>& columns, int64_t rows, int threads, int32_t* out) const {
    in_blocks(rows, threads, [&](int64_t row) {
        double heaviest = -1;
        follow(columns, row, [&](int node, double weight) {
            if (weight <= heaviest) return;
            heaviest = weight;
            out[row] = node;
        });
    });
}

} // namespace tw

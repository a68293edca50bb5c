#include "reduced_error.hpp"

#include <algorithm>
#include <numeric>

#include "draw.hpp"

namespace tw {
namespace {

// A node that a row comes through, and with how much of itself.
struct Visit {
    int32_t node;
    double share;
    bool ends; // without going on to a child
};

// A row that goes down several branches: every node it comes to, depth first, and its loss as the tree stands.
struct Guest {
    int64_t row;
    std::vector<Visit> visits;
    double loss = 0;
};

class Reducer {
public:
    Reducer(const FlatTree& flat, const std::vector<Column>& columns, uint64_t seed, const Measure& measure,
            const std::vector<double>& cost)
        : flat_(flat),
          columns_(columns),
          measure_(measure),
          cost_(cost),
          forks_(forks_of(flat)),
          keys_(keys_of(forks_, seed)),
          end_(forks_.size()),
          here_(forks_.size() * measure.sums(), 0),
          guests_of_(forks_.size()),
          reduced_{std::vector<int32_t>(forks_.size(), 0), std::vector<double>(forks_.size(), 0),
                   std::vector<double>(forks_.size(), 0)} {
        for (size_t i = forks_.size(); i-- > 0;) {
            end_[i] = forks_[i].children.empty() ? static_cast<int32_t>(i) + 1 : end_[forks_[i].children.back()];
        }
    }

    Reduced run() {
        for (const Entry& entry : all_entries(Recipe{}, measure_, columns_)) seat(entry);
        through_ = here_;
        const int width = measure_.sums();
        for (size_t i = forks_.size(); i-- > 1;) {
            for (int s = 0; s < width; ++s) through_[flat_.parent[i] * width + s] += through_[i * width + s];
        }
        for (Guest& guest : guests_) guest.loss = loss_of(guest, -1);
        while (pass()) {
        }
        return std::move(reduced_);
    }

private:
    // Follows a row, as prediction does; a row of one path is added up where it ends, any other becomes a guest.
    void seat(const Entry& entry) {
        Guest guest{entry.row, {}};
        std::vector<Visit> open{{0, 1.0, false}};
        bool divided = false;
        while (!open.empty()) {
            Visit visit = open.back();
            open.pop_back();
            const Fork& fork = forks_[visit.node];
            const int child =
                fork.children.empty() ? stop_here : way_of(fork, keys_[visit.node], columns_, entry.row).child;
            visit.ends = child == stop_here;
            guest.visits.push_back(visit);
            if (child >= 0) open.push_back({fork.children[child], visit.share, false});
            if (child != spread) continue;
            divided = true;
            for (size_t c = fork.children.size(); c-- > 0;) {
                const double share = fork.split.share[c];
                if (share > 0) open.push_back({fork.children[c], visit.share * share, false});
            }
        }
        if (!divided) {
            measure_.add(&here_[static_cast<size_t>(guest.visits.back().node) * measure_.sums()], entry);
            return;
        }
        for (const Visit& visit : guest.visits) guests_of_[visit.node].push_back(guests_.size());
        guests_.push_back(std::move(guest));
    }

    const double* value(size_t node) const { return &flat_.value[node * flat_.n_values]; }

    size_t label(const double* answer) const {
        return answer_of(cost_, {answer, static_cast<size_t>(measure_.n_classes)});
    }

    double cost_of(size_t truth, size_t answer) const {
        if (!cost_.empty()) return cost_[truth * measure_.n_classes + answer];
        return truth == answer ? 0 : 1;
    }

    // What rows of these sums lose by one answer.
    double loss(const Sum* sums, const double* answer) const {
        if (measure_.n_classes > 0) {
            const size_t given = label(answer);
            double paid = 0;
            for (int c = 0; c < measure_.n_classes; ++c) paid += static_cast<double>(sums[c]) * cost_of(c, given);
            return paid * measure_.weight_unit;
        }
        double moments[3];
        measure_.read_moments(sums, moments);
        const double from = answer[0] - measure_.offset;
        return std::max(0.0, moments[2] - 2 * from * moments[1] + from * from * moments[0]);
    }

    // What a guest loses as the tree stands, or (`cut` >= 0) with that node as a leaf.
    double loss_of(const Guest& guest, int32_t cut) const {
        std::vector<double> answer(flat_.n_values, 0.0);
        const std::vector<Visit>& visits = guest.visits;
        for (size_t i = 0; i < visits.size();) {
            const int32_t node = visits[i].node;
            const bool leaf = visits[i].ends || reduced_.leaf[node] || node == cut;
            if (!leaf) {
                ++i;
                continue;
            }
            for (int k = 0; k < flat_.n_values; ++k) answer[k] += visits[i].share * value(node)[k];
            while (i < visits.size() && visits[i].node < end_[node]) ++i;
        }
        const double weight = static_cast<double>(measure_.weight_of(guest.row));
        if (measure_.n_classes > 0) {
            return weight * cost_of(measure_.classes[guest.row], label(answer.data())) * measure_.weight_unit;
        }
        const double off = answer[0] - measure_.raw[guest.row];
        return weight * measure_.weight_unit * off * off;
    }

    // Once through the tree from below; whether anything was cut.
    bool pass() {
        const int width = measure_.sums();
        std::vector<int32_t> gone(forks_.size(), 0);
        for (size_t i = 1; i < forks_.size(); ++i) gone[i] = gone[flat_.parent[i]] || reduced_.leaf[flat_.parent[i]];
        std::vector<double> below(forks_.size(), 0);
        bool changed = false;
        for (size_t i = forks_.size(); i-- > 0;) {
            if (gone[i]) continue;
            const double alone = loss(&through_[i * width], value(i));
            if (forks_[i].children.empty() || reduced_.leaf[i]) {
                below[i] = alone;
                continue;
            }
            below[i] = loss(&here_[i * width], value(i));
            for (int child : forks_[i].children) below[i] += below[child];
            if (cut(i, alone, below[i])) {
                below[i] = alone;
                changed = true;
            }
        }
        return changed;
    }

    bool cut(size_t node, double alone, double below) {
        std::vector<double> losses, before;
        for (size_t guest : guests_of_[node]) {
            losses.push_back(loss_of(guests_[guest], static_cast<int32_t>(node)));
            before.push_back(guests_[guest].loss);
        }
        const double as_leaf = alone + sum_of(losses);
        const double as_is = below + sum_of(before);
        if (as_leaf > as_is + rounding(node)) return false;
        for (size_t g = 0; g < losses.size(); ++g) guests_[guests_of_[node][g]].loss = losses[g];
        reduced_.leaf[node] = 1;
        reduced_.as_leaf[node] = as_leaf;
        reduced_.below[node] = as_is;
        return true;
    }

    // Smallest first, so that the order of guests cannot matter.
    static double sum_of(std::vector<double> losses) {
        std::sort(losses.begin(), losses.end());
        return std::accumulate(losses.begin(), losses.end(), 0.0);
    }

    // Weights add up exactly; squares are differences of larger numbers.
    double rounding(size_t node) const {
        const Sum* sums = &through_[node * measure_.sums()];
        if (measure_.n_classes > 0) return 0;
        return 1e-14 * static_cast<double>(sums[2]) * measure_.square_unit;
    }

    const FlatTree& flat_;
    const std::vector<Column>& columns_;
    const Measure& measure_;
    const std::vector<double>& cost_;
    std::vector<Fork> forks_;
    std::vector<uint64_t> keys_;
    std::vector<int32_t> end_;  // the subtree of node i is i .. end_[i] - 1
    std::vector<Sum> here_;     // rows of one path that end at the node
    std::vector<Sum> through_;  // rows of one path that come through it
    std::vector<Guest> guests_; // all others
    std::vector<std::vector<size_t>> guests_of_;
    Reduced reduced_;
};

} // namespace

Reduced reduce_error(const FlatTree& flat, const std::vector<Column>& columns, uint64_t seed, const Measure& measure,
                     const std::vector<double>& cost) {
    return Reducer(flat, columns, seed, measure, cost).run();
}

} // namespace tw

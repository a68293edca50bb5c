// Offers the candidate splits of one column's bins to the scorer, with the missing entries in every child that the
// policy allows.
//
// The order of candidates is fixed, and ties are decided by it (docs/choices.md).
#pragma once

#include <bit>
#include <initializer_list>
#include <optional>

#include "split/scorer.hpp"
#include "target/histogram.hpp"

namespace tw {

// Where the missing entries may be scored.
enum class MissingPlacement { nowhere, own_child, high_then_low, any_child };

// Names a candidate: which order of the bins, where it is cut (or which set of bins), who holds the missing.
struct CandidateId {
    int order = 0;
    int64_t cut = 0;
    int missing = -1;
};
constexpr int64_t missing_vs_known = -1; // the cut that only separates known from missing

class CandidateSearch {
public:
    CandidateSearch(const Task& task, const Parent& parent, const Histogram& histogram, MissingPlacement placement,
                    bool by_gain, double min_side)
        : task_(task),
          histogram_(histogram),
          placement_(histogram.has_missing() ? placement : MissingPlacement::nowhere),
          scorer_(task, parent, by_gain, min_side),
          children_(task.measure.width()) {}

    bool tries_missing() const { return placement_ != MissingPlacement::nowhere; }

    // Two sides of known entries; `low_more` and `high_more` are the same with the missing ones added.
    void offer_two(CandidateId id, const Accumulator& low, const Accumulator& high, const Accumulator& low_more,
                   const Accumulator& high_more) {
        switch (placement_) {
            case MissingPlacement::nowhere:
                offer(id, -1, {&low, &high});
                break;
            case MissingPlacement::own_child:
                offer(id, 2, {&low, &high, &missing()});
                break;
            case MissingPlacement::high_then_low:
                offer(id, 1, {&low, &high_more});
                offer(id, 0, {&low_more, &high}, true);
                break;
            case MissingPlacement::any_child:
                offer(id, 0, {&low_more, &high});
                offer(id, 1, {&low, &high_more}, true);
                break;
        }
    }

    void offer_missing_vs_known() {
        if (placement_ == MissingPlacement::nowhere) return;
        Accumulator known(task_.measure, histogram_);
        for (int i = 0; i < histogram_.size(); ++i) known.add(histogram_.bin(i));
        offer({0, missing_vs_known, -1}, 1, {&known, &missing()});
    }

    void offer(CandidateId id, int missing_child, std::initializer_list<const Accumulator*> accumulators,
               bool same_cut = false) {
        offer(id, missing_child, std::span<const Accumulator* const>(accumulators.begin(), accumulators.size()),
              same_cut);
    }

    void offer(CandidateId id, int missing_child, std::span<const Accumulator* const> accumulators,
               bool same_cut = false) {
        children_.resize(static_cast<int>(accumulators.size()));
        for (size_t i = 0; i < accumulators.size(); ++i) {
            accumulators[i]->read(children_.stat(static_cast<int>(i)));
            children_.rows[i] = accumulators[i]->rows();
        }
        id.missing = missing_child;
        ids_.push_back(id);
        scorer_.offer(children_, same_cut);
    }

    // Divisions into many children, the missing entries in each child in turn.
    void offer_each(const std::vector<Accumulator>& accumulators) {
        std::vector<const Accumulator*> pointers;
        for (const Accumulator& accumulator : accumulators) pointers.push_back(&accumulator);
        if (placement_ == MissingPlacement::nowhere)
            return offer(CandidateId{}, -1, std::span<const Accumulator* const>(pointers));
        if (placement_ == MissingPlacement::own_child) {
            pointers.push_back(&missing());
            return offer(CandidateId{}, static_cast<int>(accumulators.size()),
                         std::span<const Accumulator* const>(pointers));
        }
        for (size_t i = 0; i < accumulators.size(); ++i) {
            Accumulator more = accumulators[i];
            more.add(histogram_.missing());
            std::vector<const Accumulator*> with = pointers;
            with[i] = &more;
            offer(CandidateId{}, static_cast<int>(i), std::span<const Accumulator* const>(with));
        }
    }

    struct Found {
        CandidateId id;
        double score;
        int allowed;
    };
    std::optional<Found> close() {
        const CandidateScorer::Best best = scorer_.close();
        if (best.best < 0) return std::nullopt;
        return Found{ids_[best.best], best.score, best.allowed};
    }

    // Every cut of the bins in this order for which `may_cut(i)` allows a cut after place i.
    template <class MayCut>
    void scan(int order_number, const std::vector<int>& order, MayCut may_cut) {
        Accumulator low(task_.measure, histogram_), high(task_.measure, histogram_);
        for (int i = 0; i < histogram_.size(); ++i) high.add(histogram_.bin(i));
        Accumulator low_more = low, high_more = high;
        low_more.add(histogram_.missing());
        high_more.add(histogram_.missing());
        for (size_t i = 0; i + 1 < order.size(); ++i) {
            const Bin bin = histogram_.bin(order[i]);
            low.add(bin);
            high.remove(bin);
            if (placement_ == MissingPlacement::high_then_low || placement_ == MissingPlacement::any_child) {
                low_more.add(bin);
                high_more.remove(bin);
            }
            if (may_cut(i)) offer_two({order_number, static_cast<int64_t>(i), -1}, low, high, low_more, high_more);
        }
    }

    // Every division of the bins into two sets, in the order of the reflected Gray code; bit i of the mark: bin i is
    // low.
    void enumerate() {
        Accumulator low(task_.measure, histogram_), high(task_.measure, histogram_);
        for (int i = 0; i < histogram_.size(); ++i) high.add(histogram_.bin(i));
        Accumulator low_more = low, high_more = high;
        low_more.add(histogram_.missing());
        high_more.add(histogram_.missing());
        const int64_t last = int64_t{1} << (histogram_.size() - 1);
        int64_t set = 0;
        for (int64_t step = 1; step < last; ++step) {
            const int flip = std::countr_zero(static_cast<uint64_t>(step));
            const Bin bin = histogram_.bin(flip);
            set ^= int64_t{1} << flip;
            const bool enters = (set >> flip) & 1;
            Accumulator& to = enters ? low : high;
            Accumulator& from = enters ? high : low;
            Accumulator& to_more = enters ? low_more : high_more;
            Accumulator& from_more = enters ? high_more : low_more;
            to.add(bin);
            from.remove(bin);
            to_more.add(bin);
            from_more.remove(bin);
            offer_two({0, set, -1}, low, high, low_more, high_more);
        }
    }

private:
    const Accumulator& missing() {
        if (!missing_) {
            missing_.emplace(task_.measure, histogram_);
            missing_->add(histogram_.missing());
        }
        return *missing_;
    }

    const Task& task_;
    const Histogram& histogram_;
    MissingPlacement placement_;
    CandidateScorer scorer_;
    Children children_;
    std::vector<CandidateId> ids_;
    std::optional<Accumulator> missing_;
};

} // namespace tw

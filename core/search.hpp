// The search: candidate divisions of one column's bins are offered to the judge, with the missing entries in every
// place the policy allows.
//
// Comes in: buckets and orders of their bins. Goes out: the mark of the best candidate, from which its division is
// made. Always holds: candidates are offered in a fixed order, so ties are decided by it (docs/choices.md).
#pragma once

#include <bit>
#include <initializer_list>
#include <optional>

#include "buckets.hpp"
#include "judge.hpp"

namespace tw {

// Where the missing entries may be scored.
enum class Place { nowhere, own_child, high_then_low, any_child };

// Names a candidate: which order of the bins, where it is cut (or which set of bins), who holds the missing.
struct Mark {
    int order = 0;
    int64_t cut = 0;
    int missing = -1;
};
constexpr int64_t known_or_missing = -1; // the cut that only separates known from missing

class Search {
public:
    Search(const Task& task, const Parent& parent, const Buckets& buckets, Place place, bool by_gain, double min_side)
        : task_(task),
          buckets_(buckets),
          place_(buckets.has_missing() ? place : Place::nowhere),
          judge_(task, parent, by_gain, min_side),
          children_(task.measure.width()) {}

    bool places_missing() const { return place_ != Place::nowhere; }

    // Two sides of known entries; `low_more` and `high_more` are the same with the missing ones added.
    void offer_two(Mark mark, const Pile& low, const Pile& high, const Pile& low_more, const Pile& high_more) {
        switch (place_) {
            case Place::nowhere:
                offer(mark, -1, {&low, &high});
                break;
            case Place::own_child:
                offer(mark, 2, {&low, &high, &missing()});
                break;
            case Place::high_then_low:
                offer(mark, 1, {&low, &high_more});
                offer(mark, 0, {&low_more, &high});
                break;
            case Place::any_child:
                offer(mark, 0, {&low_more, &high});
                offer(mark, 1, {&low, &high_more});
                break;
        }
    }

    void offer_known_or_missing() {
        if (place_ == Place::nowhere) return;
        Pile known(task_.measure, buckets_);
        for (int i = 0; i < buckets_.size(); ++i) known.add(buckets_.bin(i));
        offer({0, known_or_missing, -1}, 1, {&known, &missing()});
    }

    void offer(Mark mark, int missing_child, std::initializer_list<const Pile*> piles) {
        offer(mark, missing_child, std::span<const Pile* const>(piles.begin(), piles.size()));
    }

    void offer(Mark mark, int missing_child, std::span<const Pile* const> piles) {
        children_.resize(static_cast<int>(piles.size()));
        for (size_t i = 0; i < piles.size(); ++i) {
            piles[i]->read(children_.stat(static_cast<int>(i)));
            children_.rows[i] = piles[i]->rows();
        }
        mark.missing = missing_child;
        marks_.push_back(mark);
        judge_.offer(children_);
    }

    // Divisions into many children, the missing entries in each child in turn.
    void offer_each(const std::vector<Pile>& piles) {
        std::vector<const Pile*> pointers;
        for (const Pile& pile : piles) pointers.push_back(&pile);
        if (place_ == Place::nowhere) return offer(Mark{}, -1, std::span<const Pile* const>(pointers));
        if (place_ == Place::own_child) {
            pointers.push_back(&missing());
            return offer(Mark{}, static_cast<int>(piles.size()), std::span<const Pile* const>(pointers));
        }
        for (size_t i = 0; i < piles.size(); ++i) {
            Pile more = piles[i];
            more.add(buckets_.missing());
            std::vector<const Pile*> with = pointers;
            with[i] = &more;
            offer(Mark{}, static_cast<int>(i), std::span<const Pile* const>(with));
        }
    }

    struct Found {
        Mark mark;
        double score;
        int allowed;
    };
    std::optional<Found> close() {
        const Judge::Verdict verdict = judge_.close();
        if (verdict.best < 0) return std::nullopt;
        return Found{marks_[verdict.best], verdict.score, verdict.allowed};
    }

    // Every cut of the bins in this order for which `may_cut(i)` allows a cut after place i.
    template <class MayCut>
    void sweep(int order_number, const std::vector<int>& order, MayCut may_cut) {
        Pile low(task_.measure, buckets_), high(task_.measure, buckets_);
        for (int i = 0; i < buckets_.size(); ++i) high.add(buckets_.bin(i));
        Pile low_more = low, high_more = high;
        low_more.add(buckets_.missing());
        high_more.add(buckets_.missing());
        for (size_t i = 0; i + 1 < order.size(); ++i) {
            const Bin bin = buckets_.bin(order[i]);
            low.add(bin);
            high.remove(bin);
            if (place_ == Place::high_then_low || place_ == Place::any_child) {
                low_more.add(bin);
                high_more.remove(bin);
            }
            if (may_cut(i)) offer_two({order_number, static_cast<int64_t>(i), -1}, low, high, low_more, high_more);
        }
    }

    // Every division of the bins into two sets, in the order of the reflected Gray code; bit i of the mark: bin i is
    // low.
    void enumerate() {
        Pile low(task_.measure, buckets_), high(task_.measure, buckets_);
        for (int i = 0; i < buckets_.size(); ++i) high.add(buckets_.bin(i));
        Pile low_more = low, high_more = high;
        low_more.add(buckets_.missing());
        high_more.add(buckets_.missing());
        const int64_t last = int64_t{1} << (buckets_.size() - 1);
        int64_t set = 0;
        for (int64_t step = 1; step < last; ++step) {
            const int flip = std::countr_zero(static_cast<uint64_t>(step));
            const Bin bin = buckets_.bin(flip);
            set ^= int64_t{1} << flip;
            const bool enters = (set >> flip) & 1;
            Pile& to = enters ? low : high;
            Pile& from = enters ? high : low;
            Pile& to_more = enters ? low_more : high_more;
            Pile& from_more = enters ? high_more : low_more;
            to.add(bin);
            from.remove(bin);
            to_more.add(bin);
            from_more.remove(bin);
            offer_two({0, set, -1}, low, high, low_more, high_more);
        }
    }

private:
    const Pile& missing() {
        if (!missing_) {
            missing_.emplace(task_.measure, buckets_);
            missing_->add(buckets_.missing());
        }
        return *missing_;
    }

    const Task& task_;
    const Buckets& buckets_;
    Place place_;
    Judge judge_;
    Children children_;
    std::vector<Mark> marks_;
    std::optional<Pile> missing_;
};

} // namespace tw

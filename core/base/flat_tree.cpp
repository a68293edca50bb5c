#include "base/flat_tree.hpp"

namespace tw {

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
    if (!flat.band_low.empty()) {
        split.band_low = flat.band_low[i];
        split.band_high = flat.band_high[i];
    }
    return split;
}

} // namespace tw

#include "fork.hpp"

namespace tw {

std::vector<Fork> forks_of(const FlatTree& flat) {
    std::vector<Fork> forks(flat.parent.size());
    for (size_t i = 0; i < forks.size(); ++i) {
        Fork& fork = forks[i];
        fork.children.assign(flat.children.begin() + flat.child_start[i],
                             flat.children.begin() + flat.child_start[i + 1]);
        if (fork.children.empty()) continue;
        fork.split = split_at(flat, flat.split_start[i]);
        for (int s = 1; s <= flat.n_surrogates[i]; ++s)
            fork.surrogates.push_back(split_at(flat, flat.split_start[i] + s));
    }
    return forks;
}

std::vector<uint64_t> keys_of(const std::vector<Fork>& forks, uint64_t seed) {
    std::vector<uint64_t> keys(forks.size());
    keys[0] = root_key(seed);
    for (size_t i = 0; i < forks.size(); ++i) {
        for (size_t c = 0; c < forks[i].children.size(); ++c) keys[forks[i].children[c]] = child_key(keys[i], c);
    }
    return keys;
}

} // namespace tw

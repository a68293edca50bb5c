// Tables in parts, as Python sees them: a part that answers, answers merged, a tree grown by asking.
//
// Comes in: arrays of one part, what it remembers, questions as bytes; or a way to ask. Goes out: bytes and arrays, or
// the grown tree. Always holds: the interpreter lock is released while the core works.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "bind_common.hpp"
#include "part.hpp"
#include "rows_parts.hpp"

namespace tw {

// Arrays as they lie in a dictionary; those that are not there are empty.
template <class Arrays>
Arrays borrowed(const nb::dict& from) {
    Arrays arrays;
    Arrays::each(arrays, [&](const char* name, auto& array) {
        using Value = typename std::remove_reference_t<decltype(array)>::value_type;
        if (!from.contains(name)) return;
        const auto view = nb::cast<nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(from[name]);
        array = {view.data(), view.shape(0)};
    });
    return arrays;
}

// The same arrays as numpy's, which own or share their values.
template <class Arrays>
nb::object given(const std::optional<Arrays>& arrays, const nb::dict& before) {
    if (!arrays) return nb::none();
    nb::dict out;
    Arrays::each(*arrays, [&](const char* name, const auto& array) {
        using Value = typename std::remove_cvref_t<decltype(array)>::value_type;
        if (array.empty()) return;
        if (before.contains(name)) {
            const auto old = nb::cast<nb::ndarray<const Value, nb::ndim<1>, nb::device::cpu>>(before[name]);
            if (old.data() == array.data()) {
                out[name] = before[name];
                return;
            }
        }
        auto* shared = new Array<Value>(array);
        const nb::capsule owner(shared, [](void* p) noexcept { delete static_cast<Array<Value>*>(p); });
        const size_t shape[1] = {array.size()};
        out[name] = nb::cast(nb::ndarray<nb::numpy, const Value>(array.data(), 1, shape, owner));
    });
    return out;
}

inline nb::bytes as_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }
inline std::string_view view_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

inline nb::bytes merge_answers(const nb::bytes& first, const nb::bytes& second) {
    std::string merged;
    {
        const std::string_view one = view_of(first), other = view_of(second);
        const nb::gil_scoped_release unlocked;
        Answer answer = read_message<Answer>(one);
        answer.merge(read_message<Answer>(other));
        merged = written(answer);
    }
    return as_bytes(merged);
}

// Asking goes through Python, whatever thread asks; what Python raises comes back as it is.
inline AskParts ask_through(const nb::object& function) {
    return [&function](const std::string& question) {
        const nb::gil_scoped_acquire lock;
        const nb::object answer = function(as_bytes(question));
        return std::string(view_of(nb::cast<nb::bytes>(answer)));
    };
}

} // namespace tw

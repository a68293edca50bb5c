// Values as bytes, for messages between the driver and its workers.
//
// A type names its members once, in `fields`, for both directions. Truncated messages are rejected. All machines of one
// tree must have the same byte order.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/small_vector.hpp"
#include "target/measure.hpp"

namespace tw {

// Whether a value is its bytes and nothing else.
template <class Value>
constexpr bool is_plain = std::is_arithmetic_v<Value> || std::is_enum_v<Value> || std::is_same_v<Value, Sum>;

class Serializer {
public:
    template <class... Values>
    void operator()(const Values&... values) {
        (put(values), ...);
    }
    std::string take() { return std::move(bytes_); }

private:
    template <class Value>
    void put(const Value& value) {
        if constexpr (is_plain<Value>) {
            raw(&value, sizeof value);
        } else {
            std::apply(*this,
                       const_cast<Value&>(value).fields()); // of a value that is read too; a writer changes nothing
        }
    }
    template <class Value>
    void put(const std::optional<Value>& value) {
        put(static_cast<uint8_t>(value.has_value()));
        if (value) put(*value);
    }
    template <class Value>
    void put(const std::vector<Value>& values) {
        put_all(values);
    }
    template <class Value, size_t few>
    void put(const SmallVector<Value, few>& values) {
        put_all(values);
    }
    template <class Values>
    void put_all(const Values& values) {
        using Value = typename Values::value_type;
        put(static_cast<uint64_t>(values.size()));
        if constexpr (is_plain<Value>) {
            raw(values.data(), values.size() * sizeof(Value));
        } else {
            for (const Value& value : values) put(value);
        }
    }
    void raw(const void* from, size_t size) { bytes_.append(static_cast<const char*>(from), size); }

    std::string bytes_;
};

class Deserializer {
public:
    explicit Deserializer(std::string_view bytes) : bytes_(bytes) {}

    template <class... Values>
    void operator()(Values&... values) {
        (get(values), ...);
    }

private:
    template <class Value>
    void get(Value& value) {
        if constexpr (is_plain<Value>) {
            raw(&value, sizeof value);
        } else {
            std::apply(*this, value.fields());
        }
    }
    template <class Value>
    void get(std::optional<Value>& value) {
        uint8_t there = 0;
        get(there);
        if (there == 0) return value.reset();
        value.emplace();
        get(*value);
    }
    template <class Value>
    void get(std::vector<Value>& values) {
        get_all(values);
    }
    template <class Value, size_t few>
    void get(SmallVector<Value, few>& values) {
        get_all(values);
    }
    template <class Values>
    void get_all(Values& values) {
        using Value = typename Values::value_type;
        uint64_t size = 0;
        get(size);
        if (size > bytes_.size()) throw std::invalid_argument("a message is damaged");
        values.resize(size);
        if constexpr (is_plain<Value>) {
            raw(values.data(), size * sizeof(Value));
        } else {
            for (Value& value : values) get(value);
        }
    }
    void raw(void* to, size_t size) {
        if (size > bytes_.size()) throw std::invalid_argument("a message ends too early");
        if (size > 0) std::memcpy(to, bytes_.data(), size);
        bytes_.remove_prefix(size);
    }

    std::string_view bytes_;
};

template <class Value>
std::string serialized(const Value& value) {
    Serializer writer;
    writer(value);
    return writer.take();
}

template <class Value>
Value deserialize(std::string_view bytes) {
    Value value;
    Deserializer reader(bytes);
    reader(value);
    return value;
}

} // namespace tw

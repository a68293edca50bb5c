// The end of a function that switches over all values of an enumeration. Such a switch has no `default`, so that a new
// value fails to compile (-Wswitch) until every function handles it.
#pragma once

#include <stdexcept>
#include <string>

namespace tw {

[[noreturn]] inline void unknown_value(const char* enumeration) {
    throw std::logic_error(std::string("unknown value of ") + enumeration);
}

} // namespace tw

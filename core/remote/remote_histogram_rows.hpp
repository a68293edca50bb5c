// Remote rows with binned columns: cuts and surrogates from merged histograms.
//
// Columns that are not binned are counted value by value.
#pragma once

#include <memory>

#include "remote/remote_rows.hpp"

namespace tw {

// Null if no counter serves the criterion and the target.
std::unique_ptr<RowStore> remote_histogram_rows(const RemoteTable& remote, const Recipe& recipe,
                                                const RemoteSettings& settings, const SendRequest& send);

} // namespace tw

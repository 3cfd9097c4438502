// The server on two descriptors, until the other side has gone or somebody wants it to stop.
#pragma once

#include "kernevo/mcp/server.h"

namespace kernevo::mcp {

// Longer messages are refused.
inline constexpr std::size_t kLongestMessage = 16U << 20U;

void serve(const ServerOptions& options, int input, int output, const std::function<bool()>& stop);

} // namespace kernevo::mcp

// How long to wait before a try.
#pragma once

#include "kernevo/llm/error_body.h"
#include "kernevo/llm/transport.h"

#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <string_view>

namespace kernevo::llm {

// A longer wait asked for by an endpoint is an outage.
inline constexpr double kLongestHint = 60;

// What the endpoint asks for, in its headers or its error.
std::optional<double> wanted_wait(const HttpResponse& response, const ErrorBody& error,
                                  std::time_t now);
// "Wed, 21 Oct 2026 07:28:00 GMT"
std::optional<std::time_t> parse_http_date(std::string_view text);

// 0.5 s, doubling to 8 s, up to a quarter less by chance; the chance depends on the id alone.
double backoff_seconds(std::string_view id, std::uint32_t failures);

// False when it was cancelled.
bool sleep_for(double seconds, const std::function<bool()>& cancelled);

} // namespace kernevo::llm

// One HTTP exchange. The seam between the client and the world: libcurl, recorded calls, a fake.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::llm {

struct HttpRequest {
  std::string method = "POST";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers; // with the key: never logged as it is
  std::string body;
  std::string id; // of the call, for replays
  double connect_seconds = 15;
  double total_seconds = 900;
};

enum class TransportError {
  none,
  cannot_resolve,
  cannot_connect,
  tls,
  timeout, // total_seconds are over
  stalled, // no payload for too long: the client's own verdict, or a recorded one
  cut,     // the connection ended before the answer did
  cancelled,
  not_recorded, // a replay has no such call
  other,
};
std::string_view name_of(TransportError error);
std::optional<TransportError> transport_error_named(std::string_view name);

struct HttpResponse {
  TransportError error = TransportError::none; // how the exchange ended
  std::string message;                         // of the error, one line
  int status = 0;                              // 0 when no status line came
  std::map<std::string, std::string> headers;  // names in lower case
};

// Called with each piece of the body as it comes; false ends the exchange as cancelled.
using OnBody = std::function<bool(std::string_view piece)>;
// Called at least four times a second while waiting; false ends the exchange as cancelled.
using GoOn = std::function<bool()>;

class Transport {
public:
  virtual ~Transport() = default;
  // Thread-safe. `on_body` is called with headers and status already in `response`.
  virtual void exchange(const HttpRequest& request, HttpResponse& response, const OnBody& on_body,
                        const GoOn& go_on) = 0;
  // How many requests were not the ones a replay had recorded.
  virtual std::uint64_t differing() const { return 0; }
};

} // namespace kernevo::llm

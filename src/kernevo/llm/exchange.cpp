#include "kernevo/llm/exchange.h"

#include "kernevo/llm/trace.h"

#include <chrono>

namespace kernevo::llm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kErrorLimit = 1U << 20U;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A reply that said all it had to say is whole, however the connection ended; one that did not is
// cut, even if the connection ended well.
void settle_end(Exchanged& result, bool stalled, bool refused) {
  HttpResponse& response = result.response;
  if (result.success() && (result.read.complete || result.read.error || refused)) {
    response.error = TransportError::none;
    response.message.clear();
  } else if (stalled && response.error == TransportError::cancelled) {
    response.error = TransportError::stalled;
    response.message = "no payload for too long";
  } else if (result.success() && response.error == TransportError::none && result.read.streamed) {
    response.error = TransportError::cut;
    response.message = "the stream ended before the answer did";
  }
}

} // namespace

Exchanged run_exchange(const ExchangeParts& parts, const HttpRequest& request,
                       const Cancelled& cancelled) {
  Exchanged result;
  ReplyReader reader;
  const auto start = Clock::now();
  auto last_payload = start;
  std::uint64_t payloads = 0;
  bool stalled = false;
  bool refused = false;
  const auto go_on = [&] {
    if (cancelled && cancelled())
      return false;
    stalled = since(last_payload) > parts.idle_seconds;
    return !stalled;
  };
  const auto on_body = [&](std::string_view piece) {
    if (parts.plain || !result.success()) {
      last_payload = Clock::now();
      result.body +=
          piece.substr(0, (parts.plain ? kReplyLimit : kErrorLimit) - result.body.size());
      return true;
    }
    refused = !reader.feed(piece);
    if (reader.payloads() != payloads) {
      payloads = reader.payloads();
      last_payload = Clock::now();
    }
    return !refused && go_on(); // comments that never end must not hide the silence
  };
  parts.transport.exchange(request, result.response, on_body, go_on);
  if (!parts.plain && result.success()) {
    reader.finish();
    result.read = reader.read();
  }
  if (!parts.plain || !result.success())
    settle_end(result, stalled, refused);
  result.seconds = since(start);
  if (parts.tracer != nullptr)
    parts.tracer->write({request, result, parts.base_url, parts.path}, parts.redactor);
  return result;
}

} // namespace kernevo::llm

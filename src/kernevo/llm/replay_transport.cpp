#include "kernevo/llm/replay_transport.h"

#include <algorithm>

namespace kernevo::llm {

Result<std::shared_ptr<ReplayTransport>> ReplayTransport::open(const std::filesystem::path& place) {
  KERNEVO_TRY(calls, read_recording(place));
  return std::make_shared<ReplayTransport>(std::move(calls));
}

ReplayTransport::ReplayTransport(std::vector<RecordedCall> calls) {
  for (RecordedCall& call : calls)
    calls_[call.id].push_back(std::move(call));
}

// The first that fits, else the next in turn. What was refused before it, because the recorded
// process had not yet learnt the endpoint's ways, is passed over.
std::optional<RecordedCall> ReplayTransport::take(const HttpRequest& request) {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(request.id);
  if (found == calls_.end() || found->second.empty())
    return std::nullopt;
  std::deque<RecordedCall>& queue = found->second;
  auto fitting = std::find_if(queue.begin(), queue.end(), [&](const RecordedCall& call) {
    return same_request(call, request.body);
  });
  if (fitting == queue.end()) {
    ++differing_;
    fitting = queue.begin();
  }
  RecordedCall call = std::move(*fitting);
  queue.erase(queue.begin(), fitting + 1);
  return call;
}

void ReplayTransport::exchange(const HttpRequest& request, HttpResponse& response,
                               const OnBody& on_body, const GoOn&) {
  const auto call = take(request);
  if (!call) {
    response.error = TransportError::not_recorded;
    response.message = "the recording has no call " + request.id;
    return;
  }
  response.status = call->status;
  response.headers = call->headers;
  const std::string body = with_usage(*call, request.body);
  if (!body.empty())
    on_body(body);
  response.error = call->error;
  response.message = call->message;
}

} // namespace kernevo::llm

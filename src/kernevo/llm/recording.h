// Recorded calls, from the files of a trace or written by hand.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/llm/transport.h"

#include <filesystem>

namespace kernevo::llm {

inline constexpr std::string_view kProbeId = "probe";

struct RecordedCall {
  std::string id;
  std::string request_json; // empty: not recorded, anything matches
  int status = 200;
  std::map<std::string, std::string> headers;
  std::string body;
  TransportError error = TransportError::none;
  std::string message;
  bool add_usage = false; // written by hand: count the tokens of the prompt and the answer
};

// A folder of trace files, or a file with one such object a line. Probes and cancelled
// calls are left out.
Result<std::vector<RecordedCall>> read_recording(const std::filesystem::path& place);

// The body with a count of tokens, for a request of this body.
std::string with_usage(const RecordedCall& call, std::string_view request_body);
// Whether the request is the recorded one.
bool same_request(const RecordedCall& call, std::string_view request_body);

} // namespace kernevo::llm

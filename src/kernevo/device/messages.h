// The conversation between the judge and the execution worker.
#pragma once

#include "kernevo/device/device.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

struct OpenMessage {
  std::string gpu;
  std::uint64_t memory_bytes = 0;
};
struct LoadMessage {
  std::string ptx;
  std::string file;
};
struct RunMessage {
  RunRequest request;
  std::vector<Region> regions;
};

std::string encode(const OpenMessage& message);
std::string encode(const LoadMessage& message);
std::string encode(const RunMessage& message);
Result<OpenMessage> decode_open(std::string_view text);
Result<LoadMessage> decode_load(std::string_view text);
Result<RunMessage> decode_run(std::string_view text);
// "open", "load", "run" or "" for anything else.
std::string kind_of_message(std::string_view text);

std::string encode(const Result<RunOutcome>& outcome);
Result<RunOutcome> decode_outcome(std::string_view text);

} // namespace kernevo

// The conversation between the judge and the execution worker.
#pragma once

#include "kernevo/device/device.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// Machine code of the loaded module, by its key.
using MachineCode = std::map<std::string, std::string>;

struct OpenMessage {
  std::string gpu;
  std::uint64_t memory_bytes = 0;
  std::uint64_t arena_bytes = 0;
};
struct LoadMessage {
  std::string ptx;
  std::string file;
  MachineCode code; // made by earlier workers
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

// `code`: what was compiled since the last answer.
std::string encode(const Result<RunOutcome>& outcome, const MachineCode& code = {});
Result<RunOutcome> decode_outcome(std::string_view text, MachineCode* code = nullptr);

} // namespace kernevo

// What the judge and a worker on a real GPU say to each other about counters.
#pragma once

#include "kernevo/device/device.h"
#include "kernevo/device/messages.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// Followed by the run, as a RunMessage.
struct CudaCountMessage {
  std::vector<std::string> counters;
  RunMessage run;
};

std::string encode(const CudaCountMessage& message);
Result<CudaCountMessage> decode_count(std::string_view text);

std::string encode_counted(const CountedRun& run);
// The worker may be in the hands of others: what it says is quoted, and must be possible.
Result<CountedRun> decode_counted(std::string_view text, const RunRequest& request);

} // namespace kernevo

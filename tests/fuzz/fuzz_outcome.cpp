// Whatever a worker answers is an outcome that can be, or an error in words.
#include "kernevo/device/check_outcome.h"
#include "kernevo/device/messages.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernevo;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  MachineCode code;
  const auto outcome = decode_outcome(text, &code);
  std::size_t bytes = 0;
  for (const auto& [key, object] : code)
    bytes += object.size();
  if (bytes > size)
    std::abort();
  if (!outcome) {
    if (outcome.error().message.empty() && text.find("trouble") == std::string_view::npos)
      std::abort();
    return 0;
  }
  const auto again = decode_outcome(encode(outcome, code));
  if (!again || again->blocks_run != outcome->blocks_run || again->counts != outcome->counts)
    std::abort();
  RunRequest request;
  request.plan.launches.resize(1);
  request.instruments.profile.resize(1);
  if (check_outcome(request, *outcome, false) &&
      (outcome->blocks_run > 1 || (!outcome->fault && outcome->counts.size() != 1)))
    std::abort();
  decode_run(text);
  decode_load(text);
  decode_open(text);
  return 0;
}

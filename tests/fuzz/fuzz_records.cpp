// Any text is a record or an error in words; what is a record is written and read again the same.
// The first byte says which record: builds come from a compile worker, events from a journal.
#include "kernevo/model/json.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/model/launch_price.h"
#include "kernevo/model/program_report.h"
#include "kernevo/model/run_event.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace kernevo;

template <class Read> void exercise(std::string_view text, Read read) {
  const auto record = read(text);
  if (!record) {
    if (record.error().message.empty() || record.error().message.size() > 2000)
      std::abort();
    return;
  }
  const std::string written = to_json(*record);
  const auto again = read(written);
  if (!again || to_json(*again) != written)
    std::abort();
}

constexpr const char* kEvents[] = {"run_started", "directive",  "candidate",   "evaluation",
                                   "restarted",   "migrated",   "run_stopped", "run_resumed",
                                   "attempt",     "model_call", "no_such_kind"};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
  case 'a': exercise(text, build_from_json); break;
  case 'b': exercise(text, launch_plan_from_json); break;
  case 'c': exercise(text, finding_from_json); break;
  case 'd': exercise(text, timing_from_json); break;
  case 'e': exercise(text, comparison_from_json); break;
  case 'f': exercise(text, verdict_from_json); break;
  case 'g': exercise(text, error_from_json); break;
  case 'h': exercise(text, launch_counts_from_json); break;
  case 'i': exercise(text, bottleneck_from_json); break;
  case 'j': exercise(text, diagnosis_from_json); break;
  case 'k': exercise(text, kernel_facts_from_json); break;
  case 'l': exercise(text, launch_price_from_json); break;
  case 'm': exercise(text, price_request_from_json); break;
  case 'n': exercise(text, price_answer_from_json); break;
  case 'o': exercise(text, program_report_from_json); break;
  default:
    exercise(text, [&](std::string_view body) {
      return event_from_json(kEvents[data[0] % std::size(kEvents)], body);
    });
  }
  return 0;
}

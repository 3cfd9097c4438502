// Stands in for the program as an execution worker: the text of a module says how it behaves.
//   "crashes"  ends when it is to run
//   "killed"   is killed when it is to run, as by a system out of memory
//   "lies"     says that more was compiled than executed
//   "babbles"  answers what is no answer
//   "refuses"  does not load
// Anything else runs. As a compiler it is killed, whatever the source.
#include "kernevo/base/worker_process.h"
#include "kernevo/device/messages.h"

#include <csignal>
#include <cstdlib>

namespace kernevo {
namespace {

std::string answer_to_load(const std::string& module) {
  if (module != "refuses")
    return encode(Result<RunOutcome>(RunOutcome{}));
  Finding finding;
  finding.kind = FindingKind::invalid_ptx;
  finding.message = "refused by the script";
  return encode(Result<RunOutcome>(RunOutcome::stopped_by(finding)));
}

std::string answer_to_run(const std::string& module) {
  if (module == "crashes")
    std::abort();
  if (module == "killed")
    std::raise(SIGKILL);
  if (module == "babbles")
    return "{";
  RunOutcome outcome;
  outcome.blocks_run = 1;
  outcome.warp_instructions = 10;
  outcome.compiled_instructions = module == "lies" ? 11 : 0;
  return encode(Result<RunOutcome>(outcome));
}

int serve() {
  WorkerChannel channel;
  std::string module;
  while (const auto message = channel.receive()) {
    if (message->text.find("\"source\":") != std::string::npos)
      std::raise(SIGKILL);
    const std::string kind = kind_of_message(message->text);
    std::string answer = encode(Result<RunOutcome>(RunOutcome{}));
    if (kind == "load") {
      module = decode_load(message->text).value().ptx;
      answer = answer_to_load(module);
    } else if (kind == "run") {
      answer = answer_to_run(module);
    }
    if (!channel.send(answer))
      return 0;
  }
  return 0;
}

} // namespace
} // namespace kernevo

int main() {
  return kernevo::serve_role({[](const std::string&) {}, kernevo::serve});
}

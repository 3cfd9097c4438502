#include "scripted_proposer.h"

#include "kernevo/base/hash.h"

#include <chrono>
#include <fmt/format.h>
#include <thread>

namespace kernevo::evolve {

Result<std::vector<propose::Offer>>
ScriptedProposer::offers(const propose::Parent&,
                         const std::function<bool(const std::string&)>& seen,
                         const std::set<std::string>&) {
  std::vector<propose::Offer> offers;
  for (const auto& [direction, sources] : script_.kernels) {
    std::size_t left = 0;
    for (const std::string& source : sources)
      left += seen(sha256_hex(source)) ? 0 : 1;
    if (left > 0)
      offers.push_back({direction, left});
  }
  return offers;
}

Result<std::optional<propose::Proposal>>
ScriptedProposer::propose(const propose::ProposalRequest& request) {
  ++*script_.asked;
  if (script_.fails)
    return fail(ErrorCode::infrastructure, "the line is dead");
  // The later the step, the sooner the answer: they come in another order than they were asked.
  if (script_.milliseconds > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(script_.milliseconds) /
                                (1 + request.directive.step % 3));
  const auto found = script_.kernels.find(request.directive.direction);
  if (found != script_.kernels.end())
    for (const std::string& source : found->second)
      if (!request.seen(sha256_hex(source)))
        return std::optional(propose::Proposal{
            source, fmt::format("A kernel for {}.", found->first), {found->first}, {}});
  return std::optional<propose::Proposal>();
}

} // namespace kernevo::evolve

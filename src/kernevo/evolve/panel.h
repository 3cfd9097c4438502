// The proposers of a run and what they need to know of it: sources of parents, what was proposed
// before, what to avoid.
#pragma once

#include "kernevo/evolve/navigator.h"
#include "kernevo/propose/proposer.h"
#include "kernevo/store/journal.h"

#include <memory>
#include <mutex>
#include <unordered_map>

namespace kernevo::evolve {

class Panel {
public:
  // The journal must outlive it.
  Panel(std::vector<std::unique_ptr<propose::Proposer>> proposers, store::Journal& journal)
      : proposers_(std::move(proposers)), journal_(journal) {}

  // What the navigator may ask in this state; both must outlive the view.
  NavigatorView view(const RunState& state);

  propose::Proposer* find(std::string_view name);
  bool all_immediate() const;
  Result<propose::ProposalRequest> request(const RunState& state, const Directive& directive);

private:
  Result<propose::Parent> parent_of(const Member& member);
  std::function<bool(const std::string&)> seen_before(Step step);
  bool was_seen(const std::string& hash, Step before);

  std::vector<std::unique_ptr<propose::Proposer>> proposers_;
  store::Journal& journal_;
  std::map<std::string, std::string> sources_; // by hash; of members
  std::mutex mutex_;
  std::unordered_map<std::string, Step> first_seen_; // by hash: what was proposed stays so
};

} // namespace kernevo::evolve

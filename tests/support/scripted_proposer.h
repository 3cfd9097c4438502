// A proposer whose kernels the test wrote: for each direction a list, proposed in this order.
#pragma once

#include "kernevo/propose/proposer.h"

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kernevo::evolve {

struct Script {
  std::map<std::string, std::vector<std::string>> kernels; // direction -> sources
  bool immediate = true;
  bool fails = false;   // every answer is an error
  int milliseconds = 0; // how long a slow one thinks; some longer than others
  std::shared_ptr<std::atomic<int>> asked = std::make_shared<std::atomic<int>>(0);
};

class ScriptedProposer : public propose::Proposer {
public:
  explicit ScriptedProposer(Script script) : script_(std::move(script)) {}

  std::string_view name() const override { return "scripted"; }
  bool immediate() const override { return script_.immediate; }
  Result<std::vector<propose::Offer>> offers(const propose::Parent& parent,
                                             const std::function<bool(const std::string&)>& seen,
                                             const std::set<std::string>& avoid) override;
  Result<bool> can_recombine(const propose::Parent&, const propose::Parent&,
                             const std::function<bool(const std::string&)>&) override {
    return false;
  }
  Result<std::optional<propose::Proposal>>
  propose(const propose::ProposalRequest& request) override;

private:
  Script script_;
};

} // namespace kernevo::evolve

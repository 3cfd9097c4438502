// A proposer that is known by name only: it could follow any direction, but is not asked here. Its
// kernels come from outside (an agent that asks and tells), or are in the journal already.
#pragma once

#include "kernevo/propose/free_proposer.h"

namespace kernevo::propose {

class AbsentProposer : public FreeProposer {
public:
  struct Traits {
    double weight = 1;
    std::uint32_t repairs = 0;
    bool outside = false;
  };
  AbsentProposer(std::string name, Traits traits) : name_(std::move(name)), traits_(traits) {}

  std::string_view name() const override { return name_; }
  double weight() const override { return traits_.weight; }
  std::uint32_t repairs() const override { return traits_.repairs; }
  bool outside() const override { return traits_.outside; }
  Result<std::optional<Proposal>> propose(const ProposalRequest& /*request*/) override {
    return std::optional<Proposal>();
  }

private:
  std::string name_;
  Traits traits_;
};

} // namespace kernevo::propose

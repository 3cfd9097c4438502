// A proposer that may follow any direction from any parent, without end: a model, a command, an
// agent. It takes its time, so it is asked by a thread of the pipeline.
#pragma once

#include "kernevo/propose/proposer.h"

namespace kernevo::propose {

class FreeProposer : public Proposer {
public:
  bool immediate() const override { return false; }
  Result<std::vector<Offer>> offers(const Parent& parent,
                                    const std::function<bool(const std::string&)>& seen,
                                    const std::set<std::string>& avoid) override;
  Result<bool> can_recombine(const Parent& parent, const Parent& mate,
                             const std::function<bool(const std::string&)>& seen) override;
};

} // namespace kernevo::propose

#include "kernevo/propose/absent_proposer.h"

#include "kernevo/propose/directions.h"

namespace kernevo::propose {

Result<std::vector<Offer>> AbsentProposer::offers(const Parent& /*parent*/,
                                                  const std::function<bool(const std::string&)>&,
                                                  const std::set<std::string>&) {
  return every_direction();
}

Result<bool> AbsentProposer::can_recombine(const Parent& /*parent*/, const Parent& /*mate*/,
                                           const std::function<bool(const std::string&)>&) {
  return true;
}

Result<std::optional<Proposal>> AbsentProposer::propose(const ProposalRequest& /*request*/) {
  return std::optional<Proposal>();
}

} // namespace kernevo::propose

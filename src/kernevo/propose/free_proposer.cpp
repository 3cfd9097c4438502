#include "kernevo/propose/free_proposer.h"

#include "kernevo/propose/directions.h"

namespace kernevo::propose {

Result<std::vector<Offer>> FreeProposer::offers(const Parent& /*parent*/,
                                                const std::function<bool(const std::string&)>&,
                                                const std::set<std::string>& /*avoid*/) {
  return every_direction();
}

Result<bool> FreeProposer::can_recombine(const Parent& /*parent*/, const Parent& /*mate*/,
                                         const std::function<bool(const std::string&)>&) {
  return true;
}

} // namespace kernevo::propose

// Who writes kernels: the playbook, a model, an agent. A proposer is asked to follow a direction
// from a parent; what it writes is judged like anybody's.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/search_records.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::propose {

// A candidate to start from.
struct Parent {
  Candidate candidate;
  std::string source;                             // the kernel file
  std::map<std::string, std::int64_t> parameters; // its best
};

// Directions a proposer could follow from a parent now, and by how many different kernels; nothing
// in `moves` means that it knows no end.
struct Offer {
  std::string direction;
  std::optional<std::size_t> moves;

  bool operator==(const Offer&) const = default;
};

struct ProposalRequest {
  Directive directive;
  Parent parent;
  std::optional<Parent> mate;  // of a recombination
  std::set<std::string> avoid; // genes that were found to do harm
  // Whether a source (by hash) was proposed before in this run.
  std::function<bool(const std::string&)> seen;
  std::uint64_t seed = 0; // for choices among equals
};

struct Proposal {
  std::string source;
  std::string title;
  std::vector<std::string> genes;
  ProposalCost cost;
};

class Proposer {
public:
  virtual ~Proposer() = default;
  virtual std::string_view name() const = 0;
  // Answers at once: it is asked in the loop itself, and what it proposes depends on the request
  // alone. Others are asked by a thread of the pipeline.
  virtual bool immediate() const = 0;
  virtual Result<std::vector<Offer>> offers(const Parent& parent,
                                            const std::function<bool(const std::string&)>& seen,
                                            const std::set<std::string>& avoid) = 0;
  // Whether two parents have something to join.
  virtual Result<bool> can_recombine(const Parent& parent, const Parent& mate,
                                     const std::function<bool(const std::string&)>& seen) = 0;
  // Nothing when it has no idea.
  virtual Result<std::optional<Proposal>> propose(const ProposalRequest& request) = 0;
};

} // namespace kernevo::propose

// Who writes kernels: the playbook, a model, an agent. A proposer is asked to follow a direction
// from a parent; what it writes is judged like anybody's.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/diagnosis.h"
#include "kernevo/model/search_records.h"
#include "kernevo/propose/desk.h"

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
  std::optional<Nanoseconds> objective;
  std::optional<double> roofline; // least possible / objective
  std::vector<BottleneckFinding> findings;
};

// What became of a proposal that was not right.
struct FailedAttempt {
  std::string source; // empty when there was none: a reply that could not be read
  Diagnosis diagnosis;
  std::uint32_t ordinal = 0; // 0: the proposal itself
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
  std::uint64_t seed = 0;              // for choices among equals
  std::optional<Nanoseconds> baseline; // the reference's time
  std::optional<Nanoseconds> best;
  std::vector<PastStep> history;    // the last few, oldest first
  std::vector<std::string> lessons; // what was learnt in this run, one sentence each
  Desk* desk = nullptr;             // of a proposer that is not immediate
};

struct Proposal {
  std::string source;
  std::string title;
  std::vector<std::string> genes;
  std::optional<Diagnosis> rejected = std::nullopt; // why there is no source: a reply without one
};

class Proposer {
public:
  virtual ~Proposer() = default;
  virtual std::string_view name() const = 0;
  // Answers at once: it is asked in the loop itself, and what it proposes depends on the request
  // alone. Others are asked by a thread of the pipeline.
  virtual bool immediate() const = 0;
  // How much it is favoured before anything is known of it.
  virtual double weight() const { return 1; }
  virtual Result<std::vector<Offer>> offers(const Parent& parent,
                                            const std::function<bool(const std::string&)>& seen,
                                            const std::set<std::string>& avoid) = 0;
  // Whether two parents have something to join.
  virtual Result<bool> can_recombine(const Parent& parent, const Parent& mate,
                                     const std::function<bool(const std::string&)>& seen) = 0;
  // Nothing when it has no idea.
  virtual Result<std::optional<Proposal>> propose(const ProposalRequest& request) = 0;

  // How often it may try to mend a proposal that is not right.
  virtual std::uint32_t repairs() const { return 0; }
  virtual Result<std::optional<Proposal>> repair(const ProposalRequest& /*request*/,
                                                 const FailedAttempt& /*failed*/) {
    return std::optional<Proposal>();
  }
  // What is to be learnt from a proposal that turned out right: one sentence each.
  virtual Result<std::vector<std::string>> reflect(const ProposalRequest& /*request*/,
                                                   const Proposal& /*proposal*/,
                                                   const Evaluation& /*evaluation*/) {
    return std::vector<std::string>();
  }
  // Its kernels are told from outside (ask/tell): the run waits for them instead of asking.
  virtual bool outside() const { return false; }
};

} // namespace kernevo::propose

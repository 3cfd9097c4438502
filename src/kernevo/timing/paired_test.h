// Decides between faster, slower and same while differences of paired blocks come in.
//
// Looks happen at fixed numbers of blocks that grow geometrically. Each look gives a signed-rank
// interval whose error is a share of the total; the shares add up to the total, so all intervals
// hold together with the stated confidence and looking often does not make a false verdict
// likelier. What earlier looks did not use, because a limit ended the test early, the last look
// spends.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/comparison.h"
#include "kernevo/timing/signed_rank.h"

#include <optional>
#include <vector>

namespace kernevo {

struct PairedPlan {
  int min_blocks = 12;      // of the first look
  int max_blocks = 1024;    // of the last; 4,096 shots
  double growth = 1.5;      // blocks at a look / blocks at the look before
  double confidence = 0.99; // that no look's interval misses the truth
  double margin = 0.005;    // a smaller relative difference is nobody's business
};

Result<PairedPlan> make_paired_plan(PairedPlan parts);

// The numbers of blocks at which the plan looks.
std::vector<int> looks_of(const PairedPlan& plan);

class PairedTest {
public:
  explicit PairedTest(const PairedPlan& plan);

  // log(time of the incumbent / time of the candidate) in one block; looks if a look is due.
  void add(double difference);
  // No more blocks will come: looks once more with all the error that is left.
  void finish();

  // faster, slower or same once shown; ambiguous when finished without; absent before.
  const std::optional<Standing>& standing() const { return standing_; }
  // Of the last look; absent before it.
  const std::optional<CentreInterval>& interval() const { return interval_; }
  int blocks() const { return static_cast<int>(differences_.size()); }

private:
  void look(double error);

  PairedPlan plan_;
  std::vector<int> looks_;
  std::size_t next_look_ = 0;
  std::vector<double> differences_;
  std::optional<CentreInterval> interval_;
  std::optional<Standing> standing_;
};

// What the test found, as a record with its reason. Finishes it if it is undecided; `ended_by`
// says what kept it from going on ("the limit of 256 blocks").
Comparison conclude(PairedTest& test, const PairedPlan& plan, const std::string& ended_by);

} // namespace kernevo

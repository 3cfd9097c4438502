// Why a launch takes as long as it does: what was found, the figures it rests on, every rule that
// was looked at, and what to try.
#pragma once

#include "kernevo/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

enum class BottleneckTag : std::uint8_t {
  dram_bound,
  uncoalesced,
  l2_bound,
  compute_bound,
  tensor_core_idle,
  latency_bound,
  occupancy_limited,
  spills,
  bank_conflict,
  barrier_bound,
  divergence,
  tail_or_launch_bound,
  atomics_contended,
  near_roofline, // the one good news: little is left to win
};
inline constexpr int kBottleneckTags = 14;

std::string_view name_of(BottleneckTag tag);
// Absent for a name that is no tag.
std::optional<BottleneckTag> bottleneck_tag(std::string_view name);

struct BottleneckEvidence {
  std::string metric;
  double value = 0;
  std::string unit;
  std::optional<double> threshold; // the rule compares the metric with; absent: told for context
  // Who says so, where hardware counted some of it: "cuda:0", "virtual GPU"; else empty.
  std::string source = {};

  bool operator==(const BottleneckEvidence&) const = default;
};

struct BottleneckDirection {
  std::string name; // "reuse_on_chip": for programs
  std::string text; // one sentence: for people

  bool operator==(const BottleneckDirection&) const = default;
};

struct BottleneckFinding {
  BottleneckTag tag = BottleneckTag::dram_bound;
  double severity = 0; // 0 to 1: the share of the time that is at stake, estimated by the rule
  std::string message; // one sentence with this launch's figures
  std::string reason;  // one sentence: why it matters
  std::vector<BottleneckEvidence> evidence;
  std::vector<BottleneckDirection> directions; // most promising first

  bool operator==(const BottleneckFinding&) const = default;
};

// One comparison of a rule's condition. A side is absent where the launch has no such figure; the
// comparison then does not hold.
struct RuleComparison {
  std::string text;
  std::optional<double> left;
  std::optional<double> right;
  bool holds = false;

  bool operator==(const RuleComparison&) const = default;
};

struct RuleTrace {
  BottleneckTag tag = BottleneckTag::dram_bound;
  std::string condition;
  std::vector<RuleComparison> comparisons;
  bool fired = false;

  bool operator==(const RuleTrace&) const = default;
};

struct Bottleneck {
  std::string kernel;
  std::vector<BottleneckFinding> findings; // most severe first
  std::vector<RuleTrace> trace;            // of every rule, in the order they were looked at

  // Null when it was not found.
  const BottleneckFinding* find(BottleneckTag tag) const;
  bool operator==(const Bottleneck&) const = default;
};

// The one door into the record: the same parts with the findings in order if they make sense
// together, else what is wrong.
Result<Bottleneck> make_bottleneck(Bottleneck parts);

std::string to_json(const Bottleneck& bottleneck);
Result<Bottleneck> bottleneck_from_json(std::string_view text);

} // namespace kernevo

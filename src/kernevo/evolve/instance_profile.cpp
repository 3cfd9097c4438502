#include "kernevo/evolve/instance_profile.h"

#include "kernevo/evaluate/explain_bench.h"
#include "kernevo/evolve/identity.h"
#include "kernevo/model/json_fields.h"

#include <algorithm>

namespace kernevo::evolve {

Result<ProfiledInstance> profile_instance(const RunContext& context, const BenchResult& bench,
                                          const std::optional<HardwareCounters>& counters,
                                          const BenchResult* measured) {
  std::optional<CounterEvidence> hardware;
  if (counters && counters->refusal.empty())
    hardware.emplace(CounterEvidence{*counters, context.counter_map, measured});
  KERNEVO_TRY(explanations, explain_bench(context.task, bench, context.rules,
                                          context.estimate ? &*context.estimate : nullptr,
                                          hardware ? &*hardware : nullptr));
  const auto slowest_case = std::max_element(
      bench.cases.begin(), bench.cases.end(),
      [](const CaseBench& a, const CaseBench& b) { return a.timing.median < b.timing.median; });
  const auto& launches = slowest_case->launches;
  if (launches.empty()) { // measured: there is a time and nothing to explain it with
    ProfiledInstance profile;
    profile.text = to_json(profile.bottleneck);
    profile.facts = code_facts(bench.build.ptx);
    return profile;
  }
  const auto slowest = std::max_element(launches.begin(), launches.end(),
                                        [](const LaunchBench& a, const LaunchBench& b) {
                                          return a.prediction.time < b.prediction.time;
                                        });
  const auto& launch_explanations =
      explanations[static_cast<std::size_t>(slowest_case - bench.cases.begin())];
  ProfiledInstance profile;
  profile.bottleneck =
      launch_explanations[static_cast<std::size_t>(slowest - launches.begin())].bottleneck;
  profile.text = to_json(profile.bottleneck);
  profile.facts = code_facts(bench.build.ptx);
  profile.facts.launches = static_cast<int>(launches.size());
  for (const LaunchBench& launch : launches)
    profile.facts.registers =
        std::max(profile.facts.registers, launch.resources.registers.value_or(0));
  profile.facts.occupancy = slowest->prediction.occupancy.fraction;
  profile.facts.limiter = name_of(slowest->prediction.occupancy.limiter);
  return profile;
}

std::string write_profile(const ProfiledInstance& profile) {
  return dump_json(Json{{"bottleneck", Json::parse(profile.text)},
                        {"facts", Json::parse(to_json(profile.facts))}});
}

Result<ProfiledInstance> read_profile(std::string_view text) {
  struct Parts {
    std::string bottleneck;
    std::string facts;
    bool quoted = false;
  };
  KERNEVO_TRY(parts, read_json(text, "remembered profile", [](const Json& json) {
                only_keys(json, {"bottleneck", "facts"});
                // Older runs remember both as text, the facts inside an evaluation.
                if (json.at("facts").is_string())
                  return Parts{json.at("bottleneck"), json.at("facts"), true};
                return Parts{dump_json(json.at("bottleneck")), dump_json(json.at("facts"))};
              }));
  ProfiledInstance profile;
  KERNEVO_TRY(bottleneck, bottleneck_from_json(parts.bottleneck));
  profile.bottleneck = std::move(bottleneck);
  profile.text = std::move(parts.bottleneck);
  if (parts.quoted) {
    KERNEVO_TRY(carrier, evaluation_from_json(parts.facts));
    profile.facts = carrier.facts.value_or(KernelFacts{});
    return profile;
  }
  KERNEVO_TRY(facts, kernel_facts_from_json(parts.facts));
  profile.facts = std::move(facts);
  return profile;
}

} // namespace kernevo::evolve

#include "kernevo/model/launch_counts.h"

#include "kernevo/model/json_fields.h"

#include <algorithm>

namespace kernevo {
namespace {

constexpr std::array<std::string_view, 4> kSpaces = {"global", "shared", "local", "constant"};
constexpr std::array<std::string_view, 3> kActions = {"load", "store", "atomic"};
constexpr std::uint64_t kLanes = 32; // of a warp
constexpr double kMostBlocks = 1e30; // of any grid

Json access_to_json(const AccessCounts& a) {
  return {{"space", name_of(a.space)}, {"action", name_of(a.action)}, {"requests", a.requests},
          {"threads", a.threads},      {"bytes", a.useful_bytes},     {"sectors", a.sectors},
          {"lines", a.lines},          {"l1_hits", a.l1_hits},        {"wavefronts", a.wavefronts},
          {"collisions", a.collisions}};
}

AccessCounts access_from_json(const Json& json) {
  only_keys(json, {"space", "action", "requests", "threads", "bytes", "sectors", "lines", "l1_hits",
                   "wavefronts", "collisions"});
  return {enum_at(json, "space", MemorySpace::constant),
          enum_at(json, "action", MemoryAction::atomic),
          json.at("requests"),
          json.at("threads"),
          json.at("bytes"),
          json.at("sectors"),
          json.at("lines"),
          json.at("l1_hits"),
          json.at("wavefronts"),
          json.at("collisions")};
}

Json instruction_to_json(const InstructionCounts& i) {
  Json json{{"ptx_line", i.ptx_line},       {"source_file", i.source_file},
            {"source_line", i.source_line}, {"opcode", i.opcode},
            {"executions", i.executions},   {"threads", i.threads},
            {"diverged", i.diverged},       {"accesses", Json::array()}};
  for (const AccessCounts& access : i.accesses)
    json["accesses"].push_back(access_to_json(access));
  return json;
}

InstructionCounts instruction_from_json(const Json& json) {
  only_keys(json, {"ptx_line", "source_file", "source_line", "opcode", "executions", "threads",
                   "diverged", "accesses"});
  InstructionCounts counts{count_at(json, "ptx_line"),    json.at("source_file"),
                           count_at(json, "source_line"), json.at("opcode"),
                           json.at("executions"),         json.at("threads"),
                           json.at("diverged"),           {}};
  if (counts.diverged > counts.executions ||
      (counts.threads / kLanes) + (counts.threads % kLanes == 0 ? 0 : 1) > counts.executions)
    refuse(fmt::format("line {} has more threads or branches than executions", counts.ptx_line));
  for (const Json& item : list_at(json, "accesses"))
    counts.accesses.push_back(access_from_json(item));
  return counts;
}

Json overlaps_to_json(const std::array<std::optional<double>, 3>& overlaps) {
  Json json = Json::array();
  for (const auto& overlap : overlaps)
    json.push_back(overlap ? Json(*overlap) : Json(nullptr));
  return json;
}

std::array<std::optional<double>, 3> overlaps_at(const Json& json, const char* key) {
  std::array<std::optional<double>, 3> overlaps;
  const Json& list = list_at(json, key);
  if (list.size() != overlaps.size())
    refuse(fmt::format("{} is not a list of three", key));
  for (std::size_t i = 0; i < overlaps.size(); ++i) {
    if (list.at(i).is_null())
      continue;
    overlaps.at(i) = list.at(i).get<double>();
    if (*overlaps.at(i) < 0 || *overlaps.at(i) > 1)
      refuse(fmt::format("{} is not a share", key));
  }
  return overlaps;
}

Json footprint_to_json(const FootprintCounts& f) {
  return {{"buffer", f.buffer},
          {"bytes", f.bytes},
          {"read_sectors", f.read_sectors},
          {"write_sectors", f.write_sectors},
          {"read_overlap", overlaps_to_json(f.read_overlap)},
          {"write_overlap", overlaps_to_json(f.write_overlap)}};
}

FootprintCounts footprint_from_json(const Json& json) {
  only_keys(json,
            {"buffer", "bytes", "read_sectors", "write_sectors", "read_overlap", "write_overlap"});
  return {json.at("buffer"),
          json.at("bytes"),
          amount_at(json, "read_sectors"),
          amount_at(json, "write_sectors"),
          overlaps_at(json, "read_overlap"),
          overlaps_at(json, "write_overlap")};
}

} // namespace

std::string_view name_of(MemorySpace space) {
  return kSpaces.at(static_cast<std::size_t>(space));
}

std::string_view name_of(MemoryAction action) {
  return kActions.at(static_cast<std::size_t>(action));
}

double LaunchCounts::represented() const {
  double sum = 0;
  for (const BlockCounts& one : blocks)
    sum += one.weight;
  return sum > 0 ? sum : 1;
}

std::string to_json(const LaunchCounts& counts) {
  Json json{{"kernel", counts.kernel},
            {"grid", counts.grid},
            {"block", counts.block},
            {"shared_bytes", counts.shared_bytes},
            {"instructions", Json::array()},
            {"footprints", Json::array()},
            {"blocks", Json::array()},
            {"sampling_error", counts.sampling_error ? Json(*counts.sampling_error) : Json()}};
  for (const InstructionCounts& instruction : counts.instructions)
    json["instructions"].push_back(instruction_to_json(instruction));
  for (const FootprintCounts& footprint : counts.footprints)
    json["footprints"].push_back(footprint_to_json(footprint));
  for (const BlockCounts& block : counts.blocks)
    json["blocks"].push_back({block.block, block.warp_instructions, block.global_sectors,
                              block.weight, block.wavefronts});
  return dump_json(json);
}

Result<LaunchCounts> launch_counts_from_json(std::string_view text) {
  return read_json(text, "launch counts", [](const Json& json) {
    only_keys(json, {"kernel", "grid", "block", "shared_bytes", "instructions", "footprints",
                     "blocks", "sampling_error"});
    LaunchCounts counts;
    json.at("kernel").get_to(counts.kernel);
    json.at("grid").get_to(counts.grid);
    json.at("block").get_to(counts.block);
    json.at("shared_bytes").get_to(counts.shared_bytes);
    for (const Json& item : list_at(json, "instructions"))
      counts.instructions.push_back(instruction_from_json(item));
    for (const Json& item : list_at(json, "footprints"))
      counts.footprints.push_back(footprint_from_json(item));
    for (const Json& item : list_at(json, "blocks")) {
      if (!item.is_array() || item.size() < 4 || item.size() > 5)
        refuse("a block is not a list of five numbers");
      const auto weight = item.at(3).get<double>();
      if (!(weight >= 0) || weight > kMostBlocks)
        refuse("a block's weight is no number of blocks");
      counts.blocks.push_back({item.at(0), item.at(1), item.at(2), weight});
      if (item.size() == 5) // older records have four
        item.at(4).get_to(counts.blocks.back().wavefronts);
    }
    if (!json.at("sampling_error").is_null())
      counts.sampling_error = amount_at(json, "sampling_error");
    return counts;
  });
}

} // namespace kernevo

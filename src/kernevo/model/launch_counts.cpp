#include "kernevo/model/launch_counts.h"

#include "kernevo/model/json_fields.h"

namespace kernevo {
namespace {

constexpr std::array<std::string_view, 4> kSpaces = {"global", "shared", "local", "constant"};
constexpr std::array<std::string_view, 3> kActions = {"load", "store", "atomic"};

// The value whose name the text is; throws what read_json() turns into an error.
template <class Enum, std::size_t N>
Enum named(const std::array<std::string_view, N>& names, const Json& json) {
  for (std::size_t i = 0; i < N; ++i)
    if (json.get<std::string>() == names.at(i))
      return static_cast<Enum>(i);
  throw nlohmann::json::other_error::create(601, "unknown name " + json.dump(), &json);
}

Json access_to_json(const AccessCounts& a) {
  return {{"space", name_of(a.space)}, {"action", name_of(a.action)}, {"requests", a.requests},
          {"threads", a.threads},      {"bytes", a.useful_bytes},     {"sectors", a.sectors},
          {"lines", a.lines},          {"l1_hits", a.l1_hits},        {"wavefronts", a.wavefronts},
          {"collisions", a.collisions}};
}

AccessCounts access_from_json(const Json& json) {
  only_keys(json, {"space", "action", "requests", "threads", "bytes", "sectors", "lines", "l1_hits",
                   "wavefronts", "collisions"});
  return {named<MemorySpace>(kSpaces, json.at("space")),
          named<MemoryAction>(kActions, json.at("action")),
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
  InstructionCounts counts{
      json.at("ptx_line"),   json.at("source_file"), json.at("source_line"), json.at("opcode"),
      json.at("executions"), json.at("threads"),     json.at("diverged"),    {}};
  for (const Json& item : json.at("accesses"))
    counts.accesses.push_back(access_from_json(item));
  return counts;
}

Json overlaps_to_json(const std::array<std::optional<double>, 3>& overlaps) {
  Json json = Json::array();
  for (const auto& overlap : overlaps)
    json.push_back(overlap ? Json(*overlap) : Json(nullptr));
  return json;
}

std::array<std::optional<double>, 3> overlaps_from_json(const Json& json) {
  std::array<std::optional<double>, 3> overlaps;
  for (std::size_t i = 0; i < overlaps.size(); ++i)
    if (!json.at(i).is_null())
      overlaps.at(i) = json.at(i).get<double>();
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
          json.at("read_sectors"),
          json.at("write_sectors"),
          overlaps_from_json(json.at("read_overlap")),
          overlaps_from_json(json.at("write_overlap"))};
}

} // namespace

std::string_view name_of(MemorySpace space) {
  return kSpaces.at(static_cast<std::size_t>(space));
}

std::string_view name_of(MemoryAction action) {
  return kActions.at(static_cast<std::size_t>(action));
}

std::string to_json(const LaunchCounts& counts) {
  Json json{{"kernel", counts.kernel},       {"grid", counts.grid},
            {"block", counts.block},         {"shared_bytes", counts.shared_bytes},
            {"instructions", Json::array()}, {"footprints", Json::array()},
            {"blocks", Json::array()}};
  for (const InstructionCounts& instruction : counts.instructions)
    json["instructions"].push_back(instruction_to_json(instruction));
  for (const FootprintCounts& footprint : counts.footprints)
    json["footprints"].push_back(footprint_to_json(footprint));
  for (const BlockCounts& block : counts.blocks)
    json["blocks"].push_back({block.block, block.warp_instructions, block.global_sectors});
  return json.dump();
}

Result<LaunchCounts> launch_counts_from_json(std::string_view text) {
  return read_json(text, "launch counts", [](const Json& json) {
    only_keys(json,
              {"kernel", "grid", "block", "shared_bytes", "instructions", "footprints", "blocks"});
    LaunchCounts counts;
    json.at("kernel").get_to(counts.kernel);
    json.at("grid").get_to(counts.grid);
    json.at("block").get_to(counts.block);
    json.at("shared_bytes").get_to(counts.shared_bytes);
    for (const Json& item : json.at("instructions"))
      counts.instructions.push_back(instruction_from_json(item));
    for (const Json& item : json.at("footprints"))
      counts.footprints.push_back(footprint_from_json(item));
    for (const Json& item : json.at("blocks"))
      counts.blocks.push_back({item.at(0), item.at(1), item.at(2)});
    return counts;
  });
}

} // namespace kernevo

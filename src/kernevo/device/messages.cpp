#include "kernevo/device/messages.h"

#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"

#include <utility>

namespace kernevo {
namespace {

Json tensor_to_json(const TensorBinding& t) {
  Json json{{"name", t.name},
            {"region", t.region},
            {"read_only", t.read_only},
            {"initialized", t.initialized}};
  put_optional(json, "written_region", t.written_region);
  return json;
}

TensorBinding tensor_from_json(const Json& json) {
  only_keys(json, {"name", "region", "read_only", "initialized", "written_region"});
  return {json.at("name"), json.at("region"), json.at("read_only"), json.at("initialized"),
          get_optional<std::size_t>(json, "written_region")};
}

} // namespace

std::string encode(const OpenMessage& message) {
  return Json{{"kind", "open"}, {"gpu", message.gpu}, {"memory_bytes", message.memory_bytes}}
      .dump();
}

std::string encode(const LoadMessage& message) {
  return Json{{"kind", "load"}, {"ptx", message.ptx}, {"file", message.file}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

std::string encode(const RunMessage& message) {
  const RunRequest& request = message.request;
  Json tensors = Json::array();
  for (const TensorBinding& tensor : request.tensors)
    tensors.push_back(tensor_to_json(tensor));
  Json regions = Json::array();
  for (const Region& region : message.regions)
    regions.push_back({{"offset", region.offset}, {"bytes", region.bytes}});
  return Json{{"kind", "run"},
              {"plan", to_json(request.plan)},
              {"tensors", std::move(tensors)},
              {"registers", request.registers},
              {"entry_names", request.entry_names},
              {"sanitize", request.sanitize},
              {"only_blocks", request.only_blocks},
              {"instruction_budget", request.instruction_budget},
              {"seconds", request.seconds},
              {"regions", std::move(regions)}}
      .dump();
}

Result<OpenMessage> decode_open(std::string_view text) {
  return read_json(text, "open message", [](const Json& json) {
    return OpenMessage{json.at("gpu"), json.at("memory_bytes")};
  });
}

Result<LoadMessage> decode_load(std::string_view text) {
  return read_json(text, "load message",
                   [](const Json& json) { return LoadMessage{json.at("ptx"), json.at("file")}; });
}

Result<RunMessage> decode_run(std::string_view text) {
  std::string plan_text;
  auto message = read_json(text, "run message", [&](const Json& json) {
    only_keys(json, {"kind", "plan", "tensors", "registers", "entry_names", "sanitize",
                     "only_blocks", "instruction_budget", "seconds", "regions"});
    RunMessage m;
    json.at("plan").get_to(plan_text);
    for (const Json& item : json.at("tensors"))
      m.request.tensors.push_back(tensor_from_json(item));
    json.at("registers").get_to(m.request.registers);
    json.at("entry_names").get_to(m.request.entry_names);
    json.at("sanitize").get_to(m.request.sanitize);
    json.at("only_blocks").get_to(m.request.only_blocks);
    json.at("instruction_budget").get_to(m.request.instruction_budget);
    json.at("seconds").get_to(m.request.seconds);
    for (const Json& item : json.at("regions"))
      m.regions.push_back({item.at("offset"), item.at("bytes")});
    return m;
  });
  if (!message)
    return message;
  KERNEVO_TRY(plan, launch_plan_from_json(plan_text));
  message->request.plan = std::move(plan);
  return message;
}

std::string kind_of_message(std::string_view text) {
  return read_json(text, "message",
                   [](const Json& json) { return json.value("kind", std::string()); })
      .value_or("");
}

std::string encode(const Result<RunOutcome>& outcome) {
  Json json;
  if (!outcome) {
    json["trouble"] = outcome.error().message;
  } else {
    json = {{"fault", outcome->fault ? Json(to_json(*outcome->fault)) : Json(nullptr)},
            {"printed", outcome->printed},
            {"output_flood", outcome->output_flood},
            {"warp_instructions", outcome->warp_instructions},
            {"blocks_run", outcome->blocks_run}};
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<RunOutcome> decode_outcome(std::string_view text) {
  std::optional<std::string> fault;
  std::optional<std::string> trouble;
  auto outcome = read_json(text, "worker's answer", [&](const Json& json) {
    RunOutcome o;
    trouble = get_optional<std::string>(json, "trouble");
    if (trouble)
      return o;
    fault = get_optional<std::string>(json, "fault");
    json.at("printed").get_to(o.printed);
    json.at("output_flood").get_to(o.output_flood);
    json.at("warp_instructions").get_to(o.warp_instructions);
    json.at("blocks_run").get_to(o.blocks_run);
    return o;
  });
  if (trouble)
    return fail(ErrorCode::infrastructure, *trouble);
  if (outcome && fault) {
    KERNEVO_TRY(finding, finding_from_json(*fault));
    outcome->fault = std::move(finding);
  }
  return outcome;
}

} // namespace kernevo

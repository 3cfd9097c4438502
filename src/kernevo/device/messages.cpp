#include "kernevo/device/messages.h"

#include "kernevo/base/printable.h"
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"

#include <utility>

namespace kernevo {
namespace {

Json recipe_to_json(const InputRecipe& r) {
  return {{"dtype", name_of(r.dtype)},
          {"kind", static_cast<int>(r.kind)},
          {"low", r.low},
          {"high", r.high},
          {"tiny", r.tiny},
          {"denormal_step", r.denormal_step},
          {"special",
           {r.special.minus_infinity, r.special.tie, r.special.tie_value, r.special.denormal,
            r.special.plus_infinity, r.special.nan}},
          {"row", r.row},
          {"outlier", r.outlier},
          {"one_sign", r.one_sign},
          {"wide", {r.wide_low, r.wide_high}},
          {"seed", r.seed}};
}

InputRecipe recipe_from_json(const Json& json) {
  only_keys(json, {"dtype", "kind", "low", "high", "tiny", "denormal_step", "special", "row",
                   "outlier", "one_sign", "wide", "seed"});
  InputRecipe recipe;
  if (const auto dtype = parse_dtype(json.at("dtype").get<std::string>()))
    recipe.dtype = *dtype;
  recipe.kind = static_cast<Distribution::Kind>(json.at("kind").get<int>());
  json.at("low").get_to(recipe.low);
  json.at("high").get_to(recipe.high);
  json.at("tiny").get_to(recipe.tiny);
  json.at("denormal_step").get_to(recipe.denormal_step);
  const Json& special = json.at("special");
  recipe.special = {special.at(0), special.at(1), special.at(2),
                    special.at(3), special.at(4), special.at(5)};
  json.at("row").get_to(recipe.row);
  json.at("outlier").get_to(recipe.outlier);
  json.at("one_sign").get_to(recipe.one_sign);
  recipe.wide_low = json.at("wide").at(0);
  recipe.wide_high = json.at("wide").at(1);
  json.at("seed").get_to(recipe.seed);
  return recipe;
}

Json tensor_to_json(const TensorBinding& t) {
  Json json{{"name", t.name},
            {"region", t.region},
            {"read_only", t.read_only},
            {"initialized", t.initialized}};
  put_optional(json, "written_region", t.written_region);
  if (t.recipe)
    json["recipe"] = recipe_to_json(*t.recipe);
  return json;
}

TensorBinding tensor_from_json(const Json& json) {
  only_keys(json, {"name", "region", "read_only", "initialized", "written_region", "recipe"});
  TensorBinding tensor{json.at("name"), json.at("region"), json.at("read_only"),
                       json.at("initialized"), get_optional<std::size_t>(json, "written_region")};
  if (json.contains("recipe"))
    tensor.recipe = recipe_from_json(json.at("recipe"));
  return tensor;
}

// A message with machine code is a line of JSON, which lists keys and sizes, and the bytes after
// it.
std::string with_code(Json json, const MachineCode& code) {
  json["code"] = Json::array();
  for (const auto& [key, bytes] : code)
    json["code"].push_back({{"key", key}, {"bytes", bytes.size()}});
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  for (const auto& [key, bytes] : code)
    text += bytes;
  return text;
}

std::string_view json_part(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

// False when sizes and bytes do not agree.
bool read_code(const Json& json, std::string_view text, MachineCode& code) {
  std::size_t at = json_part(text).size() + 1;
  for (const Json& item : json.at("code")) {
    const auto size = item.at("bytes").get<std::size_t>();
    if (at > text.size() || size > text.size() - at)
      return false;
    code[item.at("key")] = text.substr(at, size);
    at += size;
  }
  return at == text.size();
}

} // namespace

std::string encode(const OpenMessage& message) {
  return Json{{"kind", "open"},
              {"gpu", message.gpu},
              {"memory_bytes", message.memory_bytes},
              {"arena_bytes", message.arena_bytes}}
      .dump();
}

std::string encode(const LoadMessage& message) {
  return with_code(Json{{"kind", "load"}, {"ptx", message.ptx}, {"file", message.file}},
                   message.code);
}

std::string encode(const RunMessage& message) {
  const RunRequest& request = message.request;
  Json tensors = Json::array();
  for (const TensorBinding& tensor : request.tensors)
    tensors.push_back(tensor_to_json(tensor));
  Json profile = Json::array();
  for (const Instruments::Profile& item : request.instruments.profile)
    profile.push_back({{"blocks", item.blocks},
                       {"weights", item.weights},
                       {"in_company", item.in_company},
                       {"l1_bytes", item.l1_bytes}});
  Json regions = Json::array();
  for (const Region& region : message.regions)
    regions.push_back({{"offset", region.offset}, {"bytes", region.bytes}});
  return Json{{"kind", "run"},
              {"plan", to_json(request.plan)},
              {"tensors", std::move(tensors)},
              {"registers", request.registers},
              {"entry_names", request.entry_names},
              {"sanitize", request.instruments.sanitize},
              {"only_blocks", request.instruments.only_blocks},
              {"instruction_budget", request.instruction_budget},
              {"seconds", request.seconds},
              {"shuffled", request.instruments.order.shuffled},
              {"order_seed", request.instruments.order.seed},
              {"on_demand", request.instruments.on_demand},
              {"keep_state", request.instruments.keep_state},
              {"go_on", request.instruments.go_on},
              {"scramble", request.instruments.scramble},
              {"profile", std::move(profile)},
              {"tally_regions", request.instruments.tally_regions},
              {"regions", std::move(regions)}}
      .dump();
}

Result<OpenMessage> decode_open(std::string_view text) {
  return read_json(text, "open message", [](const Json& json) {
    return OpenMessage{json.at("gpu"), json.at("memory_bytes"), json.at("arena_bytes")};
  });
}

Result<LoadMessage> decode_load(std::string_view text) {
  bool whole = false;
  auto message = read_json(json_part(text), "load message", [&](const Json& json) {
    LoadMessage m{json.at("ptx"), json.at("file"), {}};
    whole = read_code(json, text, m.code);
    return m;
  });
  if (message && !whole)
    return fail(ErrorCode::infrastructure, "the load message is cut short");
  return message;
}

Result<RunMessage> decode_run(std::string_view text) {
  std::string plan_text;
  auto message = read_json(text, "run message", [&](const Json& json) {
    only_keys(json,
              {"kind", "plan", "tensors", "registers", "entry_names", "sanitize", "only_blocks",
               "instruction_budget", "seconds", "shuffled", "order_seed", "on_demand", "keep_state",
               "go_on", "scramble", "profile", "tally_regions", "regions"});
    RunMessage m;
    json.at("plan").get_to(plan_text);
    for (const Json& item : json.at("tensors"))
      m.request.tensors.push_back(tensor_from_json(item));
    json.at("registers").get_to(m.request.registers);
    json.at("entry_names").get_to(m.request.entry_names);
    json.at("sanitize").get_to(m.request.instruments.sanitize);
    json.at("only_blocks").get_to(m.request.instruments.only_blocks);
    json.at("instruction_budget").get_to(m.request.instruction_budget);
    json.at("seconds").get_to(m.request.seconds);
    json.at("shuffled").get_to(m.request.instruments.order.shuffled);
    json.at("order_seed").get_to(m.request.instruments.order.seed);
    json.at("on_demand").get_to(m.request.instruments.on_demand);
    json.at("keep_state").get_to(m.request.instruments.keep_state);
    json.at("go_on").get_to(m.request.instruments.go_on);
    json.at("scramble").get_to(m.request.instruments.scramble);
    for (const Json& item : json.at("profile"))
      m.request.instruments.profile.push_back(
          {item.at("blocks"), item.at("weights"), item.at("in_company"), item.at("l1_bytes")});
    json.at("tally_regions").get_to(m.request.instruments.tally_regions);
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
  return read_json(json_part(text), "message",
                   [](const Json& json) { return json.value("kind", std::string()); })
      .value_or("");
}

std::string encode(const Result<RunOutcome>& outcome, const MachineCode& code) {
  Json json;
  if (!outcome) {
    json["trouble"] = outcome.error().message;
  } else {
    json = {{"fault", outcome->fault ? Json(to_json(*outcome->fault)) : Json(nullptr)},
            {"printed", outcome->printed},
            {"output_flood", outcome->output_flood},
            {"warp_instructions", outcome->warp_instructions},
            {"compiled_instructions", outcome->compiled_instructions},
            {"blocks_run", outcome->blocks_run},
            {"changed_variables", outcome->changed_variables},
            {"counts", Json::array()}};
    for (const LaunchCounts& counts : outcome->counts)
      json["counts"].push_back(to_json(counts));
  }
  return with_code(std::move(json), code);
}

namespace {

// A kernel has its say in these: what it asserts, how it calls its files.
Finding quoted(Finding finding) {
  for (std::string* text :
       {&finding.message, &finding.kernel, &finding.source_file, &finding.space, &finding.buffer})
    *text = printable(*text);
  return finding;
}

} // namespace

Result<RunOutcome> decode_outcome(std::string_view text, MachineCode* code) {
  std::optional<std::string> fault;
  std::optional<std::string> trouble;
  std::vector<std::string> counts;
  auto outcome = read_json(json_part(text), "worker's answer", [&](const Json& json) {
    RunOutcome o;
    // Without it the code is made again.
    if (MachineCode sent; code != nullptr && read_code(json, text, sent))
      *code = std::move(sent);
    trouble = get_optional<std::string>(json, "trouble");
    if (trouble)
      return o;
    fault = get_optional<std::string>(json, "fault");
    json.at("printed").get_to(o.printed);
    json.at("output_flood").get_to(o.output_flood);
    json.at("warp_instructions").get_to(o.warp_instructions);
    json.at("compiled_instructions").get_to(o.compiled_instructions);
    json.at("blocks_run").get_to(o.blocks_run);
    json.at("changed_variables").get_to(o.changed_variables);
    json.at("counts").get_to(counts);
    return o;
  });
  if (trouble)
    return fail(ErrorCode::infrastructure, *trouble);
  if (outcome)
    outcome->printed = printable(outcome->printed, Lines::kept);
  if (outcome && fault) {
    KERNEVO_TRY(finding, finding_from_json(*fault));
    outcome->fault = quoted(std::move(finding));
  }
  for (const std::string& item : counts) {
    KERNEVO_TRY(read, launch_counts_from_json(item));
    outcome->counts.push_back(std::move(read));
  }
  return outcome;
}

} // namespace kernevo

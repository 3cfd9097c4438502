#include "kernevo/model/json.h"

#include "kernevo/model/json_fields.h"

#include <optional>

namespace kernevo {
namespace {

std::optional<std::uint64_t> count(const std::optional<Bytes>& bytes) {
  return bytes ? std::optional(bytes->value) : std::nullopt;
}

std::optional<Bytes> bytes_at(const Json& json, const char* key) {
  const auto value = get_optional<std::uint64_t>(json, key);
  return value ? std::optional(Bytes{*value}) : std::nullopt;
}

Json resources_to_json(const KernelResources& r) {
  Json json{{"name", r.name}, {"demangled", r.demangled}};
  put_optional(json, "registers", r.registers);
  put_optional(json, "static_shared_bytes", count(r.static_shared));
  put_optional(json, "constant_bytes", count(r.constant));
  put_optional(json, "stack_bytes", count(r.stack));
  put_optional(json, "spill_store_bytes", count(r.spill_stores));
  put_optional(json, "spill_load_bytes", count(r.spill_loads));
  put_optional(json, "barriers", r.barriers);
  return json;
}

KernelResources resources_from_json(const Json& json) {
  only_keys(json, {"name", "demangled", "registers", "static_shared_bytes", "constant_bytes",
                   "stack_bytes", "spill_store_bytes", "spill_load_bytes", "barriers"});
  return {json.at("name"),
          json.at("demangled"),
          get_optional<int>(json, "registers"),
          bytes_at(json, "static_shared_bytes"),
          bytes_at(json, "constant_bytes"),
          bytes_at(json, "stack_bytes"),
          bytes_at(json, "spill_store_bytes"),
          bytes_at(json, "spill_load_bytes"),
          get_optional<int>(json, "barriers")};
}

constexpr std::array<std::string_view, 3> kSeverities = {"note", "warning", "error"};

Json diagnostic_to_json(const Diagnostic& d) {
  return {{"severity", kSeverities[static_cast<std::size_t>(d.severity)]},
          {"place", place_to_json(d.place)},
          {"message", d.message}};
}

Diagnostic diagnostic_from_json(const Json& json) {
  only_keys(json, {"severity", "place", "message"});
  Diagnostic d{Diagnostic::Severity::error, place_from_json(json.at("place")), json.at("message")};
  for (const auto severity : {Diagnostic::Severity::note, Diagnostic::Severity::warning})
    if (json.at("severity") == kSeverities[static_cast<std::size_t>(severity)])
      d.severity = severity;
  return d;
}

Json diagnostics_to_json(const std::vector<Diagnostic>& list) {
  Json json = Json::array();
  for (const Diagnostic& d : list)
    json.push_back(diagnostic_to_json(d));
  return json;
}

Json launch_to_json(const Launch& launch) {
  Json arguments = Json::array();
  for (const LaunchArgument& argument : launch.arguments) {
    Json json{{"name", argument.name}};
    if (const auto* buffer = std::get_if<BufferArgument>(&argument.value))
      json["buffer"] = buffer->index;
    else if (const auto* integer = std::get_if<std::int64_t>(&argument.value))
      json["integer"] = *integer;
    else
      json["real"] = std::get<double>(argument.value);
    arguments.push_back(std::move(json));
  }
  return {{"kernel", launch.kernel},
          {"grid", launch.grid},
          {"block", launch.block},
          {"dynamic_shared_bytes", launch.dynamic_shared},
          {"cooperative", launch.cooperative},
          {"arguments", std::move(arguments)},
          {"place", place_to_json(launch.place)}};
}

Launch launch_from_json(const Json& json) {
  only_keys(json, {"kernel", "grid", "block", "dynamic_shared_bytes", "cooperative", "arguments",
                   "place"});
  Launch launch;
  json.at("kernel").get_to(launch.kernel);
  json.at("grid").get_to(launch.grid);
  json.at("block").get_to(launch.block);
  json.at("dynamic_shared_bytes").get_to(launch.dynamic_shared);
  json.at("cooperative").get_to(launch.cooperative);
  for (const Json& item : json.at("arguments")) {
    only_keys(item, {"name", "buffer", "integer", "real"});
    LaunchArgument argument{item.at("name"), std::int64_t{0}};
    if (item.contains("buffer"))
      argument.value = BufferArgument{item.at("buffer").get<std::size_t>()};
    else if (item.contains("integer"))
      argument.value = item.at("integer").get<std::int64_t>();
    else
      argument.value = item.at("real").get<double>();
    launch.arguments.push_back(std::move(argument));
  }
  launch.place = place_from_json(json.at("place"));
  return launch;
}

Json finding_json(const Finding& f) {
  Json json{{"kind", name_of(f.kind)},      {"message", f.message},
            {"kernel", f.kernel},           {"source_file", f.source_file},
            {"source_line", f.source_line}, {"ptx_line", f.ptx_line}};
  json["block"] = f.has_thread ? Json(f.block) : Json(nullptr);
  json["thread"] = f.has_thread ? Json(f.thread) : Json(nullptr);
  json["space"] = f.space;
  json["address"] = f.address;
  json["size"] = f.size;
  json["buffer"] = f.buffer;
  return json;
}

FindingKind finding_kind(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(FindingKind::crash); ++i)
    if (name_of(static_cast<FindingKind>(i)) == name)
      return static_cast<FindingKind>(i);
  throw nlohmann::json::other_error::create(601, "unknown finding kind '" + name + "'",
                                            static_cast<const Json*>(nullptr));
}

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
}

Json case_to_json(const CheckedCase& c) {
  return {{"case", c.case_id},
          {"distribution", c.distribution},
          {"seed", c.seed},
          {"hidden", c.hidden},
          {"blocks", c.blocks},
          {"blocks_run", c.blocks_run},
          {"elements", c.elements},
          {"elements_checked", c.elements_checked},
          {"worst_error_ratio", number(c.worst_error_ratio)}};
}

} // namespace

Json place_to_json(const Place& place) {
  return {{"file", place.file}, {"line", place.line}, {"column", place.column}};
}

Place place_from_json(const Json& json) {
  only_keys(json, {"file", "line", "column"});
  return {json.at("file"), json.at("line"), json.at("column")};
}

std::string to_json(const Build& build) {
  Json resources = Json::array();
  for (const KernelResources& r : build.resources)
    resources.push_back(resources_to_json(r));
  Json names = Json::object();
  for (const auto& [expression, lowered] : build.lowered_names)
    names[expression] = lowered;
  return Json{{"ok", build.ok},
              {"syntax_error", build.syntax_error},
              {"compiler", build.compiler},
              {"architecture", build.architecture},
              {"ptx", build.ptx},
              {"ptx_hash", build.ptx_hash},
              {"assembler", build.assembler},
              {"resources", std::move(resources)},
              {"lowered_names", std::move(names)},
              {"diagnostics", diagnostics_to_json(build.diagnostics)},
              {"from_cache", build.from_cache}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Build> build_from_json(std::string_view text) {
  return read_json(text, "build record", [](const Json& json) {
    only_keys(json, {"ok", "syntax_error", "compiler", "architecture", "ptx", "ptx_hash",
                     "assembler", "resources", "lowered_names", "diagnostics", "from_cache"});
    Build build;
    json.at("ok").get_to(build.ok);
    json.at("syntax_error").get_to(build.syntax_error);
    json.at("compiler").get_to(build.compiler);
    json.at("architecture").get_to(build.architecture);
    json.at("ptx").get_to(build.ptx);
    json.at("ptx_hash").get_to(build.ptx_hash);
    json.at("assembler").get_to(build.assembler);
    for (const Json& item : json.at("resources"))
      build.resources.push_back(resources_from_json(item));
    for (const auto& item : json.at("lowered_names").items())
      build.lowered_names[item.key()] = item.value();
    for (const Json& item : json.at("diagnostics"))
      build.diagnostics.push_back(diagnostic_from_json(item));
    json.at("from_cache").get_to(build.from_cache);
    return build;
  });
}

std::string to_json(const LaunchPlan& plan) {
  Json scratch = Json::array();
  for (const ScratchBuffer& buffer : plan.scratch)
    scratch.push_back(
        {{"name", buffer.name}, {"dtype", name_of(buffer.dtype)}, {"elements", buffer.elements}});
  Json launches = Json::array();
  for (const Launch& launch : plan.launches)
    launches.push_back(launch_to_json(launch));
  return Json{{"scratch", std::move(scratch)}, {"launches", std::move(launches)}}.dump();
}

Result<LaunchPlan> launch_plan_from_json(std::string_view text) {
  return read_json(text, "launch plan", [](const Json& json) {
    only_keys(json, {"scratch", "launches"});
    LaunchPlan plan;
    for (const Json& item : json.at("scratch")) {
      only_keys(item, {"name", "dtype", "elements"});
      const auto dtype = parse_dtype(item.at("dtype").get<std::string>());
      plan.scratch.push_back(
          {item.at("name"), dtype.value_or(DType::float32), item.at("elements")});
    }
    for (const Json& item : json.at("launches"))
      plan.launches.push_back(launch_from_json(item));
    return plan;
  });
}

std::string to_json(const Finding& finding) {
  return finding_json(finding).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Finding> finding_from_json(std::string_view text) {
  return read_json(text, "finding", [](const Json& json) {
    only_keys(json, {"kind", "message", "kernel", "source_file", "source_line", "ptx_line", "block",
                     "thread", "space", "address", "size", "buffer"});
    Finding f;
    f.kind = finding_kind(json.at("kind"));
    json.at("message").get_to(f.message);
    json.at("kernel").get_to(f.kernel);
    json.at("source_file").get_to(f.source_file);
    json.at("source_line").get_to(f.source_line);
    json.at("ptx_line").get_to(f.ptx_line);
    f.has_thread = !json.at("thread").is_null();
    if (f.has_thread) {
      json.at("block").get_to(f.block);
      json.at("thread").get_to(f.thread);
    }
    json.at("space").get_to(f.space);
    json.at("address").get_to(f.address);
    json.at("size").get_to(f.size);
    json.at("buffer").get_to(f.buffer);
    return f;
  });
}

std::string to_json(const Verdict& verdict) {
  Json json{{"correct", verdict.correct}, {"rung", name_of(verdict.rung)}};
  json["fault_class"] = verdict.fault_class ? Json(name_of(*verdict.fault_class)) : Json(nullptr);
  json["fault"] = verdict.fault ? Json(name_of(*verdict.fault)) : Json(nullptr);
  json["summary"] = verdict.summary;
  json["finding"] = verdict.finding ? finding_json(*verdict.finding) : Json(nullptr);
  if (verdict.mismatch)
    json["mismatch"] = {{"buffer", verdict.mismatch->buffer},
                        {"index", verdict.mismatch->index},
                        {"expected", number(verdict.mismatch->expected)},
                        {"actual", number(verdict.mismatch->actual)},
                        {"tolerance", number(verdict.mismatch->tolerance)}};
  else
    json["mismatch"] = nullptr;
  json["failing_case"] = verdict.failing_case ? case_to_json(*verdict.failing_case) : Json(nullptr);
  json["diagnostics"] = diagnostics_to_json(verdict.diagnostics);
  json["cases"] = Json::array();
  for (const CheckedCase& c : verdict.cases)
    json["cases"].push_back(case_to_json(c));
  json["printed"] = verdict.printed;
  json["warnings"] = verdict.warnings;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_json(const Error& error) {
  constexpr std::array<std::string_view, 5> codes = {"usage", "input", "unsupported",
                                                     "infrastructure", "unavailable"};
  Json json{{"error", codes[static_cast<std::size_t>(error.code)]}, {"message", error.message}};
  json["place"] = error.place ? place_to_json(*error.place) : Json(nullptr);
  json["fix"] = error.fix;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace kernevo

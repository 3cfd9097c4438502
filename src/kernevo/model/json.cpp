#include "kernevo/model/json.h"

#include "kernevo/model/json_fields.h"
#include "kernevo/model/verdict_fields.h"

#include <algorithm>
#include <array>
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

std::optional<int> optional_count(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? std::nullopt
                                                 : std::optional(count_at(json, key));
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
  for (const Json& item : list_at(json, "arguments")) {
    only_keys(item, {"name", "buffer", "integer", "real"});
    if (item.size() != 2)
      refuse("an argument has a name and one value");
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

constexpr std::array<std::string_view, 5> kErrors = {"usage", "input", "unsupported",
                                                     "infrastructure", "unavailable"};

} // namespace

std::string_view name_of(Diagnostic::Severity severity) {
  switch (severity) {
  case Diagnostic::Severity::note: return "note";
  case Diagnostic::Severity::warning: return "warning";
  case Diagnostic::Severity::error: return "error";
  }
  return "unknown";
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

KernelResources resources_of(const Json& json) {
  only_keys(json, {"name", "demangled", "registers", "static_shared_bytes", "constant_bytes",
                   "stack_bytes", "spill_store_bytes", "spill_load_bytes", "barriers"});
  return {json.at("name"),
          json.at("demangled"),
          optional_count(json, "registers"),
          bytes_at(json, "static_shared_bytes"),
          bytes_at(json, "constant_bytes"),
          bytes_at(json, "stack_bytes"),
          bytes_at(json, "spill_store_bytes"),
          bytes_at(json, "spill_load_bytes"),
          optional_count(json, "barriers")};
}

Json diagnostics_to_json(const std::vector<Diagnostic>& list) {
  Json json = Json::array();
  for (const Diagnostic& d : list)
    json.push_back({{"severity", name_of(d.severity)},
                    {"place", place_to_json(d.place)},
                    {"message", d.message}});
  return json;
}

std::vector<Diagnostic> diagnostics_at(const Json& json, const char* key) {
  std::vector<Diagnostic> list;
  for (const Json& one : list_at(json, key)) {
    only_keys(one, {"severity", "place", "message"});
    list.push_back({enum_at(one, "severity", Diagnostic::Severity::error),
                    place_from_json(one.at("place")), one.at("message")});
  }
  return list;
}

Json device_finding_to_json(const Finding& f) {
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

std::string to_json(const Build& build) {
  Json resources = Json::array();
  for (const KernelResources& r : build.resources)
    resources.push_back(resources_to_json(r));
  Json names = Json::object();
  for (const auto& [expression, lowered] : build.lowered_names)
    names[expression] = lowered;
  return dump_json(Json{{"ok", build.ok},
                        {"syntax_error", build.syntax_error},
                        {"compiler", build.compiler},
                        {"architecture", build.architecture},
                        {"ptx", build.ptx},
                        {"ptx_hash", build.ptx_hash},
                        {"assembler", build.assembler},
                        {"resources", std::move(resources)},
                        {"lowered_names", std::move(names)},
                        {"diagnostics", diagnostics_to_json(build.diagnostics)},
                        {"from_cache", build.from_cache}});
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
    for (const Json& item : list_at(json, "resources"))
      build.resources.push_back(resources_of(item));
    for (const auto& item : object_at(json, "lowered_names").items())
      build.lowered_names[item.key()] = item.value();
    build.diagnostics = diagnostics_at(json, "diagnostics");
    json.at("from_cache").get_to(build.from_cache);
    if (build.ok && build.syntax_error)
      refuse("what has a syntax error is not built");
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
  return dump_json(Json{{"scratch", std::move(scratch)}, {"launches", std::move(launches)}});
}

Result<LaunchPlan> launch_plan_from_json(std::string_view text) {
  return read_json(text, "launch plan", [](const Json& json) {
    only_keys(json, {"scratch", "launches"});
    LaunchPlan plan;
    for (const Json& item : list_at(json, "scratch")) {
      only_keys(item, {"name", "dtype", "elements"});
      plan.scratch.push_back(
          {item.at("name"), enum_at(item, "dtype", DType::int64), item.at("elements")});
    }
    for (const Json& item : list_at(json, "launches"))
      plan.launches.push_back(launch_from_json(item));
    return plan;
  });
}

std::string to_json(const Finding& finding) {
  return dump_json(device_finding_to_json(finding));
}

Finding device_finding_of(const Json& json) {
  only_keys(json, {"kind", "message", "kernel", "source_file", "source_line", "ptx_line", "block",
                   "thread", "space", "address", "size", "buffer"});
  Finding f;
  f.kind = enum_at(json, "kind", FindingKind::crash);
  json.at("message").get_to(f.message);
  json.at("kernel").get_to(f.kernel);
  json.at("source_file").get_to(f.source_file);
  f.source_line = count_at(json, "source_line");
  f.ptx_line = count_at(json, "ptx_line");
  f.has_thread = !json.at("thread").is_null();
  if (f.has_thread == json.at("block").is_null())
    refuse("a thread and its block go together");
  if (f.has_thread) {
    json.at("block").get_to(f.block);
    json.at("thread").get_to(f.thread);
  }
  json.at("space").get_to(f.space);
  json.at("address").get_to(f.address);
  json.at("size").get_to(f.size);
  json.at("buffer").get_to(f.buffer);
  return f;
}

Result<Finding> finding_from_json(std::string_view text) {
  return read_json(text, "finding", device_finding_of);
}

std::string to_json(const Error& error) {
  Json json{{"error", kErrors.at(static_cast<std::size_t>(error.code))},
            {"message", error.message}};
  json["place"] = error.place ? place_to_json(*error.place) : Json(nullptr);
  json["fix"] = error.fix;
  return dump_json(json);
}

Result<Error> error_from_json(std::string_view text) {
  return read_json(text, "error", [](const Json& json) {
    only_keys(json, {"error", "message", "place", "fix"});
    const auto code =
        std::find(kErrors.begin(), kErrors.end(), json.at("error").get<std::string>());
    if (code == kErrors.end())
      refuse("unknown kind of error");
    Error error{static_cast<ErrorCode>(code - kErrors.begin()), json.at("message"), std::nullopt,
                json.at("fix")};
    if (!json.at("place").is_null())
      error.place = place_from_json(json.at("place"));
    return error;
  });
}

} // namespace kernevo

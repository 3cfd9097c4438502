#include "kernevo/toolchain/compile_worker.h"

#include "kernevo/base/sandbox.h"
#include "kernevo/base/worker_process.h"
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"

#include <array>
#include <cstdlib>
#include <map>
#include <utility>

namespace kernevo {
namespace {

// A worker starts with an empty environment; these settings of ours go along, nothing else does.
constexpr std::array<const char*, 8> kPassedOn = {
    "KERNEVO_CUDA", "KERNEVO_CACHE", "KERNEVO_COMPILER", "KERNEVO_SHARE",
    "CUDA_HOME",    "HOME",          "XDG_CACHE_HOME",   "PATH"};
constexpr double kGraceSeconds = 2;
// Larger than any PTX; a compiler stuck in output must not fill the disk.
constexpr std::uint64_t kLargestFile = std::uint64_t{512} << 20U;

std::string passed_on() {
  std::map<std::string, std::string> environment;
  for (const char* name : kPassedOn)
    if (const char* value = std::getenv(name))
      environment[name] = value;
  return dump_json(Json(environment));
}

std::string encode(const CompileRequest& request, const CompileLimits& limits) {
  Json json{{"source", request.source},
            {"file", request.file},
            {"first_line", request.first_line},
            {"architecture", request.architecture},
            {"macros", request.macros},
            {"flags", request.flags},
            {"name_expressions", request.name_expressions},
            {"resources", request.resources},
            {"with_nvcc", request.with_nvcc},
            {"memory_bytes", limits.memory_bytes},
            {"cpu_seconds", static_cast<std::uint64_t>(limits.seconds) + 1}};
  put_optional(json, "max_registers", request.max_registers);
  return dump_json(json);
}

struct Work {
  CompileRequest request;
  ProcessLimits limits;
};

Result<Work> decode(const std::string& text) {
  return read_json(text, "compile request", [](const Json& json) {
    Work work;
    CompileRequest& request = work.request;
    json.at("source").get_to(request.source);
    json.at("file").get_to(request.file);
    json.at("first_line").get_to(request.first_line);
    json.at("architecture").get_to(request.architecture);
    json.at("macros").get_to(request.macros);
    json.at("flags").get_to(request.flags);
    json.at("name_expressions").get_to(request.name_expressions);
    json.at("resources").get_to(request.resources);
    json.at("with_nvcc").get_to(request.with_nvcc);
    request.max_registers = get_optional<int>(json, "max_registers");
    work.limits = {json.at("memory_bytes"), json.at("cpu_seconds"), kLargestFile};
    return work;
  });
}

Build refused(const CompileRequest& request, std::string message) {
  Build build;
  build.architecture = request.architecture;
  build.diagnostics.push_back(
      {Diagnostic::Severity::error, Place{request.file, request.first_line}, std::move(message)});
  return build;
}

Result<Build> serve_one(const std::string& text) {
  KERNEVO_TRY(work, decode(text));
  KERNEVO_TRY(toolchain, find_toolchain());
  KERNEVO_CHECK(confine_this_process(Confinement::compile, work.limits));
  return compile(toolchain, work.request);
}

// Takes over the settings and makes the first compilation, the one that sets the compiler up.
// Trouble shows again, and is told, with the first job.
void prepare_compiler(const std::string& environment) {
  const auto settings = read_json(environment, "settings", [](const Json& json) {
    return json.get<std::map<std::string, std::string>>();
  });
  if (settings)
    for (const auto& [name, value] : *settings)
      setenv(name.c_str(), value.c_str(), 1);
  if (const auto toolchain = find_toolchain())
    warm_up_compiler(*toolchain);
}

int serve_compiler() {
  WorkerChannel channel;
  const std::optional<Message> message = channel.receive();
  if (!message)
    return 0;
  const Result<Build> build = serve_one(message->text);
  return channel.send(build ? to_json(*build) : "trouble " + format_error(build.error())) ? 0 : 3;
}

} // namespace

Result<Build> compile_confined(const CompileRequest& request, const CompileLimits& limits) {
  KERNEVO_TRY(toolchain, find_toolchain());
  if (auto known = find_build(toolchain, request))
    return std::move(*known);
  KERNEVO_TRY(worker, WorkerProcess::start("compile", passed_on()));
  WorkerEnd end = WorkerEnd::crashed;
  std::optional<Message> answer;
  if (worker.send(encode(request, limits)))
    answer = worker.receive(limits.seconds + kGraceSeconds, &end);
  if (!answer) {
    if (end == WorkerEnd::timed_out)
      return refused(request,
                     fmt::format("the compiler did not finish within {:.0f} s", limits.seconds));
    return refused(request, "the compiler ended with " + worker.describe_end());
  }
  if (answer->text.starts_with("trouble "))
    return fail(ErrorCode::infrastructure, answer->text.substr(8));
  return build_from_json(answer->text);
}

Result<Build> build_or_fail(const CompileRequest& request) {
  KERNEVO_TRY(build, compile_confined(request));
  if (build.ok)
    return build;
  for (const Diagnostic& diagnostic : build.diagnostics)
    if (diagnostic.severity == Diagnostic::Severity::error)
      return fail(ErrorCode::input, diagnostic.message, diagnostic.place);
  return fail(ErrorCode::input, "does not compile", Place{request.file});
}

WorkerRole compiler_role() {
  return {prepare_compiler, serve_compiler};
}

} // namespace kernevo

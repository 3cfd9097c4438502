#include "kernevo/toolchain/compile_worker.h"

#include "kernevo/base/file_cage.h"
#include "kernevo/base/printable.h"
#include "kernevo/base/sandbox.h"
#include "kernevo/base/temporary_folder.h"
#include "kernevo/base/worker_process.h"
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/toolchain/toolkit_files.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unistd.h>
#include <utility>

namespace kernevo {
namespace {

// A worker starts with an empty environment; these settings of ours go along, nothing else does.
constexpr std::array<const char*, 5> kPassedOn = {"KERNEVO_CUDA", "KERNEVO_COMPILER",
                                                  "KERNEVO_FILE_LAYER", "CUDA_HOME", "PATH"};
constexpr double kGraceSeconds = 2;
// Beyond the wait for an answer: only a worker that nobody waits for any more runs into it.
constexpr std::uint64_t kSpareSeconds = 10;
// Larger than any PTX; a compiler stuck in output must not fill the disk.
constexpr std::uint64_t kLargestFile = std::uint64_t{512} << 20U;

std::string passed_on() {
  std::map<std::string, std::string> environment;
  for (const char* name : kPassedOn)
    if (const char* value = std::getenv(name))
      environment[name] = value;
  return dump_json(Json(environment));
}

std::string encode(const CompileRequest& request, const CompileLimits& limits,
                   const std::filesystem::path& folder) {
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
            {"cpu_seconds", static_cast<std::uint64_t>(limits.seconds) + kSpareSeconds},
            {"folder", folder.string()},
            {"caged", file_layer() != FileLayer::none}};
  put_optional(json, "max_registers", request.max_registers);
  return dump_json(json);
}

struct Work {
  CompileRequest request;
  ProcessLimits limits;
  std::filesystem::path folder; // all it may write to
  bool caged = true;
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
    work.folder = json.at("folder").get<std::string>();
    json.at("caged").get_to(work.caged);
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

// Whatever the source says, the compiler and the assembler read the toolkit and nothing else.
Result<void> close_files(const Toolchain& toolchain, const Work& work) {
  KERNEVO_TRY(cage, FileCage::make(compiler_access(toolchain, wants_nvcc(toolchain, work.request),
                                                   work.folder)));
  if ((work.caged && cage.layer() == FileLayer::none) || !cage.enter())
    return fail(
        ErrorCode::infrastructure,
        fmt::format("cannot close the file system to the compiler: {}", std::strerror(errno)),
        std::nullopt, "'kernevo doctor' lists what this system allows");
  // Relative names mean nothing there, and the PTX does not depend on where we are.
  if (chdir("/") != 0)
    return fail(ErrorCode::infrastructure, "the compiler cannot leave the current folder");
  setenv("TMPDIR", work.folder.c_str(), 1);
  return {};
}

Result<FreshBuild> serve_one(const std::string& text) {
  KERNEVO_TRY(work, decode(text));
  KERNEVO_TRY(toolchain, find_toolchain());
  KERNEVO_CHECK(close_files(toolchain, work));
  KERNEVO_CHECK(confine_this_process(Confinement::compile, work.limits));
  return compile_afresh(toolchain, work.request);
}

// "build 1 234\n", so many characters of JSON, the cubin.
std::string encode(const FreshBuild& fresh) {
  const std::string json = to_json(fresh.build);
  return fmt::format("build {} {}\n{}{}", fresh.lasting ? 1 : 0, json.size(), json, fresh.cubin);
}

Result<FreshBuild> decode_answer(const std::string& text) {
  constexpr std::string_view mark = "build ";
  const std::size_t line = text.find('\n');
  std::size_t length = 0;
  const bool whole =
      text.starts_with(mark) && line != std::string::npos && line > mark.size() + 2 &&
      std::from_chars(text.data() + mark.size() + 2, text.data() + line, length).ptr ==
          text.data() + line &&
      length <= text.size() - line - 1;
  if (!whole)
    return fail(ErrorCode::infrastructure, "the compiler's worker gives no answer one can read");
  FreshBuild fresh;
  KERNEVO_TRY(build, build_from_json(text.substr(line + 1, length)));
  fresh.build = std::move(build);
  // Compilers quote what they complain about.
  for (Diagnostic& diagnostic : fresh.build.diagnostics) {
    diagnostic.message = printable(diagnostic.message);
    diagnostic.place.file = printable(diagnostic.place.file);
  }
  fresh.lasting = text[mark.size()] == '1';
  fresh.cubin = text.substr(line + 1 + length);
  return fresh;
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
  const Result<FreshBuild> fresh = serve_one(message->text);
  return channel.send(fresh ? encode(*fresh) : "trouble " + format_error(fresh.error())) ? 0 : 3;
}

} // namespace

Result<Build> compile_confined(const CompileRequest& request, const CompileLimits& limits) {
  KERNEVO_TRY(toolchain, find_toolchain());
  // Of a compiler that is not caged nobody knows what it read, so its builds are not kept.
  const bool caged = file_layer() != FileLayer::none;
  if (caged)
    if (auto known = find_build(toolchain, request, CompilerReach::toolkit))
      return std::move(*known);
  KERNEVO_TRY(folder, TemporaryFolder::make());
  KERNEVO_TRY(worker, WorkerProcess::start("compile", passed_on()));
  WorkerEnd end = WorkerEnd::crashed;
  std::optional<Message> answer;
  if (worker.send(encode(request, limits, folder.path())))
    answer = worker.receive(limits.seconds + kGraceSeconds, &end);
  if (!answer) {
    if (end == WorkerEnd::timed_out)
      return refused(request,
                     fmt::format("the compiler did not finish within {:.0f} s", limits.seconds));
    if (worker.was_killed())
      return fail(ErrorCode::infrastructure, "the system killed the compiler", std::nullopt,
                  "memory may be short: try again");
    return refused(request, "the compiler ended with " + worker.describe_end());
  }
  if (answer->text.starts_with("trouble "))
    return fail(ErrorCode::infrastructure, answer->text.substr(8));
  KERNEVO_TRY(fresh, decode_answer(answer->text));
  return caged ? keep_build(toolchain, request, std::move(fresh), CompilerReach::toolkit)
               : std::move(fresh.build);
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

#include "kernevo/programs/stage.h"

#include "kernevo/base/detached_program.h"
#include "kernevo/base/one_line.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/programs/cuda_libraries.h"
#include "kernevo/programs/python_environment.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <vector>

namespace kernevo {
namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kImports{120}; // of a machine that is busy, from a cold disk

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Where builds are kept from one command to the next.
std::string user_cache() {
  if (const std::string cache = setting("XDG_CACHE_HOME"); !cache.empty())
    return cache;
  const std::string home = setting("HOME");
  return home.empty() ? "" : (fs::path(home) / ".cache").string();
}

// Keys and settings of the user are nobody's business there.
Result<std::vector<std::string>> environment_for(const fs::path& home) {
  KERNEVO_TRY(libraries, find_cuda_libraries());
  KERNEVO_TRY(sources, python_sources());
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const std::string path = setting("PATH");
  std::vector<std::string> environment = {
      fmt::format("PATH={}", path.empty() ? "/usr/local/bin:/usr/bin:/bin" : path),
      fmt::format("HOME={}", home.string()),
      fmt::format("TMPDIR={}", home.string()),
      fmt::format("LD_LIBRARY_PATH={}", libraries.string()),
      fmt::format("PYTHONPATH={}", sources.string()),
      fmt::format("KERNEVO_PROGRAM={}", program.string()),
      "PYTHONDONTWRITEBYTECODE=1",
      "LANG=C.UTF-8"};
  if (const std::string cache = user_cache(); !cache.empty())
    environment.push_back(fmt::format("XDG_CACHE_HOME={}", cache));
  for (const char* name : {"KERNEVO_CUDA", "KERNEVO_CACHE", "KERNEVO_FILE_LAYER"})
    if (const std::string value = setting(name); !value.empty())
      environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

} // namespace

Result<std::unique_ptr<Stage>> Stage::start() {
  const auto python = environment_python();
  if (!python)
    return fail(ErrorCode::infrastructure,
                "PyTorch and Triton are not here, which judge Python programs", std::nullopt,
                "kernevo setup python");
  if (std::error_code ignored; !fs::exists(*python, ignored))
    return fail(ErrorCode::infrastructure,
                fmt::format("the Python '{}' is not there", python->string()), std::nullopt,
                setting("KERNEVO_PYTHON").empty()
                    ? "kernevo setup python"
                    : "KERNEVO_PYTHON names an interpreter, for example venv/bin/python");
  KERNEVO_TRY(scratch, TemporaryFolder::make());
  KERNEVO_TRY(environment, environment_for(scratch.path()));
  const std::string program = fs::absolute(*python).string();
  KERNEVO_TRY(channel,
              start_detached(program, {program, "-m", "kernevo_judge"}, std::move(environment)));
  std::unique_ptr<Stage> stage(new Stage(std::move(scratch), std::move(channel)));
  KERNEVO_CHECK(stage->meet());
  return stage;
}

Result<void> Stage::meet() {
  Message hello;
  const MessageEnd end =
      receive_message(channel_.get(), hello, std::chrono::steady_clock::now() + kImports);
  if (end != MessageEnd::complete)
    return fail(ErrorCode::infrastructure,
                end == MessageEnd::late
                    ? fmt::format("PyTorch was not imported within {} s", kImports.count())
                    : "the Python that judges programs ended before it began",
                std::nullopt, "kernevo setup python makes its environment anew");
  KERNEVO_TRY(said, read_json(hello.text, "the Python that judges programs", [](const Json& json) {
                return json.at("hello") == 1 ? std::string() : json.at("error").get<std::string>();
              }));
  if (!said.empty())
    return fail(ErrorCode::infrastructure, one_line(said, kLongestComplaint));
  KERNEVO_TRY(versions,
              read_json(hello.text, "the Python that judges programs", [](const Json& json) {
                return StageVersions{json.at("python"), json.at("torch"), json.at("triton")};
              }));
  versions_ = versions;
  return {};
}

Result<std::string> Stage::ask(std::string_view request, double seconds) {
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                            std::chrono::duration<double>(seconds));
  Message reply;
  const MessageEnd end = !channel_.valid() || !send_message(channel_.get(), request)
                             ? MessageEnd::closed
                             : receive_message(channel_.get(), reply, deadline);
  if (end == MessageEnd::complete)
    return std::move(reply.text);
  // It ends with its channel, and with it what it has started.
  channel_.reset();
  return fail(
      ErrorCode::infrastructure,
      end == MessageEnd::late
          ? fmt::format("the Python that judges programs did not answer in {:.0f} s", seconds)
          : "the Python that judges programs has ended",
      std::nullopt, "try again; if it happens again, report it");
}

} // namespace kernevo

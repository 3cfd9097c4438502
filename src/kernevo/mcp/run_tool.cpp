#include "kernevo/mcp/run_tool.h"

#include "kernevo/base/files.h"
#include "kernevo/base/subprocess.h"
#include "kernevo/base/temporary_folder.h"
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kernevo::mcp {
namespace {

constexpr std::size_t kMostOutput = 8U << 20U;
constexpr std::size_t kShownOfErrors = 2000;
constexpr int kFirstError = 2; // of the exit codes; 1 is the answer "no"

Json answer(Json structured, bool error) {
  std::string text = structured.dump(-1, ' ', false, Json::error_handler_t::replace);
  Json result{{"content", Json::array({{{"type", "text"}, {"text", std::move(text)}}})}};
  result["structuredContent"] = std::move(structured);
  result["isError"] = error;
  return result;
}

Json failure(std::string_view kind, const std::string& message, const std::string& fix = "") {
  return answer(Json{{"error", kind}, {"message", message}, {"fix", fix}}, true);
}

Json failure(const Error& error) {
  return answer(Json::parse(to_json(error)), true);
}

std::string replace_all(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), by);
  return text;
}

std::string last_of(const std::string& text) {
  return text.size() <= kShownOfErrors ? text : text.substr(text.size() - kShownOfErrors);
}

Json read_result(const PreparedCall& call, const SubprocessResult& run, const std::string& folder) {
  if (run.timed_out)
    return failure(
        "time_limit",
        fmt::format("{} took longer than {} seconds and was ended", call.tool->name, call.seconds),
        fmt::format("give a larger '{}', or less to do", kTimeLimit));
  if (run.signal != 0)
    return failure("infrastructure",
                   fmt::format("{} was ended by signal {}", call.tool->name, run.signal));
  if (run.output_truncated)
    return failure("infrastructure",
                   fmt::format("{} printed more than {} bytes", call.tool->name, kMostOutput));
  // A file given as text is known by its name, not by where it stood for a moment.
  const auto own = [&](const std::string& text) {
    return folder.empty() ? text : replace_all(text, folder + "/", "");
  };
  Json structured = Json::parse(own(run.output), nullptr, false);
  if (structured.is_discarded() || !structured.is_object())
    return failure("infrastructure",
                   fmt::format("{} ended with exit code {} and no JSON: {}", call.tool->name,
                               run.exit_status, own(last_of(run.error_output))));
  structured["exit_code"] = run.exit_status;
  return answer(std::move(structured), run.exit_status >= kFirstError);
}

bool kept(std::string_view name) {
  constexpr std::array<std::string_view, 3> wanted = {"PATH", "HOME", "TMPDIR"};
  constexpr std::array<std::string_view, 2> families = {"KERNEVO_", "XDG_"};
  constexpr std::array<std::string_view, 4> secret = {"KEY", "TOKEN", "SECRET", "PASSWORD"};
  const auto family = [&](std::string_view prefix) { return name.starts_with(prefix); };
  const auto holds = [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  return std::find(wanted.begin(), wanted.end(), name) != wanted.end() ||
         (std::any_of(families.begin(), families.end(), family) &&
          std::none_of(secret.begin(), secret.end(), holds));
}

} // namespace

std::vector<std::string> tool_environment(const char* const* all) {
  std::vector<std::string> chosen;
  for (; all != nullptr && *all != nullptr; ++all) {
    const std::string_view setting = *all;
    if (kept(setting.substr(0, setting.find('='))))
      chosen.emplace_back(setting);
  }
  return chosen;
}

std::optional<Json> run_tool(const Program& program, PreparedCall call,
                             const std::function<bool()>& cancelled) {
  std::optional<TemporaryFolder> folder;
  if (!call.files.empty()) {
    auto made = TemporaryFolder::make();
    if (!made)
      return failure(made.error());
    folder.emplace(std::move(*made));
  }
  for (const GivenFile& file : call.files) {
    const auto path = folder->path() / file.name;
    if (const auto written = write_file_atomically(path, file.text); !written)
      return failure(written.error());
    call.places[file.place] = path.string();
  }
  SubprocessRequest request;
  request.arguments = {program.path, call.tool->command, "--json"};
  request.arguments.insert(request.arguments.end(), call.options.begin(), call.options.end());
  request.arguments.emplace_back("--"); // a path may begin with a dash
  request.arguments.insert(request.arguments.end(), call.places.begin(), call.places.end());
  request.environment = program.environment;
  request.time_limit_seconds = call.seconds;
  request.output_limit = kMostOutput;
  request.cancelled = cancelled;
  request.dies_with_us = true;
  const auto run = run_subprocess(request);
  if (!run)
    return failure(run.error());
  if (run->cancelled)
    return std::nullopt;
  return read_result(call, *run, folder ? folder->path().string() : "");
}

} // namespace kernevo::mcp

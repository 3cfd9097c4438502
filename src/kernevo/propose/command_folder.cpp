#include "kernevo/propose/command_folder.h"

#include "kernevo/base/files.h"
#include "kernevo/model/json_fields.h"

#include <algorithm>
#include <array>
#include <unistd.h>

namespace kernevo::propose {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestAnswer = 4U << 20U;

Json microseconds(const std::optional<Nanoseconds>& time) {
  return time ? Json(time->value / 1e3) : Json(nullptr);
}

Json kernel_json(const Parent& parent, const char* file) {
  Json json{{"file", file},
            {"step", parent.candidate.step},
            {"title", parent.candidate.title},
            {"parameters", parent.parameters},
            {"time_us", microseconds(parent.objective)}};
  put_optional(json, "roofline", parent.roofline);
  json["findings"] = Json::array();
  for (const BottleneckFinding& finding : parent.findings)
    json["findings"].push_back({{"tag", name_of(finding.tag)},
                                {"severity", finding.severity},
                                {"message", finding.message}});
  return json;
}

std::string request_json(const ProposalRequest& request, const FailedAttempt* failed) {
  Json json{{"step", request.directive.step},
            {"directive", Json::parse(to_json(request.directive))},
            {"parent", kernel_json(request.parent, "parent.cu")},
            {"baseline_us", microseconds(request.baseline)},
            {"best_us", microseconds(request.best)},
            {"budget", {{"evaluations", request.directive.evaluations}}},
            {"history", Json::array()},
            {"lessons", request.lessons},
            {"output", kAnswerFile}};
  if (request.mate)
    json["mate"] = kernel_json(*request.mate, "mate.cu");
  for (const PastStep& past : request.history) {
    Json one{{"step", past.step},
             {"title", past.title},
             {"direction", past.direction},
             {"outcome", past.outcome},
             {"summary", past.fault}};
    put_optional(one, "speedup", past.speedup);
    json["history"].push_back(std::move(one));
  }
  if (failed != nullptr) {
    json["repair"] = {{"ordinal", failed->ordinal + 1},
                      {"diagnosis", Json::parse(to_json(failed->diagnosis))}};
    json["repair"]["file"] = failed->source.empty() ? Json(nullptr) : Json("failed.cu");
  }
  return dump_json(json, 2) + "\n";
}

} // namespace

std::string command_request(const std::string& text, const FailedAttempt* failed) {
  std::string request = text;
  if (!request.ends_with('\n'))
    request += '\n';
  if (failed != nullptr) {
    request += "\n# What was wrong with your last answer\n\n" + to_text(failed->diagnosis);
    if (!failed->source.empty())
      request += "\nIt stands in failed.cu. Mend it; keep what is right about it.\n";
  }
  request += "\n# Where the answer goes\n\nWrite the whole kernel file to kernel.cu in this folder "
             "(its path is in $KERNEVO_OUTPUT), or print it in a fenced block. The parent stands "
             "in parent.cu, the figures in request.json.\n";
  return request;
}

Result<void> fill_command_folder(const fs::path& folder, const ProposalRequest& request,
                                 const FailedAttempt* failed, const std::string& text) {
  KERNEVO_CHECK(write_file_atomically(folder / "request.md", text));
  KERNEVO_CHECK(write_file_atomically(folder / "request.json", request_json(request, failed)));
  KERNEVO_CHECK(write_file_atomically(folder / "parent.cu", request.parent.source));
  if (request.mate)
    KERNEVO_CHECK(write_file_atomically(folder / "mate.cu", request.mate->source));
  if (failed != nullptr && !failed->source.empty())
    KERNEVO_CHECK(write_file_atomically(folder / "failed.cu", failed->source));
  return {};
}

std::vector<std::string> command_environment(const fs::path& folder,
                                             const ProposalRequest& request) {
  const std::array<std::pair<std::string, std::string>, 4> own = {
      std::pair{std::string("KERNEVO_REQUEST"), (folder / "request.md").string()},
      std::pair{std::string("KERNEVO_PARENT"), (folder / "parent.cu").string()},
      std::pair{std::string("KERNEVO_OUTPUT"), (folder / kAnswerFile).string()},
      std::pair{std::string("KERNEVO_STEP"), std::to_string(request.directive.step)}};
  std::vector<std::string> environment;
  for (char** setting = environ; setting != nullptr && *setting != nullptr; ++setting) {
    const std::string_view name =
        std::string_view(*setting).substr(0, std::string_view(*setting).find('='));
    if (std::none_of(own.begin(), own.end(), [&](const auto& ours) { return ours.first == name; }))
      environment.emplace_back(*setting);
  }
  for (const auto& [name, value] : own)
    environment.push_back(name + "=" + value);
  return environment;
}

Result<std::optional<std::string>> read_command_answer(const fs::path& folder) {
  const fs::path file = folder / kAnswerFile;
  std::error_code ignored;
  // A link or a pipe is no answer: what it leads to may be anything, or never end.
  if (fs::symlink_status(file, ignored).type() != fs::file_type::regular)
    return std::optional<std::string>();
  KERNEVO_TRY(text, read_text_file(file, kLargestAnswer));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return std::optional<std::string>();
  return std::optional(std::move(text));
}

} // namespace kernevo::propose

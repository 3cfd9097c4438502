#include "kernevo/programs/stage_jobs.h"

#include "kernevo/base/files.h"
#include "kernevo/base/hash.h"
#include "kernevo/model/json_fields.h"

#include <fmt/format.h>
#include <limits>

namespace kernevo {
namespace fs = std::filesystem;

namespace {

constexpr const char* kStage = "the Python that judges programs";
constexpr double kGrace = 30;          // seconds that the stage has to end a job that is late
constexpr std::size_t kPrinted = 4096; // characters of what a program prints that are kept

std::optional<Place> place_of(const Json& json) {
  if (json.is_null())
    return std::nullopt;
  const auto text = json.get<std::string>();
  const auto colon = text.rfind(':');
  Place place{one_line(text, kLongestComplaint)};
  if (colon == std::string::npos || colon + 1 == text.size() ||
      text.find_first_not_of("0123456789", colon + 1) != std::string::npos ||
      text.size() - colon > 9)
    return place;
  place.file = one_line(text.substr(0, colon), kLongestComplaint);
  place.line = std::stoi(text.substr(colon + 1));
  return place;
}

std::vector<std::string> lines_at(const Json& json, const char* key) {
  std::vector<std::string> lines;
  for (const Json& line : list_at(json, key))
    lines.push_back(one_line(line.get<std::string>(), kLongestComplaint));
  return lines;
}

StageFault fault_of(const Json& json) {
  return {enum_at(json, "kind", StageFaultKind::machine),
          one_line(json.at("text").get<std::string>(), kLongestComplaint),
          place_of(json.at("where")), lines_at(json, "detail")};
}

double number_of(const Json& json) {
  if (!json.is_string())
    return json.get<double>();
  const auto name = json.get<std::string>();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (name == "inf" || name == "-inf")
    return name == "inf" ? infinity : -infinity;
  if (name != "nan")
    refuse("'" + one_line(name, 20) + "' is no number");
  return std::numeric_limits<double>::quiet_NaN();
}

std::string shape_text(const Json& input) {
  if (input.contains("value"))
    return one_line(dump_json(input.at("value")), 40);
  std::string text;
  for (const Json& size : input.at("shape"))
    text += fmt::format("{}{}", text.empty() ? "" : "x", size.get<std::int64_t>());
  return fmt::format("{} {}", text.empty() ? "scalar" : text,
                     one_line(input.at("dtype").get<std::string>(), 20));
}

std::uint64_t elements_of(const Json& tensors) {
  double elements = 0;
  for (const Json& tensor : tensors) {
    if (!tensor.contains("shape"))
      continue;
    double own = 1;
    for (const Json& size : tensor.at("shape"))
      own *= static_cast<double>(size.get<std::uint64_t>());
    elements += own;
  }
  if (elements > 1e18)
    refuse("a tensor is too large");
  return static_cast<std::uint64_t>(elements);
}

ProgramCase case_of(const Json& json) {
  ProgramCase one;
  one.id = json.at("id");
  one.kind = enum_at(json, "kind", CaseKind::real);
  one.globals = dump_json(json.at("globals"));
  for (const Json& input : list_at(json, "inputs")) {
    one.inputs += (one.inputs.empty() ? "" : ", ") + shape_text(input);
    if (input.contains("shape"))
      for (const Json& extent : input.at("shape"))
        one.extents.push_back(extent.get<std::int64_t>());
  }
  one.outputs = elements_of(json.at("outputs"));
  one.input_bytes = json.at("input_bytes");
  one.weight_bytes = json.at("weight_bytes");
  one.output_bytes = json.at("output_bytes");
  one.flops = amount_at(json, "flops");
  return one;
}

TaskDescription description_of(const Json& json) {
  TaskDescription description;
  for (const Json& one : list_at(json, "cases"))
    description.cases.push_back(case_of(one));
  if (description.find(CaseKind::real) == nullptr)
    refuse("the task's own sizes are missing");
  description.float64 = json.at("float64");
  description.mode = json.at("mode");
  description.warnings = lines_at(json, "warnings");
  return description;
}

fs::path path_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? fs::path() : fs::path(found->get<std::string>());
}

PreparedCase prepared_of(const Json& json) {
  PreparedCase prepared;
  if (json.contains("variants"))
    for (const Json& one : list_at(json, "variants"))
      prepared.variants.push_back({one.at("name"), one.at("used"),
                                   one.contains("why") && one.at("why").is_string()
                                       ? one_line(one.at("why").get<std::string>(), 200)
                                       : std::string(),
                                   path_at(one, "inputs"), path_at(one, "expected")});
  if (json.value("trivial", false))
    prepared.trivial =
        json.contains("trivial_why") && json.at("trivial_why").is_string()
            ? one_line(json.at("trivial_why").get<std::string>(), 200)
            : std::string("an answer that computes nothing would be taken for right");
  prepared.init = path_at(json, "init");
  prepared.decoy = path_at(json, "decoy");
  return prepared;
}

Recording recording_of(const Json& json) {
  Json record = json;
  record.erase("id");
  record.erase("ok");
  Recording recording;
  recording.record = dump_json(record);
  recording.reads_back = json.at("reads_back");
  recording.launches = json.at("launches");
  recording.operators = json.at("operators");
  recording.printed =
      printable(json.at("printed").get<std::string>().substr(0, kPrinted), Lines::kept);
  recording.notes = lines_at(json, "notes");
  return recording;
}

Replayed replayed_of(const Json& json) {
  Replayed replayed;
  replayed.outputs = path_at(json, "outputs");
  for (const Json& one : list_at(json, "findings"))
    replayed.findings.push_back(
        {one.at("kind"), one_line(one.at("text").get<std::string>(), kLongestComplaint),
         one.contains("kernel") && one.at("kernel").is_string() ? one.at("kernel")
                                                                : Json(std::string())});
  replayed.narrow = json.value("narrow", true);
  replayed.report = value_of(program_report_from_json(dump_json(json.at("report"))));
  return replayed;
}

OutputComparison comparison_of(const Json& json) {
  OutputComparison comparison;
  comparison.right = json.at("right");
  comparison.elements = json.at("elements");
  if (json.contains("text") && json.at("text").is_string())
    comparison.text = one_line(json.at("text").get<std::string>(), kLongestComplaint);
  if (const Json& worst = json.at("worst"); !worst.is_null()) {
    comparison.worst_ratio = number_of(worst.at("ratio"));
    comparison.worst = Mismatch{
        worst.at("output").is_string() ? worst.at("output").get<std::string>()
                                       : dump_json(worst.at("output")),
        worst.at("index").get<std::vector<std::int64_t>>(), number_of(worst.at("expected")),
        number_of(worst.at("actual")), number_of(worst.at("tolerance"))};
  }
  return comparison;
}

BenchmarkProblem problem_of(const Json& json) {
  return {fs::path(json.at("path").get<std::string>()), json.at("name"), json.value("id", 0)};
}

// What every job of a task is told.
Json request_for(const ProgramTask& task, const char* what) {
  Json request{{"do", what},
               {"precision", task.precision},
               {"seed", task.seed},
               {"allow_tf32", task.allow_tf32},
               {"gpu", task.gpu},
               {"memory", task.memory},
               {"seconds", task.seconds}};
  if (!task.mode.empty())
    request["mode"] = task.mode;
  return request;
}

// What the stage reads of a request stays in its memory, which candidates that are forked later
// inherit: a secret goes past it, to the job alone.
Result<std::string> secret_file(const ProgramTask& task, const fs::path& place) {
  const fs::path file = place / "secret";
  KERNEVO_CHECK(write_file_atomically(file, fmt::format("{}", task.secret)));
  return file.string();
}

template <class T, class Reader>
Result<Answer<T>> read_answer(Result<Answer<std::string>> said, Reader&& reader) {
  if (!said)
    return tl::unexpected<Error>(said.error());
  if (!*said)
    return Answer<T>(tl::unexpected<StageFault>(said->error()));
  KERNEVO_TRY(value, read_json(**said, kStage, reader));
  return Answer<T>(std::move(value));
}

} // namespace

void seed_task(ProgramTask& task, std::uint64_t secret) {
  task.secret = secret;
  const std::string hash = sha256_hex(fmt::format("seed of weights {}", secret));
  task.seed = std::stoull(hash.substr(0, 7), nullptr, 16);
}

std::string_view name_of(CaseKind kind) {
  switch (kind) {
  case CaseKind::small: return "small";
  case CaseKind::odd: return "odd";
  case CaseKind::middle: return "middle";
  case CaseKind::scaled: return "scaled";
  case CaseKind::real: return "real";
  }
  return "real";
}

std::string_view name_of(ReplayMode mode) {
  switch (mode) {
  case ReplayMode::sanitize: return "sanitize";
  case ReplayMode::whole: return "whole";
  case ReplayMode::priced: return "priced";
  }
  return "whole";
}

const ProgramCase* TaskDescription::find(CaseKind kind) const {
  for (const ProgramCase& one : cases)
    if (one.kind == kind)
      return &one;
  return nullptr;
}

Result<Answer<std::string>> StageJobs::ask(const std::string& request, double seconds) {
  if (channel_ == nullptr) {
    KERNEVO_TRY(stage, Stage::start());
    channel_ = std::move(stage);
  }
  Json numbered = Json::parse(request);
  numbered["id"] = ++asked_;
  auto reply = channel_->ask(dump_json(numbered), seconds + kGrace);
  if (!reply) {
    channel_.reset();
    return tl::unexpected<Error>(std::move(reply).error());
  }
  KERNEVO_TRY(fault, read_json(*reply, kStage, [&](const Json& json) {
                if (json.at("id") != asked_)
                  refuse("it answers another question");
                return json.at("ok").get<bool>() ? std::optional<StageFault>()
                                                 : fault_of(json.at("error"));
              }));
  if (fault)
    return Answer<std::string>(tl::unexpected<StageFault>(std::move(*fault)));
  return Answer<std::string>(std::move(*reply));
}

Result<Answer<BenchmarkProblem>> StageJobs::find_problem(const fs::path& checkout, int level,
                                                         const std::string& problem) {
  const Json request{
      {"do", "find"}, {"dir", checkout.string()}, {"level", level}, {"problem", problem}};
  return read_answer<BenchmarkProblem>(ask(dump_json(request), 60), problem_of);
}

Result<Answer<std::vector<BenchmarkProblem>>> StageJobs::list_problems(const fs::path& checkout,
                                                                       int level) {
  const Json request{{"do", "list"}, {"dir", checkout.string()}, {"level", level}};
  return read_answer<std::vector<BenchmarkProblem>>(
      ask(dump_json(request), 60), [](const Json& json) {
        std::vector<BenchmarkProblem> problems;
        for (const Json& one : list_at(json, "problems"))
          problems.push_back(problem_of(one));
        return problems;
      });
}

Result<Answer<TaskDescription>> StageJobs::describe(const ProgramTask& task) {
  Json request = request_for(task, "describe");
  request["task"] = task.file.string();
  return read_answer<TaskDescription>(ask(dump_json(request), task.seconds), description_of);
}

Result<Answer<PreparedCase>> StageJobs::prepare(const ProgramTask& task, const ProgramCase& one,
                                                const fs::path& place, bool every_kind,
                                                bool values) {
  Json request = request_for(task, "prepare");
  request["task"] = task.file.string();
  request["case"] = {{"id", one.id}, {"globals", Json::parse(one.globals)}};
  request["variants"] =
      every_kind ? Json::array({"nominal", "signed", "wide", "ragged"}) : Json::array({"nominal"});
  request["values"] = values;
  KERNEVO_TRY(secret, secret_file(task, place));
  request["secret_file"] = secret;
  request["place"] = place.string();
  return read_answer<PreparedCase>(ask(dump_json(request), task.seconds), prepared_of);
}

Result<Answer<PreparedCase>> StageJobs::prepare(const ProgramTask& task, const ProgramCase& one,
                                                bool every_kind, const fs::path& place) {
  return prepare(task, one, place, every_kind, true);
}

Result<Answer<PreparedCase>>
StageJobs::prepare_shapes(const ProgramTask& task, const ProgramCase& one, const fs::path& place) {
  return prepare(task, one, place, false, false);
}

Result<Answer<Recording>> StageJobs::record(const ProgramTask& task, const ProgramClass& program,
                                            const PreparedCase& prepared, int warm_ups,
                                            bool execute, const fs::path& place) {
  Json request = request_for(task, "record");
  request["program"] = program.file.string();
  request["class"] = program.name;
  request["init"] = prepared.init.string();
  request["decoy"] = prepared.decoy.string();
  request["place"] = place.string();
  request["execute"] = execute ? "all" : "none";
  request["warm_ups"] = warm_ups;
  request["build_seconds"] = task.build_seconds;
  return read_answer<Recording>(ask(dump_json(request), task.seconds + task.build_seconds),
                                recording_of);
}

Result<Answer<Replayed>> StageJobs::replay(const ProgramTask& task, const Recording& recording,
                                           const fs::path& inputs, ReplayMode mode,
                                           const fs::path& place) {
  Json request = request_for(task, "replay");
  request["record"] = Json::parse(recording.record);
  request["trace"] = request["record"].at("trace");
  request["snapshot"] = request["record"].at("snapshot");
  request["inputs"] = inputs.empty() ? Json(nullptr) : Json(inputs.string());
  request["place"] = place.string();
  request["mode"] = name_of(mode);
  KERNEVO_TRY(secret, secret_file(task, place));
  request["secret_file"] = secret;
  return read_answer<Replayed>(ask(dump_json(request), task.seconds), replayed_of);
}

Result<Answer<OutputComparison>> StageJobs::compare(const ProgramTask& task,
                                                    const fs::path& expected,
                                                    const fs::path& outputs, bool narrow) {
  Json request = request_for(task, "compare");
  request["expected"] = expected.string();
  request["outputs"] = outputs.string();
  request["narrow"] = narrow;
  return read_answer<OutputComparison>(ask(dump_json(request), task.seconds), comparison_of);
}

} // namespace kernevo

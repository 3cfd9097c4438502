#include "kernevo/evaluate/visible.h"

#include "kernevo/base/identifier.h"
#include "kernevo/evaluate/fault_words.h"
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/model/loaded_code_fields.h"
#include "kernevo/model/source_lines.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/task/drawn_shapes.h"
#include "kernevo/task/yaml_tree.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace kernevo {
namespace {

constexpr std::string_view kSecretKey = "check_shapes";
constexpr std::string_view kOnHiddenShape =
    "on a shape that is not shown; sizes need not be multiples of any tile";
constexpr std::string_view kHiddenError = "on a hidden shape: ";

// --- the text of a task

// Where a line and a column, both from 1, stand in the text.
std::size_t offset_of(std::string_view text, const Place& place) {
  std::size_t at = 0;
  for (int line = 1; line < place.line && at < text.size(); ++line) {
    const std::size_t end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return std::min(text.size(), at + static_cast<std::size_t>(std::max(0, place.column - 1)));
}

// Where the lines begin that stand above a key, at the start of its line, and are comments alone.
std::size_t above(std::string_view text, std::size_t key) {
  std::size_t begin = key;
  while (begin > 0 && text[begin - 1] == '\n') {
    const std::size_t end = begin - 1;
    const std::size_t before = end == 0 ? std::string_view::npos : text.rfind('\n', end - 1);
    const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t first = text.find_first_not_of(" \t", start);
    if (first >= end || text[first] != '#')
      break;
    begin = start;
  }
  return begin;
}

bool is_task(const YamlNode& root) {
  return root.kind == YamlNode::Kind::map &&
         (root.find("op_name") != nullptr || root.find("operation") != nullptr ||
          root.find("shapes") != nullptr || root.find("shape_cases") != nullptr);
}

// --- verdicts

bool is_hidden(const CheckedCase& one) {
  return one.hidden;
}

// Without a case on record a fault while shapes were run is one of a shape that may be hidden: such
// shapes stand among the small ones when the task lists them.
bool fault_is_hidden(const Verdict& verdict) {
  if (!verdict.fault)
    return false;
  if (verdict.failing_case)
    return verdict.failing_case->hidden;
  return verdict.rung == Rung::small_shapes || verdict.rung == Rung::hidden_shapes;
}

// Says what kind of fault, and nothing else: which line, buffer or thread is at fault, a kernel can
// choose by the shape it meets.
Diagnosis diagnose_hidden(const Verdict& verdict) {
  Diagnosis diagnosis = diagnose(*verdict.fault);
  diagnosis.rung = verdict.rung;
  diagnosis.hidden = true;
  diagnosis.summary =
      fmt::format("{}, {}", verdict.finding ? in_words(verdict.finding->kind) : diagnosis.summary,
                  kOnHiddenShape);
  return diagnosis;
}

// "correct on 9 cases (4 of them hidden), worst error ...". A kernel can choose its error by the
// shape it meets and its elements are as many as the shape has, so neither is told of hidden cases.
std::string summary_of(const Verdict& verdict, std::size_t hidden) {
  double worst = 0;
  for (const CheckedCase& one : verdict.cases)
    if (!is_hidden(one))
      worst = std::max(worst, one.worst_error_ratio);
  std::string text =
      fmt::format("correct on {} cases ({} of them hidden)", verdict.cases.size(), hidden);
  if (verdict.cases.size() > hidden)
    text += fmt::format(", worst error {:.0f} % of its tolerance", worst * 100);
  return text;
}

// Whether the name stands in the text as a word of its own.
bool names(std::string_view text, std::string_view name) {
  const auto is_word = [&](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
    if (!(at > 0 && is_word(at - 1)) && !is_word(at + name.size()))
      return !name.empty();
  return false;
}

bool names_a_hidden_case(std::string_view text, const Verdict& verdict) {
  return std::any_of(verdict.cases.begin(), verdict.cases.end(), [&](const CheckedCase& one) {
    return is_hidden(one) && names(text, one.case_id);
  });
}

// Inputs follow from a seed. How many blocks stand for a large shape depends on what the kernel did
// on the small ones, hidden ones among them.
void redact(CheckedCase& one, bool after_hidden) {
  one.seed.reset();
  if (after_hidden && one.blocks_run && *one.blocks_run < one.blocks) {
    one.blocks_run.reset();
    one.elements_checked.reset();
  }
}

bool is_limit(FindingKind kind) {
  return kind == FindingKind::instruction_budget || kind == FindingKind::time_limit;
}

// How much a kernel may do on a real shape depends on what it did on others, hidden ones among
// them: the number would say what it met there.
void forget_limit(Verdict& verdict) {
  if (verdict.finding && is_limit(verdict.finding->kind))
    verdict.finding->message = in_words(verdict.finding->kind);
}

VisibleVerdict for_proposer(Verdict verdict, std::string_view source) {
  VisibleVerdict visible;
  const auto hidden = static_cast<std::size_t>(
      std::count_if(verdict.cases.begin(), verdict.cases.end(), is_hidden));
  const bool hidden_fault = fault_is_hidden(verdict);
  const bool after_hidden = hidden > 0 || hidden_fault;
  if (!hidden_fault)
    visible.hidden_cases = hidden;
  if (verdict.fault)
    visible.diagnosis = diagnose(verdict, source);
  verdict.summary = visible.diagnosis ? visible.diagnosis->summary : summary_of(verdict, hidden);
  if (hidden_fault) {
    if (!verdict.failing_case)
      verdict.diagnostics.clear(); // a launch that could not be made: its numbers are the shape's
    verdict.finding.reset();
    verdict.mismatch.reset();
    verdict.failing_case.reset();
  }
  forget_limit(verdict);
  if (after_hidden)
    verdict.printed.clear(); // a kernel can print what it sees
  verdict.hidden_warnings.clear();
  std::erase_if(verdict.warnings,
                [&](const std::string& warning) { return names_a_hidden_case(warning, verdict); });
  std::erase_if(verdict.cases, is_hidden);
  for (CheckedCase& one : verdict.cases)
    redact(one, after_hidden);
  if (verdict.failing_case)
    redact(*verdict.failing_case, after_hidden);
  visible.verdict = std::move(verdict);
  return visible;
}

} // namespace

Task visible(Task task, Audience audience) {
  if (audience == Audience::proposer) {
    task.check_shapes.clear();
    task.check_shapes_given = false;
  }
  return task;
}

Result<std::string> visible_task_text(std::string_view text, const std::string& file,
                                      Audience audience) {
  std::string visible(text);
  if (audience == Audience::owner)
    return visible;
  KERNEVO_TRY(root, parse_yaml(text, file));
  if (!is_task(*root))
    return fail(ErrorCode::input, "is not a task file", Place{file});
  // From the last key to the first, so that places before it stay what they are. What stands
  // between the key and the next one goes with it, and the comment above it, too.
  for (std::size_t i = root->entries.size(); i-- > 0;) {
    if (root->entries[i].first->text != kSecretKey)
      continue;
    const std::size_t begin = above(text, offset_of(text, root->entries[i].first->place));
    const bool last = i + 1 == root->entries.size();
    const std::size_t end = last ? text.size() : offset_of(text, root->entries[i + 1].first->place);
    visible.erase(begin, end - begin);
    if (last && root->place.line == 1 && text.starts_with('{'))
      visible += "}\n";
  }
  return visible;
}

Dims sizes_in_common(const Task& task) {
  std::map<std::string, std::optional<std::int64_t>> values;
  // A size that one draw changes every draw does.
  const std::vector<ShapeCase> drawn = draw_shapes(task, 1);
  for (const auto* shapes : {&task.shapes, &task.check_shapes, &drawn})
    for (const ShapeCase& shape : *shapes)
      for (const auto& [name, value] : shape.dims) {
        const auto [found, fresh] = values.try_emplace(name, value);
        if (!fresh && found->second != value)
          found->second = std::nullopt;
      }
  Dims common;
  for (const auto& [name, value] : values)
    if (value)
      common[name] = *value;
  return common;
}

std::vector<ShapeCase> unseen_shapes(const Task& task, std::span<const ShapeCase> drawn) {
  std::vector<ShapeCase> shapes =
      task.check_shapes.empty() ? small_shapes(task) : task.check_shapes;
  shapes.insert(shapes.end(), drawn.begin(), drawn.end());
  return shapes;
}

std::string case_title(const CheckedCase& one) {
  return one.case_id + (is_hidden(one) ? " (hidden)" : "");
}

VisibleVerdict visible(Verdict verdict, std::string_view source, Audience audience) {
  if (audience == Audience::owner)
    return {std::move(verdict), std::nullopt, std::nullopt};
  return for_proposer(std::move(verdict), source);
}

VisibleCheck visible(CheckResult result, std::string_view source, Audience audience) {
  VisibleVerdict seen = visible(std::move(result.verdict), source, audience);
  result.verdict = std::move(seen.verdict);
  if (audience == Audience::proposer) {
    result.seed.reset();
    result.wall_seconds.reset(); // a kernel can take its time by the shape it meets
  }
  return {std::move(result), seen.hidden_cases, std::move(seen.diagnosis)};
}

std::string to_json(const VisibleCheck& check) {
  const CheckResult& result = check.result;
  Json json = Json::parse(to_json(result.verdict));
  json["device"] = result.device.name;
  put_loaded_code(json, result.code);
  if (check.hidden_cases)
    json["hidden_cases"] = *check.hidden_cases;
  if (result.seed)
    json["seed"] = *result.seed;
  if (check.diagnosis)
    json["diagnosis"] = Json::parse(to_json(*check.diagnosis));
  json["parameters"] = result.parameters;
  Json build = Json::parse(to_json(result.build));
  build.erase("ptx");
  build.erase("diagnostics");
  json["build"] = std::move(build);
  json["occupancy"] = Json::array();
  for (const LaunchOccupancy& launch : result.occupancy)
    json["occupancy"].push_back(
        {{"kernel", launch.kernel},
         {"blocks_per_multiprocessor", launch.occupancy.blocks_per_multiprocessor},
         {"fraction", launch.occupancy.fraction},
         {"limiter", name_of(launch.occupancy.limiter)}});
  if (result.wall_seconds)
    json["wall_seconds"] = *result.wall_seconds;
  return dump_json(json);
}

Diagnosis diagnose(const Verdict& verdict, std::string_view source) {
  if (fault_is_hidden(verdict))
    return diagnose_hidden(verdict);
  if (!verdict.finding || !is_limit(verdict.finding->kind))
    return diagnose_fully(verdict, source);
  Verdict without_limit = verdict;
  forget_limit(without_limit);
  return diagnose_fully(without_limit, source);
}

Diagnosis diagnose(FaultKind kind) {
  return {kind, Rung::parse, false, std::string(in_words(kind)), {}};
}

Error of_hidden_case(Error error) {
  error.message.insert(0, kHiddenError);
  return error;
}

PreparationFault of_hidden_case(PreparationFault fault) {
  fault.rung = Rung::hidden_shapes;
  return fault;
}

Error visible(Error error, Audience audience) {
  if (audience == Audience::owner || !error.message.starts_with(kHiddenError))
    return error;
  return {error.code, "the check cannot be carried out on a shape that is not shown", std::nullopt,
          "the owner of the task sees why with 'kernevo check'"};
}

BenchResult visible(BenchResult result, const Task& task, Audience audience) {
  if (audience == Audience::proposer)
    std::erase_if(result.cases, [&](const CaseBench& bench) {
      return std::none_of(task.shapes.begin(), task.shapes.end(),
                          [&](const ShapeCase& shape) { return shape.id == bench.case_id; });
    });
  return result;
}

WrongKernel visible(WrongKernel wrong, std::string_view source, Audience audience) {
  if (audience == Audience::owner || !wrong.verdict)
    return wrong;
  wrong.verdict = visible(std::move(*wrong.verdict), source, audience).verdict;
  wrong.summary = wrong.verdict->summary;
  return wrong;
}

// What failed while it ran, or gave wrong results, may have done so on a hidden shape.
search::Trial visible(search::Trial trial, Audience audience) {
  using search::Outcome;
  if (audience == Audience::proposer &&
      (trial.outcome == Outcome::wrong || trial.outcome == Outcome::run ||
       trial.outcome == Outcome::timeout))
    trial.reason.clear();
  return trial;
}

// The journal keeps what a fault looked like; a proposer has its diagnosis.
Evaluation visible(Evaluation evaluation, Audience audience) {
  const StepOutcome outcome = evaluation.outcome;
  const bool harmless = is_right(outcome) || outcome == StepOutcome::duplicate ||
                        outcome == StepOutcome::quarantined || outcome == StepOutcome::unproven ||
                        outcome == StepOutcome::no_proposal;
  if (audience == Audience::proposer && !harmless)
    evaluation.summary.clear();
  return evaluation;
}

} // namespace kernevo

#include "kernevo/propose/request_text.h"

#include "kernevo/propose/directions.h"
#include "kernevo/propose/prompt_files.h"
#include "kernevo/propose/reply_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo::propose {
namespace {

constexpr std::size_t kLessonsShown = 6;
constexpr std::size_t kStepsShown = 5;
constexpr std::size_t kEvidenceShown = 6;
constexpr std::size_t kAvoidShown = 8;
constexpr std::size_t kLineShown = 200;
constexpr std::size_t kTitleShown = 100;

std::string time_text(Nanoseconds time) {
  return fmt::format("{:.4g} us", time.value / 1000);
}

// The one finding the directive is about: the rule's, else one that names the direction, else the
// most severe.
const BottleneckFinding* chosen_finding(const ProposalRequest& request) {
  const auto& findings = request.parent.findings;
  for (const BottleneckFinding& finding : findings)
    if (name_of(finding.tag) == request.directive.rule)
      return &finding;
  for (const BottleneckFinding& finding : findings)
    for (const BottleneckDirection& direction : finding.directions)
      if (direction.name == request.directive.direction)
        return &finding;
  return findings.empty() ? nullptr : &findings.front();
}

std::string kernel_standing(const Parent& parent, const ProposalRequest& request) {
  std::string text = fmt::format("Step {}: ", parent.candidate.step);
  if (const std::string title = title_line(parent.candidate.title); !title.empty())
    text += title + ". ";
  text += standing_text(parent.objective, parent.roofline, request.baseline);
  return text;
}

std::string history_text(const ProposalRequest& request) {
  std::vector<std::string> lines;
  const auto& steps = request.history;
  const std::size_t first = steps.size() > kStepsShown ? steps.size() - kStepsShown : 0;
  for (std::size_t i = first; i < steps.size(); ++i) {
    const PastStep& past = steps[i];
    std::string line = fmt::format("step {}", past.step);
    if (!past.direction.empty())
      line += fmt::format(" ({})", past.direction);
    if (!past.title.empty())
      line += " " + title_line(past.title);
    line += ": " + past.outcome;
    if (past.speedup)
      line += fmt::format(", {:.3g}x the reference", *past.speedup);
    if (!past.fault.empty())
      line += "; " + past.fault;
    lines.push_back("- " + clean_line(line, kLineShown));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string lessons_text(const std::vector<std::string>& lessons) {
  std::vector<std::string> lines;
  const std::size_t first = lessons.size() > kLessonsShown ? lessons.size() - kLessonsShown : 0;
  for (std::size_t i = first; i < lessons.size(); ++i)
    lines.push_back("- " + clean_line(lessons[i], kLineShown));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string avoid_text(const std::set<std::string>& avoid) {
  std::vector<std::string> names;
  for (const std::string& gene : avoid)
    if (names.size() < kAvoidShown)
      names.push_back(clean_line(gene, kTitleShown));
  return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace

std::string title_line(std::string_view title) {
  std::string line = clean_line(title, kTitleShown);
  while (line.ends_with('.'))
    line.pop_back();
  return line;
}

std::string fenced(std::string_view text, std::string_view language) {
  std::size_t longest = 2;
  for (std::size_t at = text.find('`'); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_not_of('`', at), text.size());
    longest = std::max(longest, end - at);
    at = text.find('`', end);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}{}\n{}{}{}", fence, language, text, text.ends_with('\n') ? "" : "\n",
                     fence);
}

std::string standing_text(std::optional<Nanoseconds> time, std::optional<double> roofline,
                          std::optional<Nanoseconds> baseline) {
  if (!time)
    return "not timed";
  std::string text = time_text(*time);
  if (baseline && time->value > 0)
    text += fmt::format(", {:.3g} times as fast as the reference", baseline->value / time->value);
  if (roofline)
    text += fmt::format(", {:.0f} % of the roofline", *roofline * 100);
  return text;
}

std::string parameters_text(const std::map<std::string, std::int64_t>& parameters) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : parameters)
    parts.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string finding_text(const BottleneckFinding& finding) {
  std::string text = fmt::format("{} ({:.0f} % of the time at stake): {} {}", name_of(finding.tag),
                                 finding.severity * 100, clean_line(finding.message, 400),
                                 clean_line(finding.reason, 300));
  std::vector<std::string> figures;
  for (const BottleneckEvidence& figure : finding.evidence) {
    if (figures.size() == kEvidenceShown)
      break;
    std::string one = fmt::format("{} {:.4g}", figure.metric, figure.value);
    if (!figure.unit.empty())
      one += " " + figure.unit;
    if (figure.threshold)
      one += fmt::format(" (limit {:.4g})", *figure.threshold);
    figures.push_back(std::move(one));
  }
  if (!figures.empty())
    text += fmt::format("\nFigures: {}", fmt::join(figures, ", "));
  return text;
}

std::string direction_text(const ProposalRequest& request, const DirectionTexts& directions) {
  const std::string& name = request.directive.direction;
  if (request.mate || request.directive.mode == SearchMode::recombine)
    return "Join what the two kernels do well in one.";
  if (name == kOwnIdea || name.empty())
    return "No bottleneck asks for anything in particular: choose yourself what promises most.";
  if (const BottleneckFinding* finding = chosen_finding(request))
    for (const BottleneckDirection& direction : finding->directions)
      if (direction.name == name)
        return fmt::format("{}: {}", name, clean_line(direction.text, 400));
  const auto found = directions.find(name);
  return found == directions.end() ? name : fmt::format("{}: {}", name, found->second);
}

TemplateContext request_context(const ProposalRequest& request, const DirectionTexts& directions) {
  TemplateContext context = PromptFiles::blank("request");
  auto& values = context.values;
  values["standing"] = kernel_standing(request.parent, request);
  if (request.best && request.parent.objective && *request.best < *request.parent.objective)
    values["standing"] += fmt::format("; the best so far takes {}", time_text(*request.best));
  values["parameters"] = parameters_text(request.parent.parameters);
  values["source"] = fenced(request.parent.source, "cuda");
  if (request.mate) {
    values["mate_standing"] = kernel_standing(*request.mate, request);
    values["mate_parameters"] = parameters_text(request.mate->parameters);
    values["mate_source"] = fenced(request.mate->source, "cuda");
  }
  if (const BottleneckFinding* finding = chosen_finding(request))
    values["finding"] = finding_text(*finding);
  values["lessons"] = lessons_text(request.lessons);
  values["history"] = history_text(request);
  values["avoid"] = avoid_text(request.avoid);
  values["direction"] = direction_text(request, directions);
  for (auto& [flag, set] : context.flags)
    set = flag == "mate" ? request.mate.has_value() : !values[flag].empty();
  return context;
}

} // namespace kernevo::propose

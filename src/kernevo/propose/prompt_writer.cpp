#include "kernevo/propose/prompt_writer.h"

#include "kernevo/base/text_diff.h"
#include "kernevo/llm/client.h"
#include "kernevo/propose/directions.h"
#include "kernevo/propose/reply_text.h"
#include "kernevo/propose/task_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo::propose {
namespace {

constexpr std::size_t kPlanShown = 4000;
constexpr std::size_t kDiffShown = 8000;

// A plan as it was written, but for control characters and excess.
std::string plan_text(std::string_view plan) {
  std::string text;
  std::size_t at = 0;
  while (at < plan.size() && text.size() < kPlanShown) {
    const std::size_t end = std::min(plan.find('\n', at), plan.size());
    const std::string line = clean_line(plan.substr(at, end - at), kPlanShown - text.size());
    if (!line.empty() || !text.empty())
      text += line + "\n";
    at = end + 1;
  }
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

std::string diff_text(const std::string& before, const std::string& after) {
  std::string diff = unified_diff(before, after, "before", "after");
  if (diff.empty())
    return "The two are the same text.";
  if (diff.size() > kDiffShown) {
    diff.resize(diff.rfind('\n', kDiffShown) + 1);
    diff += "(the rest is not shown)\n";
  }
  return fenced(diff, "diff");
}

std::string delta_text(const Parent& parent, const Evaluation& evaluation) {
  if (!parent.objective || !evaluation.objective || evaluation.objective->value <= 0)
    return "The difference was not measured.";
  const double ratio = parent.objective->value / evaluation.objective->value;
  return ratio >= 1 ? fmt::format("It became {:.3g} times as fast.", ratio)
                    : fmt::format("It became {:.3g} times as slow.", 1 / ratio);
}

std::string facts_text(const Evaluation& evaluation) {
  if (!evaluation.facts)
    return "";
  const KernelFacts& facts = *evaluation.facts;
  return fmt::format("; {} registers, occupancy {:.2g} limited by {}, widest access {} bytes, data "
                     "by way of {} memory{}",
                     facts.registers, facts.occupancy, facts.limiter, facts.vector_bytes,
                     facts.memory, facts.tensor ? ", tensor cores" : "");
}

// What the prompts about a measured candidate have in common.
TemplateContext measured_context(const std::string& prompt, const ProposalRequest& request,
                                 const Proposal& proposal, const Evaluation& evaluation) {
  TemplateContext context = PromptFiles::blank(prompt);
  context.values["title"] = title_line(proposal.title);
  context.values["standing"] =
      standing_text(evaluation.objective, evaluation.roofline, request.baseline) +
      facts_text(evaluation);
  if (!evaluation.bottlenecks.empty())
    context.values["finding"] = finding_text(evaluation.bottlenecks.front());
  return context;
}

void set_flags(TemplateContext& context) {
  for (auto& [flag, set] : context.flags)
    if (const auto value = context.values.find(flag); value != context.values.end())
      set = !value->second.empty();
}

} // namespace

Result<PromptWriter> PromptWriter::create(const Task& task, const Gpu& gpu,
                                          std::optional<Nanoseconds> roofline,
                                          const std::string& overrides) {
  PromptWriter writer;
  KERNEVO_TRY(files, PromptFiles::load("cuda", overrides));
  writer.files_ = std::move(files);
  KERNEVO_TRY(directions, load_directions());
  for (const BottleneckDirection& direction : directions)
    writer.directions_[direction.name] = direction.text;
  KERNEVO_TRY(format, writer.files_.fill("format", PromptFiles::blank("format")));
  TemplateContext system = PromptFiles::blank("system");
  system.values["format"] = format;
  KERNEVO_TRY(system_text, writer.files_.fill("system", system));
  writer.system_ = std::move(system_text);
  KERNEVO_TRY(task_text, writer.files_.fill("task", task_context(task, gpu, roofline)));
  writer.task_ = std::move(task_text);
  KERNEVO_TRY(edit, writer.files_.fill("edit", PromptFiles::blank("edit")));
  writer.edit_ = std::move(edit);
  return writer;
}

llm::Messages PromptWriter::messages(const std::string& last) const {
  return {{llm::Role::system, system_}, {llm::Role::user, task_ + last}};
}

std::string PromptWriter::request_text(const ProposalRequest& request) const {
  // Loading has checked that the text asks only for what the context has.
  return files_.fill("request", request_context(request, directions_)).value_or("");
}

Result<llm::Messages> PromptWriter::plan(const ProposalRequest& request) const {
  TemplateContext context = PromptFiles::blank("plan");
  context.flags["mate"] = request.mate.has_value();
  KERNEVO_TRY(text, files_.fill("plan", context));
  return messages(request_text(request) + text);
}

Result<std::string> PromptWriter::code_text(const std::string& plan, bool edits) const {
  TemplateContext context = PromptFiles::blank("code");
  context.values["plan"] = plan_text(plan);
  context.values["following"] = context.values["plan"].empty() ? "" : ", following the plan";
  context.values["edit"] = edit_;
  set_flags(context);
  context.flags["edits"] = edits;
  return files_.fill("code", context);
}

Result<llm::Messages> PromptWriter::code(const ProposalRequest& request, const std::string& plan,
                                         bool edits) const {
  KERNEVO_TRY(text, code_text(plan, edits));
  return messages(request_text(request) + text);
}

Result<llm::Messages> PromptWriter::recombine(const ProposalRequest& request,
                                              const std::string& plan) const {
  TemplateContext context = PromptFiles::blank("recombine");
  context.values["plan"] = plan_text(plan);
  set_flags(context);
  KERNEVO_TRY(text, files_.fill("recombine", context));
  return messages(request_text(request) + text);
}

Result<llm::Messages> PromptWriter::repair(const ProposalRequest& request,
                                           const FailedAttempt& failed, bool edits) const {
  TemplateContext context = PromptFiles::blank("repair");
  context.values["direction"] = direction_text(request, directions_);
  context.values["diagnosis"] = to_text(failed.diagnosis);
  context.values["edit"] = edit_;
  if (!failed.source.empty())
    context.values["source"] = fenced(failed.source, "cuda");
  set_flags(context);
  context.flags["edits"] = edits;
  KERNEVO_TRY(text, files_.fill("repair", context));
  // Without a source there is nothing to mend: the request is made again.
  return messages(failed.source.empty() ? request_text(request) + text : text);
}

Result<llm::Messages> PromptWriter::insights(const ProposalRequest& request,
                                             const Proposal& proposal,
                                             const Evaluation& evaluation) const {
  TemplateContext context = measured_context("insights", request, proposal, evaluation);
  context.values["parameters"] = parameters_text(evaluation.parameters);
  context.values["source"] = fenced(proposal.source, "cuda");
  set_flags(context);
  KERNEVO_TRY(text, files_.fill("insights", context));
  return messages(text);
}

Result<llm::Messages> PromptWriter::lineage(const ProposalRequest& request,
                                            const Proposal& proposal,
                                            const Evaluation& evaluation) const {
  TemplateContext context = measured_context("lineage", request, proposal, evaluation);
  context.values["before"] =
      standing_text(request.parent.objective, request.parent.roofline, request.baseline);
  context.values["delta"] = delta_text(request.parent, evaluation);
  context.values["diff"] = diff_text(request.parent.source, proposal.source);
  set_flags(context);
  KERNEVO_TRY(text, files_.fill("lineage", context));
  return messages(text);
}

std::vector<PromptSize> PromptWriter::sizes(const ProposalRequest& request) const {
  std::vector<PromptSize> sizes;
  const auto add = [&](std::string part, const std::string& text) {
    sizes.push_back({std::move(part), text.size(), llm::estimate_tokens(text)});
  };
  add("system", system_);
  add("task", task_);
  add("request", request_text(request));
  add("plan", files_.fill("plan", PromptFiles::blank("plan")).value_or(""));
  add("code", code_text("", false).value_or(""));
  add("edit", code_text("", true).value_or(""));
  add("recombine", files_.fill("recombine", PromptFiles::blank("recombine")).value_or(""));
  add("repair", files_.fill("repair", PromptFiles::blank("repair")).value_or(""));
  add("insights", files_.fill("insights", PromptFiles::blank("insights")).value_or(""));
  add("lineage", files_.fill("lineage", PromptFiles::blank("lineage")).value_or(""));
  return sizes;
}

} // namespace kernevo::propose

#include "sample_run.h"

#include "kernevo/base/hash.h"
#include "kernevo/store/open_journal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kernevo::report {
namespace {

constexpr const char* kTask = R"(op_name: softmax
shapes:
  - [512, 1024]
dtype: float32
target_gpu: A100
)";

BottleneckFinding dram_bound() {
  BottleneckFinding finding;
  finding.tag = BottleneckTag::dram_bound;
  finding.severity = 0.8;
  finding.message = "DRAM is busy.";
  finding.reason = "It is slow.";
  finding.evidence = {{"share.dram", 0.8, "fraction", 0.6}};
  finding.directions = {{"reuse_on_chip", "Keep it on the chip."}};
  return finding;
}

// A whole profile, as the journal keeps it for the launch of an evaluation.
std::string profile_text() {
  Bottleneck bottleneck;
  bottleneck.kernel = "softmax_kernel";
  bottleneck.findings = {dram_bound()};
  bottleneck.trace.push_back({BottleneckTag::dram_bound,
                              "share.dram > 0.6",
                              {{"share.dram > 0.6", 0.8, 0.6, true}},
                              true});
  return to_json(bottleneck);
}

} // namespace

Evaluation made_up_evaluation(Step step, Step candidate, StepOutcome outcome,
                              std::optional<double> microseconds) {
  Evaluation e;
  e.step = step;
  e.candidate = candidate;
  e.outcome = outcome;
  e.instances_timed = 3;
  if (!microseconds) {
    e.summary = "it is wrong somewhere";
    return e;
  }
  const Nanoseconds time{*microseconds * 1e3};
  e.identity = fmt::format("identity {}", candidate);
  e.objective = time;
  e.shapes = {{"512x1024", time, time * 0.9, time * 1.1}};
  e.parameters = {{"BLOCK", 128}};
  e.facts = KernelFacts{1, "shared", 16, false, 32, 0.5, "registers"};
  e.roofline = 2.7 / *microseconds;
  e.bottlenecks = {dram_bound()};
  e.profile = sha256_hex(profile_text());
  return e;
}

SampleRun::SampleRun(const std::string& name, bool baseline) : folder_(made_.path() / name) {
  auto made = store::create_journal(folder_);
  if (!made)
    throw std::runtime_error(format_error(made.error()));
  journal_ = std::move(*made);
  RunStarted started;
  started.run = name;
  started.task_file = "task.yaml";
  started.task = sha256_hex(kTask);
  started.task_name = "task";
  started.operation = "softmax";
  started.gpu = "A100";
  started.method = "modelled";
  started.program = "test";
  append(started, {kTask});
  if (baseline) {
    append(Directive{});
    Candidate reference;
    reference.source = sha256_hex("reference\n");
    reference.proposer = "reference";
    reference.title = "The reference.";
    append(reference, {"reference\n"});
    append(made_up_evaluation(0, 0, StepOutcome::baseline, 100.0), {profile_text()}, 1.5);
    next_ = 1;
  }
}

void SampleRun::append(const RunEvent& event, const store::Blobs& blobs,
                       std::optional<double> seconds) {
  const auto done = journal_->append(event, blobs, seconds);
  ASSERT_TRUE(done) << format_error(done.error());
}

Step SampleRun::open(Step parent) {
  Directive directive;
  directive.step = next_++;
  directive.mode = SearchMode::exploit;
  directive.parent = parent;
  directive.proposer = "playbook";
  directive.direction = "reuse_on_chip";
  directive.rule = "dram_bound";
  directive.gate = "bandit";
  directive.reason = "the most promising";
  directive.reasons = {{"share.dram", 0.8, 0.6}};
  directive.frontier = directive.step;
  append(directive);
  return directive.step;
}

Step SampleRun::candidate(Step parent, StepOutcome outcome, std::optional<double> microseconds,
                          const std::string& source, const std::string& title,
                          std::uint64_t tokens) {
  const Step step = open(parent);
  const std::string text = source.empty() ? fmt::format("kernel {}\n", step) : source;
  Candidate candidate;
  candidate.step = step;
  candidate.source = sha256_hex(text);
  candidate.parents = {parent};
  candidate.proposer = "playbook";
  candidate.title = title.empty() ? fmt::format("Kernel {}.", step) : title;
  candidate.genes = {fmt::format("gene_{}", step % 3)};
  candidate.cost.tokens = tokens;
  if (tokens > 0) {
    ModelCall call;
    call.step = step;
    call.id = "code.0";
    call.stage = "code";
    call.model = "vendor/model";
    call.usage = {tokens - tokens / 4, tokens / 10, tokens / 4, tokens / 20, false};
    call.finish = "stop";
    append(call);
  }
  append(candidate, {text});
  append(made_up_evaluation(step, step, outcome, microseconds), {profile_text()}, 2.0);
  return step;
}

Step SampleRun::tune(Step candidate, StepOutcome outcome, double microseconds) {
  Directive directive;
  directive.step = next_++;
  directive.mode = SearchMode::tune;
  directive.parent = candidate;
  directive.gate = "untuned";
  directive.reason = "worth it";
  append(directive);
  append(made_up_evaluation(directive.step, candidate, outcome, microseconds), {profile_text()});
  return directive.step;
}

void SampleRun::stop() {
  append(RunStopped{StopReason::plateau, "16 steps without a gain"});
}

} // namespace kernevo::report

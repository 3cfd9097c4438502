#include "kernevo/run/agent.h"

#include "kernevo/propose/read_reply.h"
#include "kernevo/run/proposers.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace kernevo::run {
namespace {

// Nothing for a run that has not begun.
Result<double> seconds_since_start(store::Journal& journal) {
  std::int64_t began = 0;
  KERNEVO_CHECK(journal.read(1, [&](const store::StoredEvent& event) {
    began = event.milliseconds;
    return false;
  }));
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  return began == 0 ? 0 : std::max(0.0, static_cast<double>(now - began) / 1e3);
}

evolve::OrchestratorOptions orchestration(const Interrupted& interrupted, double seconds_before) {
  evolve::OrchestratorOptions how;
  how.jobs = std::max(1U, std::thread::hardware_concurrency());
  how.seconds_before = seconds_before;
  how.interrupted = interrupted;
  how.audience = Audience::proposer;
  return how;
}

// The step that waits for the agent; null when none does.
const Directive* waiting(const evolve::RunState& state) {
  for (const auto& [step, directive] : state.pending)
    if (directive.proposer == "agent")
      return &directive;
  return nullptr;
}

Result<Question> question_of(OpenRun& run, const evolve::RunState& state,
                             const Directive& directive, const propose::PromptWriter& writer) {
  KERNEVO_TRY(request, run.panel().request(state, directive));
  Question question;
  question.directive = directive;
  question.text = writer.request_text(request);
  question.parent = std::move(request.parent);
  if (const auto found = state.pending_attempts.find(directive.step);
      found != state.pending_attempts.end())
    for (const Attempt& attempt : found->second)
      question.attempts.push_back(attempt.diagnosis);
  question.repairs_left = state.started.settings.llm.repairs - question.attempts.size();
  return question;
}

} // namespace

Result<Asked> ask(OpenRun& run, const Interrupted& interrupted) {
  const std::vector<std::string>& proposers = run.started().settings.proposers;
  if (!run.is_new() && std::find(proposers.begin(), proposers.end(), "agent") == proposers.end())
    return fail(ErrorCode::usage, "this run asks nobody outside", Place{run.folder().string()},
                "'kernevo ask TASK.yaml' begins one that does");
  Asked asked;
  KERNEVO_TRY(seconds, seconds_since_start(run.journal()));
  asked.seconds = seconds;
  const evolve::OrchestratorOptions how = orchestration(interrupted, seconds);
  KERNEVO_TRY(state, run.is_new() ? run.go_on(how)
                                  : evolve::go_on_until_asked(run.context(), run.journal(),
                                                              run.panel(), how));
  asked.state = std::move(state);
  KERNEVO_TRY(writer, make_writer(run.context(), asked.state.started.settings.llm));
  asked.guide = writer.guide();
  if (const Directive* directive = waiting(asked.state)) {
    KERNEVO_TRY(question, question_of(run, asked.state, *directive, writer));
    asked.question = std::move(question);
  }
  return asked;
}

Result<Told> tell(OpenRun& run, const Answer& answer, const Interrupted& interrupted) {
  const Directive* directive = waiting(run.state());
  if (!answer.step && directive == nullptr)
    return fail(ErrorCode::usage, "no step of this run waits for a kernel", std::nullopt,
                "'kernevo ask RUN' says what is wanted, or that the run is over");
  Told told;
  told.step = answer.step ? *answer.step : directive->step;
  propose::Proposal proposal;
  proposal.source = answer.source;
  proposal.title = answer.title;
  if (proposal.title.empty())
    if (const auto read = propose::read_kernel_reply(answer.source))
      proposal.title = read->title;
  KERNEVO_TRY(seconds, seconds_since_start(run.journal()));
  told.seconds = seconds;
  KERNEVO_TRY(result, evolve::tell_step(run.context(), run.journal(), run.panel(),
                                        orchestration(interrupted, seconds), told.step, proposal));
  told.result = std::move(result);
  return told;
}

} // namespace kernevo::run

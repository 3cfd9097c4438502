#include "kernevo/run/proposers.h"

#include "kernevo/base/suggest.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/propose/absent_proposer.h"
#include "kernevo/propose/command_proposer.h"
#include "kernevo/propose/llm_proposer.h"
#include "kernevo/propose/playbook.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo::run {
namespace {

constexpr std::string_view kCommand = "command:";

// One model is "llm"; of several each is an arm of its own for the bandit.
std::string name_of(const ModelSettings& model, const LlmSettings& settings) {
  return settings.models.size() == 1 ? "llm" : "llm:" + model.name;
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Result<void> add_models(const RunSettings& settings, const evolve::RunContext& context,
                        const std::filesystem::path& traces, ReadyProposers& ready) {
  KERNEVO_TRY(clients, llm::make_clients(settings.llm, traces.string()));
  KERNEVO_TRY(writer, make_writer(context, settings.llm));
  const auto shared = std::make_shared<const propose::PromptWriter>(std::move(writer));
  for (const auto& client : clients)
    ready.proposers.push_back(std::make_unique<propose::LlmProposer>(
        name_of(client->model(), settings.llm), client, shared, settings.llm));
  ready.clients = clients;
  return {};
}

Result<void> add_command(const RunSettings& settings, const evolve::RunContext& context,
                         Proposers& proposers) {
  KERNEVO_TRY(writer, make_writer(context, settings.llm));
  const auto shared = std::make_shared<const propose::PromptWriter>(std::move(writer));
  propose::CommandSettings command;
  command.command = settings.command;
  command.seconds = settings.command_seconds;
  command.repairs = settings.llm.repairs;
  command.request_text = [shared](const propose::ProposalRequest& request) -> Result<std::string> {
    return shared->guide() + "\n" + shared->request_text(request);
  };
  proposers.push_back(std::make_unique<propose::CommandProposer>(std::move(command)));
  return {};
}

Result<void> add_playbook(const evolve::RunContext& context, Proposers& proposers) {
  KERNEVO_TRY(playbook, propose::Playbook::create(context.task, context.gpu));
  proposers.push_back(std::move(playbook));
  return {};
}

std::unique_ptr<propose::Proposer> agent(const RunSettings& settings) {
  return std::make_unique<propose::AbsentProposer>(
      "agent", propose::AbsentProposer::Traits{1, settings.llm.repairs, true});
}

// The list was split at commas, of which a command may have some of its own.
std::vector<std::string> with_whole_commands(const std::vector<std::string>& parts) {
  std::vector<std::string> names;
  for (const std::string& part : parts) {
    const bool known =
        has({"playbook", "llm", "command", "agent"}, part) || part.starts_with(kCommand);
    if (!known && !names.empty() && names.back().starts_with(kCommand))
      names.back() += "," + part;
    else
      names.push_back(part);
  }
  return names;
}

Result<void> add(const std::string& name, const RunSettings& settings,
                 const evolve::RunContext& context, const std::filesystem::path& traces,
                 ReadyProposers& ready) {
  if (name == "playbook")
    return add_playbook(context, ready.proposers);
  if (name == "llm")
    return add_models(settings, context, traces, ready);
  if (name == "command")
    return add_command(settings, context, ready.proposers);
  ready.proposers.push_back(agent(settings));
  return {};
}

} // namespace

Result<void> settle_proposers(RunSettings& settings) {
  std::vector<std::string> names;
  for (const std::string& given : with_whole_commands(settings.proposers)) {
    std::string name = given;
    if (name.starts_with(kCommand)) {
      settings.command = name.substr(kCommand.size());
      name = "command";
      if (settings.command.find_first_not_of(' ') == std::string::npos)
        return fail(ErrorCode::usage, "command: names no program", std::nullopt,
                    "write --proposer 'command:my-agent --headless'");
    } else if (name == "command") {
      return fail(ErrorCode::usage, "--proposer command names no program", std::nullopt,
                  "write --proposer 'command:my-agent --headless'");
    }
    if (!has({"playbook", "llm", "command", "agent"}, name))
      return fail(ErrorCode::usage,
                  fmt::format("there is no proposer '{}'{}", name,
                              did_you_mean(name, {"playbook", "llm", "command", "agent"})),
                  std::nullopt, "use playbook, llm or command:CMD");
    if (has(names, name))
      return fail(ErrorCode::usage, fmt::format("proposer '{}' is named twice", name), std::nullopt,
                  "name each once");
    names.push_back(name);
  }
  settings.proposers = names;
  if (has(names, "llm") && settings.llm.models.empty())
    return fail(ErrorCode::usage, "which model is to be asked?", std::nullopt,
                "--model NAME, and --base-url URL for another endpoint than OpenRouter's");
  if (!has(names, "llm"))
    settings.llm.models.clear();
  return {};
}

Result<propose::PromptWriter> make_writer(const evolve::RunContext& context,
                                          const LlmSettings& settings) {
  return propose::PromptWriter::create(visible(context.task, Audience::proposer), context.gpu,
                                       context.least, settings.prompts);
}

Result<ReadyProposers> make_proposers(const RunSettings& settings,
                                      const evolve::RunContext& context,
                                      const std::filesystem::path& traces) {
  ReadyProposers ready;
  for (const std::string& name : settings.proposers)
    KERNEVO_CHECK(add(name, settings, context, traces, ready));
  return ready;
}

Result<Proposers> make_known_proposers(const RunSettings& settings,
                                       const evolve::RunContext& context) {
  Proposers proposers;
  for (const std::string& name : settings.proposers) {
    if (name == "playbook") {
      KERNEVO_CHECK(add_playbook(context, proposers));
    } else if (name == "llm") {
      for (const ModelSettings& model : settings.llm.models)
        proposers.push_back(std::make_unique<propose::AbsentProposer>(
            name_of(model, settings.llm), propose::AbsentProposer::Traits{model.weight, 0, false}));
    } else if (name == "command") {
      proposers.push_back(
          std::make_unique<propose::AbsentProposer>(name, propose::AbsentProposer::Traits{}));
    } else {
      proposers.push_back(agent(settings));
    }
  }
  return proposers;
}

Result<std::vector<ModelCall>> probe_models(const ChatClients& clients,
                                            const std::function<bool()>& interrupted) {
  std::vector<ModelCall> calls;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const llm::CallResult result = clients[i]->probe(interrupted);
    if (result.failure) {
      const bool input = result.failure->kind == llm::FailureKind::wrong_key ||
                         result.failure->kind == llm::FailureKind::wrong_model ||
                         result.failure->kind == llm::FailureKind::bad_request;
      return fail(input ? ErrorCode::input : ErrorCode::unavailable, result.failure->message,
                  std::nullopt, result.failure->fix);
    }
    if (result.usage.total() == 0)
      continue;
    ModelCall call;
    call.id = fmt::format("probe.{}", i);
    call.stage = "probe";
    call.model = clients[i]->model().name;
    call.usage = result.usage;
    call.dollars = result.dollars;
    call.seconds = result.seconds;
    call.tries = result.tries;
    call.finish = "stop";
    calls.push_back(std::move(call));
  }
  return calls;
}

} // namespace kernevo::run

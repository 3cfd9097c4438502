// The proposers a run names, made for running it or only for looking at it.
#pragma once

#include "kernevo/evolve/run_context.h"
#include "kernevo/llm/client.h"
#include "kernevo/model/run_event.h"
#include "kernevo/propose/prompt_writer.h"
#include "kernevo/propose/proposer.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace kernevo::run {

using Proposers = std::vector<std::unique_ptr<propose::Proposer>>;
using ChatClients = std::vector<std::shared_ptr<llm::ChatClient>>;

struct ReadyProposers {
  Proposers proposers;
  ChatClients clients; // of the models among them
};

// "playbook", "llm", "command:CMD" and "agent", each at most once; the command is taken out of its
// name.
Result<void> settle_proposers(RunSettings& settings);

// What every author of kernels is told of the task.
Result<propose::PromptWriter> make_writer(const evolve::RunContext& context,
                                          const LlmSettings& settings);

// To run: models are asked over the network or from a recording; calls are traced to the folder.
Result<ReadyProposers> make_proposers(const RunSettings& settings,
                                      const evolve::RunContext& context,
                                      const std::filesystem::path& traces);
// To look: nobody is asked anything.
Result<Proposers> make_known_proposers(const RunSettings& settings,
                                       const evolve::RunContext& context);

// Before the first round: does every endpoint answer, is every key right and every model there?
// What that cost is returned.
Result<std::vector<ModelCall>> probe_models(const ChatClients& clients,
                                            const std::function<bool()>& interrupted);

} // namespace kernevo::run

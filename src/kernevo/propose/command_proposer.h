// A proposer that is any program: a coding agent without a person, a script, a colleague's tool. It
// is run by the shell in a fresh folder that holds what is wanted, and leaves a kernel there.
#pragma once

#include "kernevo/propose/free_proposer.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace kernevo::propose {

struct CommandSettings {
  std::string command; // for /bin/sh -c
  // What is wanted, for people and models: the guide and the request.
  std::function<Result<std::string>(const ProposalRequest&)> request_text;
  double seconds = 1800; // it may take
  std::uint32_t repairs = 2;
  std::size_t output_limit = 4U << 20U; // bytes kept of what it prints
};

class CommandProposer : public FreeProposer {
public:
  explicit CommandProposer(CommandSettings settings) : settings_(std::move(settings)) {}

  std::string_view name() const override { return "command"; }
  Result<std::optional<Proposal>> propose(const ProposalRequest& request) override;
  std::uint32_t repairs() const override { return settings_.repairs; }
  Result<std::optional<Proposal>> repair(const ProposalRequest& request,
                                         const FailedAttempt& failed) override;

private:
  struct Answer; // what a command left
  Result<std::optional<Proposal>> ask(const ProposalRequest& request, const FailedAttempt* failed);
  Result<Answer> ask_anew(const ProposalRequest& request, const FailedAttempt* failed,
                          const std::string& id);
  static Proposal read(const ProposalRequest& request, const FailedAttempt* failed,
                       const Answer& answer);
  Result<Answer> run(const ProposalRequest& request, const FailedAttempt* failed,
                     const std::string& text);

  CommandSettings settings_;
  std::atomic<int> not_started_ = 0; // commands in a row that could not be started
};

} // namespace kernevo::propose

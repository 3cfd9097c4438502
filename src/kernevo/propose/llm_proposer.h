// A language model as a proposer: plan, code, repair, recombine, and what is to be learnt. What to
// try and whether it is right is decided elsewhere; here a model is asked and its replies are read.
#pragma once

#include "kernevo/llm/client.h"
#include "kernevo/propose/free_proposer.h"
#include "kernevo/propose/prompt_writer.h"
#include "kernevo/propose/read_reply.h"

#include <atomic>
#include <memory>

namespace kernevo::propose {

class LlmProposer : public FreeProposer {
public:
  LlmProposer(std::string name, std::shared_ptr<llm::ChatClient> client,
              std::shared_ptr<const PromptWriter> writer, LlmSettings settings)
      : name_(std::move(name)), client_(std::move(client)), writer_(std::move(writer)),
        settings_(std::move(settings)) {}

  std::string_view name() const override { return name_; }
  double weight() const override { return client_->model().weight; }
  Result<std::optional<Proposal>> propose(const ProposalRequest& request) override;
  std::uint32_t repairs() const override { return settings_.repairs; }
  Result<std::optional<Proposal>> repair(const ProposalRequest& request,
                                         const FailedAttempt& failed) override;
  Result<std::vector<std::string>> reflect(const ProposalRequest& request, const Proposal& proposal,
                                           const Evaluation& evaluation) override;

private:
  // A reply, or why the model gave none that can be read.
  struct Answer {
    std::string text;
    std::string complaint; // of a call that brought nothing; the model's own fault
    bool cut = false;      // the reply ran into its limit
  };
  Result<Answer> ask(const ProposalRequest& request, const std::string& stage,
                     std::uint32_t ordinal, const llm::Messages& messages);
  Result<Answer> ask_anew(const ProposalRequest& request, const std::string& stage,
                          const std::string& call, const std::string& key,
                          const llm::Messages& messages);
  Result<Answer> try_once(const ProposalRequest& request, const std::string& stage,
                          const std::string& call, const std::string& key, std::uint32_t tries,
                          const llm::Messages& messages, bool& cut);
  Proposal read(const ProposalRequest& request, const Answer& answer, const std::string& base);
  bool wants_edits(const std::string& base) const;

  std::string name_;
  std::shared_ptr<llm::ChatClient> client_;
  std::shared_ptr<const PromptWriter> writer_;
  LlmSettings settings_;
  std::atomic<int> edits_that_failed_ = 0;
};

} // namespace kernevo::propose

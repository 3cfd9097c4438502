// What is said to a model. Every prompt of a run begins with the same bytes, the rules and the
// task, whatever the stage, since endpoints cache what prompts have in common; what changes comes
// last. Hidden shapes, the oracle and seeds never appear.
#pragma once

#include "kernevo/llm/chat.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/task.h"
#include "kernevo/propose/prompt_files.h"
#include "kernevo/propose/proposer.h"
#include "kernevo/propose/request_text.h"

#include <optional>
#include <string>
#include <vector>

namespace kernevo::propose {

struct PromptSize {
  std::string part; // "system", "task", "request", "plan", ...
  std::size_t bytes = 0;
  std::uint64_t tokens = 0; // estimated, rather too many
};

class PromptWriter {
public:
  // `overrides`: a folder of prompts to use instead of ours; may be empty.
  static Result<PromptWriter> create(const Task& task, const Gpu& gpu,
                                     std::optional<Nanoseconds> roofline,
                                     const std::string& overrides);

  // Asks for a short plan, no code.
  Result<llm::Messages> plan(const ProposalRequest& request) const;
  // `plan` may be empty. `edits`: by SEARCH/REPLACE blocks against the parent.
  Result<llm::Messages> code(const ProposalRequest& request, const std::string& plan,
                             bool edits) const;
  Result<llm::Messages> recombine(const ProposalRequest& request, const std::string& plan) const;
  // `edits`: against the faulty source, or the parent where there is none.
  Result<llm::Messages> repair(const ProposalRequest& request, const FailedAttempt& failed,
                               bool edits) const;
  // Lessons of a candidate that is right, and of what its change did.
  Result<llm::Messages> insights(const ProposalRequest& request, const Proposal& proposal,
                                 const Evaluation& evaluation) const;
  Result<llm::Messages> lineage(const ProposalRequest& request, const Proposal& proposal,
                                const Evaluation& evaluation) const;

  // The rules and the task: for people and agents.
  std::string guide() const { return system_ + "\n" + task_; }
  // What is asked for now, without rules and task.
  std::string request_text(const ProposalRequest& request) const;
  // Of the fixed parts and, for this request, of the volatile one and of each stage's instruction.
  std::vector<PromptSize> sizes(const ProposalRequest& request) const;

private:
  PromptWriter() = default;
  llm::Messages messages(const std::string& last) const;
  Result<std::string> code_text(const std::string& plan, bool edits) const;

  PromptFiles files_;
  DirectionTexts directions_;
  std::string system_;
  std::string task_;
  std::string edit_; // how edits are written
};

} // namespace kernevo::propose

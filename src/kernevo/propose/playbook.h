// The proposer without a model: recipes for operations of the catalogue and rewrites of any kernel.
#pragma once

#include "kernevo/propose/proposer.h"
#include "kernevo/propose/recipe.h"

#include <map>
#include <memory>

namespace kernevo::propose {

// One kernel the playbook could propose.
struct Move {
  std::string name; // of the recipe or the rewrite
  std::string title;
  std::vector<std::string> answers;
  std::string source;
  std::string hash; // of the source
  std::vector<std::string> genes;
  bool recipe = false; // a new structure, not a change of the parent
};

class Playbook : public Proposer {
public:
  // Loads the recipes that serve the task.
  static Result<std::unique_ptr<Playbook>> create(const Task& task, const Gpu& gpu);

  std::string_view name() const override { return "playbook"; }
  bool immediate() const override { return true; }
  Result<std::vector<Offer>> offers(const Parent& parent,
                                    const std::function<bool(const std::string&)>& seen,
                                    const std::set<std::string>& avoid) override;
  Result<bool> can_recombine(const Parent& parent, const Parent& mate,
                             const std::function<bool(const std::string&)>& seen) override;
  Result<std::optional<Proposal>> propose(const ProposalRequest& request) override;

  // Everything it could do from this parent: recipes, then rewrites.
  Result<const std::vector<Move>*> moves(const Parent& parent);

private:
  explicit Playbook(Task task) : task_(std::move(task)) {}
  Result<std::vector<Move>> rewrites_of(const Parent& parent) const;
  Result<std::optional<Proposal>> recombine(const Parent& parent, const Parent& mate) const;
  bool fast_math_allowed() const;

  Task task_;
  std::vector<Move> recipes_;
  std::map<std::string, std::vector<Move>> known_; // by the parent's source and parameters
};

} // namespace kernevo::propose

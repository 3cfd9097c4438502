#include "kernevo/propose/playbook.h"

#include "kernevo/base/hash.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/kernel/set_defaults.h"
#include "kernevo/rewrite/rewrite.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo::propose {
namespace {

constexpr double kLooseTolerance = 1e-4; // a task that asks for no more can do with fast math
constexpr std::size_t kRemembered = 64;  // parents; more are worked out anew

bool contains(const std::vector<std::string>& list, const std::string& entry) {
  return std::find(list.begin(), list.end(), entry) != list.end();
}

// The parent with its best parameters as defaults: what is changed next starts from there.
Result<KernelFile> tuned(const Parent& parent) {
  const std::string file = fmt::format("step-{}.cu", parent.candidate.step);
  KERNEVO_TRY(kernel, parse_kernel_file(parent.source, file));
  if (kernel.parameters.empty() || parent.parameters.empty())
    return std::move(kernel);
  KERNEVO_TRY(text, set_defaults(kernel, parent.parameters));
  return parse_kernel_file(text, file);
}

Move make_move(std::string_view name, std::string title, std::vector<std::string> answers,
               std::string source, std::vector<std::string> genes) {
  std::string hash = sha256_hex(source);
  return {std::string(name),
          std::move(title),
          std::move(answers),
          std::move(source),
          std::move(hash),
          std::move(genes),
          false};
}

} // namespace

Result<std::unique_ptr<Playbook>> Playbook::create(const Task& task, const Gpu& gpu) {
  std::unique_ptr<Playbook> playbook(new Playbook(visible(task, Audience::proposer)));
  KERNEVO_TRY(recipes, load_recipes());
  for (const Recipe& recipe : recipes) {
    KERNEVO_TRY(reason, unfit(recipe, task, gpu));
    if (reason)
      continue;
    KERNEVO_TRY(source, expand_recipe(recipe, task));
    playbook->recipes_.push_back(
        make_move(recipe.name, recipe.title, recipe.answers, source, {recipe.name}));
    playbook->recipes_.back().recipe = true;
  }
  return playbook;
}

bool Playbook::fast_math_allowed() const {
  return (is_floating(task_.dtype) && size_of(task_.dtype) == 2) ||
         task_.tolerance.value_or(0) >= kLooseTolerance;
}

Result<std::vector<Move>> Playbook::rewrites_of(const Parent& parent) const {
  KERNEVO_TRY(kernel, tuned(parent));
  const rewrite::RewriteContext context{&task_, fast_math_allowed()};
  std::vector<Move> moves;
  for (const rewrite::Rewrite& rewrite : rewrite::rewrites()) {
    KERNEVO_TRY(result, rewrite::apply(rewrite, kernel, context));
    if (!result.rewritten)
      continue;
    std::vector<std::string> genes = parent.candidate.genes;
    genes.emplace_back(rewrite.name);
    moves.push_back(make_move(rewrite.name,
                              fmt::format("{}: {}", rewrite.title, result.rewritten->note),
                              {rewrite.answers.begin(), rewrite.answers.end()},
                              std::move(result.rewritten->source), std::move(genes)));
  }
  return moves;
}

Result<const std::vector<Move>*> Playbook::moves(const Parent& parent) {
  std::string key = parent.candidate.source;
  for (const auto& [name, value] : parent.parameters)
    key += fmt::format(" {}={}", name, value);
  auto found = known_.find(key);
  if (found == known_.end()) {
    if (known_.size() >= kRemembered)
      known_.clear();
    std::vector<Move> all = recipes_;
    KERNEVO_TRY(changes, rewrites_of(parent));
    all.insert(all.end(), changes.begin(), changes.end());
    found = known_.emplace(key, std::move(all)).first;
  }
  return &found->second;
}

Result<std::vector<Offer>> Playbook::offers(const Parent& parent,
                                            const std::function<bool(const std::string&)>& seen,
                                            const std::set<std::string>& avoid) {
  KERNEVO_TRY(all, moves(parent));
  std::map<std::string, std::size_t> counts;
  for (const Move& move : *all)
    if (!avoid.contains(move.name) && !seen(move.hash))
      for (const std::string& direction : move.answers)
        ++counts[direction];
  std::vector<Offer> offers;
  for (const auto& [direction, count] : counts)
    offers.push_back({direction, count});
  return offers;
}

// The rewrites of one applied to the other, in their order.
Result<std::optional<Proposal>> Playbook::recombine(const Parent& parent,
                                                    const Parent& mate) const {
  KERNEVO_TRY(kernel, tuned(parent));
  const rewrite::RewriteContext context{&task_, fast_math_allowed()};
  Proposal proposal;
  proposal.genes = parent.candidate.genes;
  std::string added;
  for (const std::string& gene : mate.candidate.genes) {
    if (contains(proposal.genes, gene))
      continue;
    for (const rewrite::Rewrite& rewrite : rewrite::rewrites()) {
      if (rewrite.name != gene)
        continue;
      KERNEVO_TRY(result, rewrite::apply(rewrite, kernel, context));
      if (!result.rewritten)
        continue;
      KERNEVO_TRY(changed, parse_kernel_file(result.rewritten->source, kernel.path));
      kernel = std::move(changed);
      proposal.genes.push_back(gene);
      added += fmt::format("{}{}", added.empty() ? "" : ", ", gene);
    }
  }
  if (added.empty())
    return std::optional<Proposal>();
  proposal.source = kernel.source;
  proposal.title = fmt::format("Step {} with what step {} has: {}.", parent.candidate.step,
                               mate.candidate.step, added);
  return std::optional(std::move(proposal));
}

Result<bool> Playbook::can_recombine(const Parent& parent, const Parent& mate,
                                     const std::function<bool(const std::string&)>& seen) {
  KERNEVO_TRY(proposal, recombine(parent, mate));
  return proposal && !seen(sha256_hex(proposal->source));
}

Result<std::optional<Proposal>> Playbook::propose(const ProposalRequest& request) {
  if (request.directive.mode == SearchMode::recombine) {
    if (!request.mate)
      return std::optional<Proposal>();
    KERNEVO_TRY(joined, recombine(request.parent, *request.mate));
    if (joined && request.seen(sha256_hex(joined->source)))
      joined.reset();
    return joined;
  }
  KERNEVO_TRY(all, moves(request.parent));
  // The better a move answers the direction, the earlier; a new structure before a change of the
  // old one; equals in an order of the seed's choice.
  struct Choice {
    std::size_t rank = 0;
    bool change = false;
    std::string lot;
    const Move* move = nullptr;
  };
  std::optional<Choice> best;
  for (const Move& move : *all) {
    const auto answer =
        std::find(move.answers.begin(), move.answers.end(), request.directive.direction);
    if (answer == move.answers.end() || request.avoid.contains(move.name) ||
        request.seen(move.hash))
      continue;
    const Choice choice{static_cast<std::size_t>(answer - move.answers.begin()), !move.recipe,
                        sha256_hex(fmt::format("{} {}", request.seed, move.name)), &move};
    if (!best || std::tie(choice.rank, choice.change, choice.lot) <
                     std::tie(best->rank, best->change, best->lot))
      best = choice;
  }
  if (!best)
    return std::optional<Proposal>();
  return std::optional(Proposal{best->move->source, best->move->title, best->move->genes, {}});
}

} // namespace kernevo::propose

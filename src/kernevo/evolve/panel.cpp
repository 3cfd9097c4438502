#include "kernevo/evolve/panel.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo::evolve {
namespace {

constexpr std::size_t kSourcesKept = 256;
constexpr std::size_t kSeenKept = 50'000;

} // namespace

propose::Proposer* Panel::find(std::string_view name) {
  for (const auto& proposer : proposers_)
    if (proposer->name() == name)
      return proposer.get();
  return nullptr;
}

bool Panel::all_immediate() const {
  return std::all_of(proposers_.begin(), proposers_.end(),
                     [](const auto& proposer) { return proposer->immediate(); });
}

Result<propose::Parent> Panel::parent_of(const Member& member) {
  const std::string& hash = member.candidate.source;
  auto found = sources_.find(hash);
  if (found == sources_.end()) {
    if (sources_.size() >= kSourcesKept)
      sources_.clear();
    KERNEVO_TRY(source, journal_.blob(hash));
    found = sources_.emplace(hash, source).first;
  }
  return propose::Parent{member.candidate, found->second,   member.parameters,
                         member.objective, member.roofline, member.findings};
}

std::function<bool(const std::string&)> Panel::seen_before(Step step) {
  return [this, step](const std::string& hash) { return was_seen(hash, step); };
}

// A parent whose ideas are used up is asked about all of them at every decision.
bool Panel::was_seen(const std::string& hash, Step before) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = first_seen_.find(hash); known != first_seen_.end())
      return known->second < before;
  }
  const auto found = journal_.find_source(hash, before);
  // A store that cannot be read will say so itself at the next event.
  if (!found || !found->has_value())
    return false;
  const std::lock_guard lock(mutex_);
  if (first_seen_.size() >= kSeenKept)
    first_seen_.clear();
  first_seen_.emplace(hash, **found);
  return true;
}

NavigatorView Panel::view(const RunState& state) {
  NavigatorView view;
  view.open_arms = [this, &state](const Member& member) -> Result<std::vector<OpenArm>> {
    KERNEVO_TRY(parent, parent_of(member));
    const auto avoid = avoid_patterns(state.genes);
    std::vector<OpenArm> arms;
    for (const auto& proposer : proposers_) {
      KERNEVO_TRY(offers, proposer->offers(parent, seen_before(state.next_step), avoid));
      for (const propose::Offer& offer : offers)
        if (offer.moves.value_or(1) > 0)
          arms.push_back(
              {std::string(proposer->name()), offer.direction, offer.moves, proposer->weight()});
    }
    return arms;
  };
  view.recombiner = [this, &state](const Member& a, const Member& b) -> Result<std::string> {
    KERNEVO_TRY(parent, parent_of(a));
    KERNEVO_TRY(mate, parent_of(b));
    for (const auto& proposer : proposers_) {
      KERNEVO_TRY(can, proposer->can_recombine(parent, mate, seen_before(state.next_step)));
      if (can)
        return std::string(proposer->name());
    }
    return std::string();
  };
  return view;
}

Result<propose::ProposalRequest> Panel::request(const RunState& state, const Directive& directive) {
  propose::ProposalRequest request;
  request.directive = directive;
  request.seed = state.started.settings.seed + state.epoch;
  // One that is asked by a thread knows what was told when it was decided, whenever it asks.
  const propose::Proposer* proposer = find(directive.proposer);
  request.seen = seen_before(proposer == nullptr || proposer->immediate() ? directive.step
                                                                          : directive.frontier);
  request.avoid = avoid_patterns(state.genes);
  request.baseline = state.baseline;
  if (const Member* best = state.best())
    request.best = best->objective;
  request.history = state.recent;
  request.lessons = state.lessons;
  const Member* parent = state.find(directive.parent.value_or(0));
  if (parent == nullptr)
    return fail(ErrorCode::input, fmt::format("step {} has no parent any more", directive.step));
  KERNEVO_TRY(first, parent_of(*parent));
  request.parent = std::move(first);
  if (directive.mate) {
    const Member* mate = state.find(*directive.mate);
    if (mate == nullptr)
      return fail(ErrorCode::input, fmt::format("step {} has no mate any more", directive.step));
    KERNEVO_TRY(second, parent_of(*mate));
    request.mate = std::move(second);
  }
  return request;
}

} // namespace kernevo::evolve

#include "synthetic_run.h"

#include "kernevo/base/hash.h"
#include "kernevo/base/random.h"

#include <array>
#include <fmt/format.h>

namespace kernevo {
namespace {

using evolve::RunState;

constexpr int kDirections = 12;
constexpr int kMoves = 3; // of each, from a parent
constexpr std::int64_t kSnapshotEvery = 1000;
constexpr std::size_t kSourceBytes = 500;

std::string direction_name(int index) {
  return fmt::format("direction_{}", index);
}

class Inventor : public propose::Proposer {
public:
  std::string_view name() const override { return "synthetic"; }
  bool immediate() const override { return true; }

  Result<std::vector<propose::Offer>> offers(const propose::Parent& parent,
                                             const std::function<bool(const std::string&)>& seen,
                                             const std::set<std::string>&) override {
    std::vector<propose::Offer> offers;
    for (int d = 0; d < kDirections; ++d) {
      std::size_t left = 0;
      for (int k = 0; k < kMoves; ++k)
        left += seen(sha256_hex(source(parent, direction_name(d), k))) ? 0 : 1;
      if (left > 0)
        offers.push_back({direction_name(d), left});
    }
    return offers;
  }
  Result<bool> can_recombine(const propose::Parent&, const propose::Parent&,
                             const std::function<bool(const std::string&)>&) override {
    return false;
  }
  Result<std::optional<propose::Proposal>>
  propose(const propose::ProposalRequest& request) override {
    const std::string& direction = request.directive.direction;
    std::vector<std::string> genes = request.parent.candidate.genes;
    if (genes.size() > 6)
      genes.clear();
    genes.push_back(direction);
    return std::optional(propose::Proposal{
        source(request.parent, direction, kMoves + static_cast<int>(request.directive.step)),
        "Follows " + direction + ".",
        std::move(genes),
        {}});
  }

private:
  // It looks at a few ideas and has another in the end.
  static std::string source(const propose::Parent& parent, const std::string& direction, int k) {
    std::string text = fmt::format("// {} {} {}\n", parent.candidate.source, direction, k);
    text.resize(kSourceBytes, '.');
    return text;
  }
};

std::vector<std::unique_ptr<propose::Proposer>> inventors() {
  std::vector<std::unique_ptr<propose::Proposer>> list;
  list.push_back(std::make_unique<Inventor>());
  return list;
}

BottleneckFinding made_up_finding(BottleneckTag tag, double severity, int direction) {
  BottleneckFinding f;
  f.tag = tag;
  f.severity = severity;
  f.message = "Of 100 bytes that DRAM moves 40 are used; the rest of each sector is lost.";
  f.reason = "Memory moves whole sectors.";
  f.evidence = {{"share.dram", severity, "fraction", 0.5}, {"waves", 3.5, "wave", std::nullopt}};
  for (int i = 0; i < 3; ++i)
    f.directions.push_back({direction_name((direction + i) % kDirections), "Try this."});
  return f;
}

} // namespace

SyntheticRun::SyntheticRun(store::Journal& journal, std::uint64_t seed)
    : journal_(journal), panel_(inventors(), journal), seed_(seed) {}

Result<void> SyntheticRun::record(const RunEvent& event, const store::Blobs& blobs) {
  KERNEVO_CHECK(journal_.append(event, blobs, 0.25));
  state_.apply(event);
  if (journal_.events() % kSnapshotEvery == 0)
    return journal_.put_snapshot({journal_.events(), to_json(state_)});
  return {};
}

Result<void> SyntheticRun::begin() {
  const std::string task = "op_name: add\n";
  RunStarted started;
  started.run = "synthetic";
  started.task_file = "task.yaml";
  started.task = sha256_hex(task);
  started.gpu = "A100";
  started.settings.proposers = {"synthetic"};
  started.settings.seed = seed_;
  started.settings.plateau = 0;
  started.settings.restart_after = 0;
  started.settings.islands = 3;
  KERNEVO_CHECK(record(started, {task}));
  KERNEVO_CHECK(record(Directive{}));
  Candidate reference;
  reference.source = sha256_hex("reference");
  KERNEVO_CHECK(record(reference, {"reference"}));
  return record(evaluate(Directive{}), {"{}"});
}

Evaluation SyntheticRun::evaluate(const Directive& directive) {
  const CounterRandom random(CounterRandom(seed_).bits(directive.step));
  Evaluation e;
  e.step = e.candidate = directive.step;
  if (directive.mode == SearchMode::tune)
    e.candidate = *directive.parent;
  const bool first = !state_.baseline;
  const bool right = first || random.uniform(0) < 0.7;
  e.outcome = right ? StepOutcome::improved : StepOutcome::wrong;
  e.instances_timed = 1;
  e.identity = directive.mode == SearchMode::tune ? "" : fmt::format("identity {}", directive.step);
  if (!right) {
    e.summary = "C[0] is 1, expected 2 within 1e-07 (case 1024, nominal inputs)";
    return e;
  }
  const double best = first ? 1e6 : state_.best()->objective.value;
  const double ns = best * (first ? 1 : 0.9999 + 0.5 * random.uniform(1));
  e.objective = Nanoseconds{ns};
  e.shapes = {{"1024", Nanoseconds{ns}, Nanoseconds{0.8 * ns}, Nanoseconds{1.2 * ns}},
              {"4096", Nanoseconds{ns}, Nanoseconds{0.8 * ns}, Nanoseconds{1.2 * ns}}};
  e.parameters = {{"THREADS", 128}, {"TILE", 32}};
  static constexpr std::array kMemory = {"global", "shared", "async"};
  KernelFacts facts;
  facts.launches = 1;
  facts.memory = kMemory.at(random.bits(2) % 3);
  facts.vector_bytes = static_cast<int>(4U << (random.bits(3) % 3));
  facts.registers = static_cast<int>(16 + random.bits(4) % 240);
  facts.limiter = "registers";
  e.facts = facts;
  const auto tag = static_cast<BottleneckTag>(random.bits(5) % (kBottleneckTags - 1));
  e.bottlenecks = {made_up_finding(tag, random.uniform(6), static_cast<int>(random.bits(7) % 12)),
                   made_up_finding(BottleneckTag::latency_bound, 0.1, 3)};
  e.profile = sha256_hex("{}");
  e.tunable = random.uniform(8) < 0.1;
  e.exhausted = true;
  if (first)
    e.outcome = StepOutcome::baseline;
  return e;
}

Result<void> SyntheticRun::step() {
  KERNEVO_TRY(decision, evolve::decide(state_, panel_.view(state_)));
  if (const auto* migrated = std::get_if<Migrated>(&decision))
    return record(*migrated);
  const auto* directive = std::get_if<Directive>(&decision);
  if (directive == nullptr)
    return fail(ErrorCode::infrastructure, "the made-up run has come to an end");
  KERNEVO_CHECK(record(*directive));
  propose::Proposer* proposer = panel_.find(directive->proposer);
  if (proposer != nullptr) {
    KERNEVO_TRY(request, panel_.request(state_, *directive));
    KERNEVO_TRY(proposal, proposer->propose(request));
    if (proposal) {
      Candidate candidate;
      candidate.step = directive->step;
      candidate.source = sha256_hex(proposal->source);
      candidate.parents = {*directive->parent};
      candidate.proposer = directive->proposer;
      candidate.title = proposal->title;
      candidate.genes = proposal->genes;
      KERNEVO_CHECK(record(candidate, {proposal->source}));
    }
  }
  Evaluation evaluation = evaluate(*directive);
  KERNEVO_TRY(twin, journal_.find_identity(evaluation.identity, directive->step));
  evaluation = evolve::settle(state_, std::move(evaluation),
                              evaluation.identity.empty() ? std::nullopt : twin);
  return record(evaluation, evaluation.profile.empty() ? store::Blobs{} : store::Blobs{"{}"});
}

} // namespace kernevo

#include "kernevo/cuda/core/pricing.h"

#include "kernevo/base/files.h"
#include "kernevo/base/printable.h"
#include "kernevo/cuda/core/counted_range.h"
#include "kernevo/cuda/core/operator_cost.h"
#include "kernevo/cuda/core/recording.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/core/transfer_cost.h"
#include "kernevo/hardware/architecture_table.h"
#include "kernevo/predict/choose_blocks.h"
#include "kernevo/predict/choose_by_tally.h"
#include "kernevo/predict/l1_share.h"
#include "kernevo/ptx/facts.h"
#include "kernevo/vgpu/program/lower.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <set>
#include <unistd.h>
#include <utility>

namespace kernevo::cuda {
namespace {

constexpr std::uint64_t kCountedBlocks = 16;
constexpr std::uint64_t kSeed = 1; // of the choice of blocks, where nobody names another
// Where the rest does not run, so many blocks beside the counted ones say what all of them do, or
// as many as make so many warp instructions.
constexpr std::uint64_t kSampledBlocks = 240;
constexpr std::uint64_t kMostSampled = 50'000'000;
// Counting costs some hundred times what running does: so many warp instructions of a launch, and
// of all launches of a shape.
constexpr std::uint64_t kMostCounted = 1'000'000;
constexpr std::uint64_t kMostCountedOfShape = 10'000'000;
constexpr std::size_t kMostVariants = 16;
// What all blocks do is kept for so many.
constexpr std::uint64_t kMostTallied = 8'000'000;
// Launches that differ by less did the same.
constexpr double kAlike = 0.01;
constexpr double kAlikeAtLeast = 64;
// A sample farther off is chosen anew when the launch is repeated.
constexpr double kPoorSample = 0.05;
constexpr double kGoodSample = 0.01;
constexpr auto kReportEvery = std::chrono::seconds(1);
constexpr std::size_t kMostTexts = 100; // findings and problems of a report

class KnownQuote final : public Quote {
public:
  explicit KnownQuote(Cost cost) : cost_(cost) {}
  std::optional<Cost> look() const override { return cost_; }
  Cost wait() const override { return cost_; }

private:
  Cost cost_;
};

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

bool wants_modelled_time() {
  const std::string asked = setting("KERNEVO_TIME", "modelled");
  if (asked != "modelled" && asked != "wall") {
    fmt::print(stderr, "kernevo: KERNEVO_TIME is '{}'; it must be modelled or wall\n",
               printable(asked));
    std::_Exit(2);
  }
  return asked == "modelled";
}

std::string report_file() {
  const std::string folder = setting("KERNEVO_RUN_REPORT", "");
  return folder.empty() ? "" : fmt::format("{}/{}.json", folder, getpid());
}

// Who wrote a program must not know which blocks are looked at.
std::uint64_t seed_of_choice() {
  const std::string named = setting("KERNEVO_BLOCK_SEED", "");
  return named.empty() ? kSeed : std::strtoull(named.c_str(), nullptr, 10);
}

std::uint64_t blocks_of(const vgpu::LaunchConfig& config) {
  return std::uint64_t{config.grid[0]} * config.grid[1] * config.grid[2];
}

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (texts.size() < kMostTexts && std::find(texts.begin(), texts.end(), text) == texts.end())
    texts.push_back(text);
}

// Weighs the counted blocks so that their instructions are those of all, and notes how far off the
// rest is.
void hold_against_all(LaunchCounts& counts, std::uint64_t blocks, std::uint64_t instructions,
                      const std::vector<BlockTally>& tallies) {
  double counted = 0;
  for (const BlockCounts& block : counts.blocks)
    counted += block.weight * static_cast<double>(block.warp_instructions);
  if (counted <= 0 || instructions == 0)
    return;
  // The sums are divided by how many blocks they are worth.
  const double worth = counted * static_cast<double>(blocks) / static_cast<double>(instructions);
  const double factor = worth / counts.represented();
  WeightedBlocks chosen;
  double sum = 0;
  for (BlockCounts& block : counts.blocks) {
    if (!tallies.empty()) {
      chosen.blocks.push_back(block.block);
      chosen.weights.push_back(block.weight);
      sum += block.weight * static_cast<double>(tallies[block.block].warp_instructions);
    }
    block.weight *= factor;
  }
  if (sum <= 0)
    return;
  for (double& weight : chosen.weights)
    weight *= static_cast<double>(instructions) / sum;
  counts.sampling_error = sampling_error(tallies, chosen);
}

} // namespace

WorkRatio Pricing::ratio_of(const Totals& launch, const Totals& counted) {
  const auto quotient = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(std::max<std::uint64_t>(a, 1)) /
           static_cast<double>(std::max<std::uint64_t>(b, 1));
  };
  const double instructions = quotient(launch.instructions[0], counted.instructions[0]);
  if (!launch.memory || !counted.memory)
    return {instructions, instructions};
  return {instructions, quotient((*launch.memory)[0] + (*launch.memory)[1],
                                 (*counted.memory)[0] + (*counted.memory)[1])};
}

bool Pricing::Totals::like(const Totals& other) const {
  const auto alike = [](const auto& ours, const auto& theirs) {
    return std::equal(ours.begin(), ours.end(), theirs.begin(),
                      [](std::uint64_t x, std::uint64_t y) {
                        const auto a = static_cast<double>(x);
                        const auto b = static_cast<double>(y);
                        return std::abs(a - b) <= std::max(kAlikeAtLeast, kAlike * std::max(a, b));
                      });
  };
  return alike(instructions, other.instructions) &&
         (!memory || !other.memory || alike(*memory, *other.memory));
}

Pricing::Pricing(const Gpu& gpu)
    : gpu_(gpu), required_(setting("KERNEVO_TIME", "") == "modelled"),
      modelled_(wants_modelled_time()), owner_(getpid()), seed_(seed_of_choice()),
      clock_([this](Transfer transfer, std::uint64_t bytes) {
        return price_transfer(transfer, bytes);
      }),
      process_(gpu.name), report_(report_file()) {
  auto architecture = find_architecture(gpu.compute_capability);
  if (architecture)
    architecture_ = std::move(*architecture);
  else if (modelled_)
    give_up(architecture.error()); // a library and a share/ of two versions
  if (report_.empty())
    return;
  want();
  write_report(false);
}

Pricing::~Pricing() = default;

void Pricing::give_up(const Error& why) {
  fmt::print(stderr, "kernevo: times cannot be modelled, {}: {}\n",
             required_ ? "and KERNEVO_TIME wants no others" : "events carry the wall clock",
             printable(format_error(why)));
  modelled_ = false;
  wanted_ = false;
}

bool Pricing::modelled() {
  const std::lock_guard lock(mutex_);
  if (!modelled_ || decided_)
    return modelled_;
  decided_ = true;
  if (const auto started = process_.start(); !started)
    give_up(started.error());
  told_ = modelled_;
  return modelled_;
}

bool Pricing::choose(const vgpu::Machine& machine, const vgpu::Program& program, const Shape& shape,
                     vgpu::LaunchConfig& config, std::uint64_t& l1_bytes) const {
  const auto kernel = vgpu::find_kernel(program, config.kernel);
  if (!kernel)
    return false;
  const auto share = l1_share_of_launch(
      machine.gpu(), std::uint64_t{config.block[0]} * config.block[1] * config.block[2],
      Bytes{kernel->static_shared + config.dynamic_shared});
  if (!share || blocks_of(config) == 0)
    return false; // the machine says why
  l1_bytes = share->value;
  WeightedBlocks chosen;
  if (shape.tallies.size() == blocks_of(config)) {
    chosen = choose_by_tally(config.grid, shape.tallies, kCountedBlocks, seed_, kGoodSample);
  } else {
    chosen.blocks = choose_blocks(config.grid, kCountedBlocks, seed_);
    chosen.weights.assign(chosen.blocks.size(), 1);
  }
  for (std::size_t i = 0; i < chosen.blocks.size(); ++i)
    config.counted.push_back({chosen.blocks[i], chosen.weights[i]});
  config.most_counted = kMostCounted;
  return true;
}

std::shared_ptr<PricedLaunch> Pricing::make_priced(const vgpu::Program& program,
                                                   const vgpu::LaunchConfig& config,
                                                   const Texts& texts, vgpu::LaunchResult& result,
                                                   const std::vector<BlockTally>& tallies,
                                                   std::uint64_t instructions) {
  if (result.statistics.device_launches > 0)
    return std::make_shared<PricedLaunch>(process_,
                                          "it launches kernels of its own, which have no price");
  if (!tallies.empty()) {
    instructions = 0;
    for (const BlockTally& tally : tallies)
      instructions += tally.warp_instructions;
  }
  hold_against_all(*result.counts, blocks_of(config), instructions, tallies);
  return std::make_shared<PricedLaunch>(
      process_, PricedLaunch::Launch{program.id, texts, config.kernel, std::move(*result.counts)});
}

std::shared_ptr<const Quote> Pricing::quote(Shape& shape, const Totals& totals,
                                            std::shared_ptr<PricedLaunch> counted) {
  auto known = std::find_if(shape.variants.begin(), shape.variants.end(),
                            [&](const Variant& v) { return v.totals.like(totals); });
  if (counted != nullptr) {
    if (known == shape.variants.end())
      known = shape.variants.insert(known, {totals, counted});
    else if (counted->sampling_error() < known->launch->sampling_error())
      known->launch = counted;
  }
  WorkRatio ratio;
  if (known == shape.variants.end()) {
    // Priced by what comes nearest, and counted the next time.
    shape.recount = shape.variants.size() < kMostVariants && shape.counted < kMostCountedOfShape;
    const auto apart = [&](const Variant& v) {
      return std::abs(std::log(ratio_of(totals, v.totals).instructions));
    };
    known =
        std::min_element(shape.variants.begin(), shape.variants.end(),
                         [&](const Variant& a, const Variant& b) { return apart(a) < apart(b); });
    ratio = ratio_of(totals, known->totals);
  }
  ++known->calls;
  known->ratios.instructions += ratio.instructions;
  known->ratios.sectors += ratio.sectors;
  return quote_of(counted != nullptr ? counted : known->launch, ratio);
}

// The report says how often what was called, whatever the clock.
vgpu::LaunchResult Pricing::launch_uncounted(vgpu::Machine& machine, const vgpu::Program& program,
                                             const vgpu::LaunchConfig& config) {
  vgpu::LaunchResult result = machine.launch(program, config);
  if (report_.empty() || result.fault)
    return result;
  const std::lock_guard lock(mutex_);
  Shape& shape = shapes_[{program.id, config.kernel, config.grid, config.block, config.cluster,
                          config.dynamic_shared}];
  ++shape.calls;
  if (shape.kernel.empty())
    shape.kernel = vgpu::plain_name(config.kernel);
  if (shape.calls == 1 || std::chrono::steady_clock::now() - reported_ > kReportEvery)
    write_report(false);
  return result;
}

void Pricing::run_counted_only(const vgpu::Program& program, const Texts& texts,
                               vgpu::LaunchConfig& config) {
  const auto [known, is_new] = may_meet_.try_emplace(program.id, true);
  if (is_new && texts != nullptr)
    known->second = std::any_of(texts->begin(), texts->end(), [](const std::string& text) {
      return ptx::blocks_may_meet(ptx::facts_of(text));
    });
  const bool cluster = config.cluster != std::array<std::uint32_t, 3>{1, 1, 1};
  if (known->second || config.cooperative || cluster)
    return;
  for (const vgpu::LaunchConfig::Counted& one : config.counted)
    config.only_blocks.push_back(one.block);
}

// The instructions of the whole grid by those of some more blocks; what the launch ended with where
// one of them failed.
std::optional<vgpu::LaunchResult> Pricing::sample(vgpu::Machine& machine,
                                                  const vgpu::Program& program,
                                                  const vgpu::LaunchConfig& config,
                                                  const vgpu::LaunchResult& counted,
                                                  std::uint64_t& instructions) const {
  const std::set<std::uint64_t> done(config.only_blocks.begin(), config.only_blocks.end());
  const std::uint64_t of_one =
      counted.statistics.warp_instructions / std::max<std::uint64_t>(done.size(), 1);
  const std::uint64_t more =
      std::min(kSampledBlocks, kMostSampled / std::max<std::uint64_t>(of_one, 1));
  vgpu::LaunchConfig others = config;
  others.only_blocks.clear();
  others.counted.clear();
  others.most_counted = 0;
  others.profile_l1_bytes = std::nullopt;
  for (const std::uint64_t block : fill_choice(done, blocks_of(config), done.size() + more, seed_))
    if (!done.contains(block))
      others.only_blocks.push_back(block);
  std::uint64_t sum = counted.statistics.warp_instructions;
  if (!others.only_blocks.empty()) {
    vgpu::LaunchResult result = machine.launch(program, others);
    if (result.fault)
      return result;
    sum += result.statistics.warp_instructions;
  }
  const std::uint64_t ran = done.size() + others.only_blocks.size();
  instructions = static_cast<std::uint64_t>(static_cast<double>(sum) / static_cast<double>(ran) *
                                            static_cast<double>(blocks_of(config)));
  return std::nullopt;
}

// Counted for who reads counters, each time anew.
vgpu::LaunchResult Pricing::launch_in_range(vgpu::Machine& machine, const vgpu::Program& program,
                                            const vgpu::LaunchConfig& config, const Texts& texts) {
  vgpu::LaunchConfig counted = config;
  std::uint64_t l1_bytes = 0;
  if (!choose(machine, program, Shape{}, counted, l1_bytes))
    return machine.launch(program, config);
  std::vector<BlockTally> tallies;
  if (blocks_of(config) <= kMostTallied)
    tallies.resize(blocks_of(config));
  counted.tallies = tallies;
  counted.profile_l1_bytes = l1_bytes;
  vgpu::LaunchResult result = machine.launch(program, counted);
  if (result.fault || !result.counts)
    return result;
  hold_against_all(*result.counts, blocks_of(config), result.statistics.warp_instructions, tallies);
  if (auto price = process_.price(program.id, *texts, config.kernel, *result.counts, true))
    counted_range().add(*result.counts, *price);
  if (TimedWork* const work = TimedWork::current())
    work->add(quote_of(std::make_shared<PricedLaunch>(
                           process_, PricedLaunch::Launch{program.id, texts, config.kernel,
                                                          std::move(*result.counts)}),
                       {}));
  return result;
}

vgpu::LaunchResult Pricing::launch(vgpu::Machine& machine, const vgpu::Program& program,
                                   const vgpu::LaunchConfig& config, const Texts& texts) {
  if (counted_range().is_open())
    return launch_in_range(machine, program, config, texts);
  if (!wanted())
    return launch_uncounted(machine, program, config);
  std::unique_lock lock(mutex_);
  Shape& shape = shapes_[{program.id, config.kernel, config.grid, config.block, config.cluster,
                          config.dynamic_shared}];
  ++shape.calls;
  std::uint64_t l1_bytes = 0;
  vgpu::LaunchConfig counted;
  std::vector<BlockTally> tallies;
  bool counts = shape.variants.empty() || shape.recount;
  const bool few = Recording::execution() != Execution::all; // blocks run
  vgpu::LaunchConfig plain = config;
  if (counts || few) {
    counted = config;
    counts = choose(machine, program, shape, counted, l1_bytes) && counts;
  }
  if (few) {
    run_counted_only(program, texts, counted);
    plain.only_blocks = counted.only_blocks;
  }
  // Of the 4th, 8th, 16th, ... launch, too: kernels whose accesses change are found out.
  const bool with_memory = counts || (shape.calls > 2 && std::has_single_bit(shape.calls));
  vgpu::LaunchResult result;
  std::uint64_t instructions = 0; // of the grid
  lock.unlock();                  // it may run until the host does something
  if (counts) {
    if (blocks_of(config) <= kMostTallied && counted.only_blocks.empty())
      tallies.resize(blocks_of(config));
    counted.tallies = tallies;
    counted.profile_l1_bytes = l1_bytes;
    result = machine.launch(program, counted);
    if (!counted.only_blocks.empty() && !result.fault)
      if (auto failed = sample(machine, program, counted, result, instructions))
        result = std::move(*failed);
  } else {
    plain.count_memory = with_memory;
    result = machine.launch(program, plain);
  }
  lock.lock();
  if (result.fault || (shape.variants.empty() && !result.counts))
    return result;
  const vgpu::MemoryCounters& memory = result.statistics.memory;
  Totals totals{{result.statistics.warp_instructions, result.statistics.thread_instructions}, {}};
  if (with_memory)
    totals.memory = {memory.global_load_sectors, memory.global_store_sectors, memory.atomic_lanes};
  std::shared_ptr<PricedLaunch> priced;
  if (result.counts) {
    shape.recount = false;
    shape.kernel = result.counts->kernel;
    for (const BlockCounts& block : result.counts->blocks)
      shape.counted += block.warp_instructions;
    if (counted.only_blocks.empty())
      instructions = result.statistics.warp_instructions;
    priced = make_priced(program, config, texts, result, tallies, instructions);
    const bool poor = priced->sampling_error() > kPoorSample && shape.tallies.empty();
    shape.recount = poor && shape.counted < kMostCountedOfShape;
    shape.tallies = poor ? std::move(tallies) : std::vector<BlockTally>();
    if (!report_.empty())
      priced->ask(); // the program may never come to its end
  }
  const bool is_new = priced != nullptr;
  auto cost = quote(shape, totals, std::move(priced));
  if (TimedWork* const work = TimedWork::current())
    work->add(std::move(cost));
  if (!report_.empty() && (is_new || std::chrono::steady_clock::now() - reported_ > kReportEvery))
    write_report(false);
  return result;
}

Cost Pricing::price_transfer(Transfer transfer, std::uint64_t bytes) {
  const Cost cost = transfer_cost(gpu_, architecture_, transfer, bytes);
  const std::lock_guard lock(transfer_mutex_);
  TransferSum& sum = transfers_.at(static_cast<std::size_t>(transfer));
  ++sum.calls;
  sum.bytes += bytes;
  sum.ns += cost.ns;
  return cost;
}

std::optional<AssembledKernel> Pricing::assembled(const vgpu::Program& program, const Texts& texts,
                                                  const std::string& kernel) {
  const std::lock_guard lock(assembled_mutex_);
  const auto [place, is_new] =
      assembled_.try_emplace({program.id, kernel}, std::optional<AssembledKernel>());
  if (is_new && texts != nullptr)
    if (const auto made = process_.kernel(program.id, *texts, kernel))
      place->second = *made;
  return place->second;
}

void Pricing::add_operator(const char* name, std::uint64_t bytes, double flops, int arithmetic) {
  const Cost cost = operator_cost(gpu_, bytes, flops, arithmetic);
  if (TimedWork* const work = TimedWork::current())
    work->add(std::make_shared<KnownQuote>(cost));
  const std::lock_guard lock(transfer_mutex_);
  OperatorUse& use = operators_[name];
  use.name = name;
  ++use.calls;
  use.bytes += bytes;
  use.flops += flops;
  use.time.value += cost.ns;
}

void Pricing::add_finding(const std::string& text) {
  if (report_.empty())
    return;
  const std::lock_guard lock(mutex_);
  add_once(findings_, text);
  write_report(false);
}

void Pricing::add_problem(const std::string& text) {
  if (report_.empty())
    return;
  const std::lock_guard lock(mutex_);
  add_once(problems_, text);
  write_report(false);
}

KernelUse Pricing::use_of(const Key& key, const Shape& shape) const {
  KernelUse use;
  use.kernel = shape.kernel;
  use.grid = key.grid;
  use.block = key.block;
  use.dynamic_shared = key.shared;
  double off = 0; // from what was counted
  const Variant* most = nullptr;
  if (!modelled_)
    use.calls = use.unpriced = shape.calls;
  for (const Variant& variant : shape.variants) {
    use.calls += variant.calls;
    const Result<LaunchPrice>* const price = variant.launch->known();
    if (price == nullptr || !*price) {
      use.unpriced += variant.calls;
      use.reason =
          price == nullptr ? "the program ended before it was asked" : (*price).error().message;
      continue;
    }
    const auto calls = static_cast<double>(variant.calls);
    const WorkRatio mean{variant.ratios.instructions / calls, variant.ratios.sectors / calls};
    use.time.value += scaled_ns(**price, mean) * calls;
    off += std::abs(mean.instructions - 1) * calls;
    if (most == nullptr || variant.calls > most->calls)
      most = &variant;
  }
  if (most != nullptr) {
    use.price = **most->launch->known();
    use.price->error += off / static_cast<double>(use.calls);
  }
  return use;
}

void Pricing::write_report(bool complete) {
  if (getpid() != owner_)
    return;
  ProgramReport report;
  report.process = static_cast<std::uint64_t>(owner_);
  report.program = program_invocation_short_name;
  report.gpu = gpu_.name;
  report.modelled = modelled_;
  report.complete = complete;
  if (complete)
    report.span = {clock_.now().ns};
  for (const auto& [key, shape] : shapes_)
    if (!shape.kernel.empty())
      report.kernels.push_back(use_of(key, shape));
  {
    const std::lock_guard lock(transfer_mutex_);
    for (std::size_t i = 0; i < transfers_.size(); ++i)
      if (transfers_.at(i).calls > 0)
        report.transfers.push_back({std::string(name_of(static_cast<Transfer>(i))),
                                    transfers_.at(i).calls,
                                    transfers_.at(i).bytes,
                                    {transfers_.at(i).ns}});
    for (const auto& [name, use] : operators_)
      report.operators.push_back(use);
  }
  report.findings = findings_;
  report.problems = problems_;
  // A report that cannot be written is missed by who asked for it.
  static_cast<void>(write_file_atomically(report_, to_json(report)));
  reported_ = std::chrono::steady_clock::now();
}

void Pricing::close() {
  if (getpid() != owner_)
    return;
  if (!report_.empty()) {
    const std::lock_guard lock(mutex_);
    write_report(true);
  } else if (told_) {
    std::uint64_t unpriced = 0;
    std::string reason;
    const std::lock_guard lock(mutex_);
    for (const auto& [key, shape] : shapes_)
      for (const Variant& variant : shape.variants)
        if (const auto* const price = variant.launch->known(); price != nullptr && !*price) {
          unpriced += variant.calls;
          reason = fmt::format("{}: {}", shape.kernel, price->error().message);
        }
    fmt::print(stderr,
               "kernevo: times between events are modelled for a virtual {}, not measured{}\n",
               gpu_.name,
               unpriced == 0
                   ? ""
                   : fmt::format("; {} launches have no price ({})", unpriced, printable(reason)));
  }
}

Pricing& pricing() {
  static Pricing* const made = [] {
    auto* const all = new Pricing(Session::get().machine().gpu());
    std::atexit([] { pricing().close(); });
    return all;
  }();
  return *made;
}

} // namespace kernevo::cuda

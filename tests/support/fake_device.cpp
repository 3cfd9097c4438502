#include "fake_device.h"

#include "kernevo/base/hash.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernevo {
namespace {

Noise noise_of(const FakeScript& script) {
  if (script.own_noise)
    return script.own_noise;
  if (script.noise == "none")
    return [] { return Disturbance{}; };
  return noise_model(script.noise).start(script.seed);
}

} // namespace

class FakeDevice::Module final : public LoadedModule {
public:
  Module(FakeDevice& device, std::string source) : device_(device), source_(std::move(source)) {}

  Result<RunOutcome> run(const RunRequest& request, const Arena& arena) override {
    KERNEVO_CHECK(device_.alive());
    ++device_.counts_.runs;
    {
      const std::lock_guard lock(device_.mutex_);
      device_.requests_.push_back(request);
    }
    RunOutcome outcome = device_.script_.run(source_, request, arena);
    if (!outcome.fault && device_.script_.marks_written)
      for (const TensorBinding& tensor : request.tensors)
        if (tensor.written_region) {
          const auto flags = arena.region(*tensor.written_region);
          std::fill(flags.begin(), flags.end(), std::byte{1});
        }
    return outcome;
  }
  std::optional<LoadedCode> code() const override { return device_.script_.code; }
  const std::string& source() const { return source_; }

private:
  FakeDevice& device_;
  std::string source_;
};

class FakeDevice::Shots final : public DeviceShots {
public:
  // A side with its tensors in the device's own memory.
  struct Own {
    const Module* module = nullptr;
    const RunRequest* request = nullptr;
    Arena arena;
    Arena pristine;
    Nanoseconds time;
  };

  Shots(FakeDevice& device, std::vector<Own> sides) : device_(device), sides_(std::move(sides)) {}

  Result<Shot> shoot(Side side) override {
    KERNEVO_CHECK(device_.alive());
    ++device_.counts_.shots;
    {
      const std::lock_guard lock(device_.mutex_);
      device_.sides_shot_.push_back(side);
    }
    Own& own = of(side);
    put_back(own);
    const FakeScript& script = device_.script_;
    const RunOutcome outcome = (script.timed_run ? script.timed_run : script.run)(
        own.module->source(), *own.request, own.arena);
    if (outcome.fault) {
      fault_ = Fault{side, *outcome.fault};
      return fail(ErrorCode::infrastructure, "a shot ended with a fault");
    }
    const Disturbance disturbance = device_.disturb();
    const Nanoseconds time{own.time.value * std::exp(disturbance.log_factor)};
    device_.clock_.advance(time);
    return Shot{time, disturbance.flagged};
  }

  Result<void> write(Side side, std::size_t tensor, std::uint64_t offset,
                     std::span<const std::byte> bytes) override {
    Own& own = of(side);
    const std::size_t region = own.request->tensors.at(tensor).region;
    for (const Arena* arena : {&own.arena, &own.pristine})
      std::ranges::copy(bytes, arena->region(region).subspan(offset, bytes.size()).begin());
    return {};
  }
  Result<void> read(Side side, std::size_t tensor, std::uint64_t offset,
                    std::span<std::byte> bytes) override {
    KERNEVO_CHECK(device_.alive());
    Own& own = of(side);
    const std::size_t region = own.request->tensors.at(tensor).region;
    std::ranges::copy(own.arena.region(region).subspan(offset, bytes.size()), bytes.begin());
    return {};
  }
  std::optional<Fault> fault() const override { return fault_; }

private:
  Own& of(Side side) { return sides_.at(side == Side::incumbent ? 0 : sides_.size() - 1); }

  static void put_back(Own& own) {
    for (const TensorBinding& tensor : own.request->tensors) {
      const auto region = own.arena.region(tensor.region);
      if (!tensor.initialized)
        std::ranges::fill(region, std::byte{0xFF});
      else if (!tensor.read_only)
        std::ranges::copy(own.pristine.region(tensor.region), region.begin());
    }
  }

  FakeDevice& device_;
  std::vector<Own> sides_;
  std::optional<Fault> fault_;
};

FakeDevice::FakeDevice(const Gpu& gpu, FakeScript script)
    : identity_{script.name + ":" + gpu.name,
                gpu,
                script.stand_in.empty() ? TimingMethod::measured : TimingMethod::stand_in,
                "",
                "",
                script.stand_in},
      script_(std::move(script)), noise_(noise_of(script_)) {}

Result<void> FakeDevice::alive() const {
  if (script_.dies_after && counts_.shots + counts_.runs + counts_.loads >= *script_.dies_after)
    return fail(ErrorCode::unavailable, identity_.name + " has gone");
  return {};
}

Disturbance FakeDevice::disturb() {
  const std::lock_guard lock(mutex_);
  return noise_();
}

Result<DeviceState> FakeDevice::state() {
  KERNEVO_CHECK(alive());
  const int asked = counts_.states++;
  return script_.state ? script_.state(asked) : DeviceState{};
}

Result<Build> FakeDevice::build(const CompileRequest& request) {
  ++counts_.builds;
  Build build;
  build.compiler = "fake compiler";
  build.architecture = request.architecture;
  if (const auto why = script_.refuses ? script_.refuses(request) : std::nullopt) {
    build.syntax_error = true;
    build.diagnostics.push_back(
        {Diagnostic::Severity::error, Place{request.file, request.first_line, 1}, *why});
    return build;
  }
  build.ok = true;
  build.ptx = request.source;
  for (const auto& [name, value] : request.macros)
    build.ptx += "\n" + name + "=" + value;
  build.ptx_hash = sha256_hex(build.ptx);
  return build;
}

Result<LoadOutcome> FakeDevice::load(const std::string& ptx, const std::string& /*file*/,
                                     const ModuleLimits& limits) {
  KERNEVO_CHECK(alive());
  ++counts_.loads;
  if (limits.fresh_process)
    ++counts_.fresh_loads;
  return LoadOutcome{std::make_unique<Module>(*this, ptx), std::nullopt};
}

Result<std::unique_ptr<DeviceShots>> FakeDevice::shots(const Timed& incumbent,
                                                       const Timed* candidate, CacheState cache) {
  KERNEVO_CHECK(alive());
  if (cache == CacheState::hot)
    ++counts_.hot;
  std::vector<Shots::Own> sides;
  for (const Timed* timed : {&incumbent, candidate}) {
    if (timed == nullptr)
      continue;
    std::vector<std::uint64_t> sizes;
    for (std::size_t i = 0; i < timed->arena->regions().size(); ++i)
      sizes.push_back(timed->arena->region(i).size());
    KERNEVO_TRY(arena, Arena::create(sizes));
    KERNEVO_TRY(pristine, Arena::create(sizes));
    for (std::size_t i = 0; i < sizes.size(); ++i)
      for (const Arena* copy : {&arena, &pristine})
        std::ranges::copy(timed->arena->region(i), copy->region(i).begin());
    const auto* module = static_cast<const Module*>(timed->module);
    const Nanoseconds time = script_.time(module->source(), *timed->request);
    sides.push_back({module, timed->request, std::move(arena), std::move(pristine), time});
  }
  return std::make_unique<Shots>(*this, std::move(sides));
}

std::vector<RunRequest> FakeDevice::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::vector<Side> FakeDevice::sides_shot() const {
  const std::lock_guard lock(mutex_);
  return sides_shot_;
}

} // namespace kernevo

#include "fake_device.h"

#include "kernevo/base/hash.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernevo {
namespace {

Noise noise_of(const FakeScript& script) {
  if (script.noise == "none")
    return [] { return Disturbance{}; };
  return noise_model(script.noise).start(script.seed);
}

} // namespace

class FakeDevice::Module final : public LoadedModule {
public:
  Module(FakeDevice& device, std::string source) : device_(device), source_(std::move(source)) {}

  Result<RunOutcome> run(const RunRequest& request, const Arena& arena) override {
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
  const std::string& source() const { return source_; }

private:
  FakeDevice& device_;
  std::string source_;
};

class FakeDevice::Shots final : public ShotSource {
public:
  Shots(FakeDevice& device, Nanoseconds incumbent, Nanoseconds candidate)
      : device_(device), incumbent_(incumbent), candidate_(candidate),
        noise_(noise_of(device.script_)) {}

  Result<Shot> shoot(Side side) override {
    ++device_.counts_.shots;
    {
      const std::lock_guard lock(device_.mutex_);
      device_.sides_shot_.push_back(side);
    }
    const Disturbance disturbance = noise_();
    const Nanoseconds plain = side == Side::incumbent ? incumbent_ : candidate_;
    const Nanoseconds time{plain.value * std::exp(disturbance.log_factor)};
    device_.clock_.advance(time);
    return Shot{time, disturbance.flagged};
  }

private:
  FakeDevice& device_;
  Nanoseconds incumbent_;
  Nanoseconds candidate_;
  Noise noise_;
};

FakeDevice::FakeDevice(const Gpu& gpu, FakeScript script)
    : identity_{"fake:" + gpu.name, gpu, TimingMethod::measured}, script_(std::move(script)) {}

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
  ++counts_.loads;
  if (limits.fresh_process)
    ++counts_.fresh_loads;
  return LoadOutcome{std::make_unique<Module>(*this, ptx), std::nullopt};
}

Result<std::unique_ptr<ShotSource>> FakeDevice::shots(const Timed& incumbent,
                                                      const Timed* candidate) {
  const auto time_of = [&](const Timed& timed) {
    return script_.time(static_cast<const Module*>(timed.module)->source(), *timed.request);
  };
  const Nanoseconds first = time_of(incumbent);
  return std::make_unique<Shots>(*this, first, candidate == nullptr ? first : time_of(*candidate));
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

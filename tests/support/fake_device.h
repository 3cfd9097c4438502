// A device made of a script: what a source builds to, what a run does to the tensors, how long it
// takes. It needs no compiler and no GPU, and its clock moves only with its shots.
#pragma once

#include "kernevo/device/device.h"
#include "simulated_shots.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace kernevo {

// The script speaks of kernels by their source: a fake build's PTX is the source itself, followed
// by a line NAME=VALUE for each macro.
struct FakeScript {
  // Why a source does not compile; nothing when it does.
  std::function<std::optional<std::string>(const CompileRequest&)> refuses = nullptr;
  // Does what the kernel would do to the arena. The written flags are set for whatever the request
  // lists as an output, unless the script says it sets them itself.
  std::function<RunOutcome(const std::string& source, const RunRequest&, const Arena&)> run;
  bool marks_written = true;
  bool instrumented = true;
  bool measures = true;
  // Of one run, before noise.
  std::function<Nanoseconds(const std::string& source, const RunRequest&)> time;
  // By name, of noise_models(), or none. It goes on from one episode to the next.
  std::string noise = "none";
  std::uint64_t seed = 1;
  // The same, of the caller's own making, in place of a name.
  Noise own_noise = nullptr;
  // What a kernel does where it is timed; as everywhere else unless the script says so.
  std::function<RunOutcome(const std::string& source, const RunRequest&, const Arena&)> timed_run =
      nullptr;
  // What the device says of itself, by how often it was asked before; nothing where there is none.
  std::function<DeviceState(int asked)> state = nullptr;
  // How many shots, runs and loads it survives; then it is gone.
  std::optional<int> dies_after = std::nullopt;
  bool hot_cache = true;                         // it can leave caches alone between shots
  std::optional<LoadedCode> code = std::nullopt; // what its modules say was loaded
  std::string name = "fake";                     // before the GPU's
  std::string stand_in = {};
};

class FakeDevice final : public Device {
public:
  FakeDevice(const Gpu& gpu, FakeScript script);

  const DeviceIdentity& identity() const override { return identity_; }
  DeviceCapabilities capabilities() const override {
    return {.instrumented = script_.instrumented,
            .measures = script_.measures,
            .hot_cache = script_.hot_cache};
  }
  Result<std::string> fingerprint() const override { return identity_.name; }
  Result<std::string> architecture() const override { return std::string("sm_80"); }
  Result<Build> build(const CompileRequest& request) override;
  Result<LoadOutcome> load(const std::string& ptx, const std::string& file,
                           const ModuleLimits& limits) override;
  Result<std::unique_ptr<DeviceShots>> shots(const Timed& incumbent, const Timed* candidate,
                                             CacheState cache) override;
  Clock& clock() override { return clock_; }
  Result<DeviceState> state() override;
  void rest(Nanoseconds time) override { clock_.advance(time); }

  // How often the judge asked.
  struct Counts {
    std::atomic<int> builds = 0;
    std::atomic<int> loads = 0;
    std::atomic<int> fresh_loads = 0;
    std::atomic<int> runs = 0;
    std::atomic<int> shots = 0;
    std::atomic<int> hot = 0; // sources of shots that were to leave caches alone
    std::atomic<int> states = 0;
  };
  const Counts& counts() const { return counts_; }
  // What it asked for, in order.
  std::vector<RunRequest> requests() const;
  std::vector<Side> sides_shot() const;

private:
  class Module;
  class Shots;
  class FakeClock final : public Clock {
  public:
    Nanoseconds now() override { return {now_.load()}; }
    void advance(Nanoseconds by) { now_.fetch_add(by.value); }

  private:
    std::atomic<double> now_ = 0;
  };

  DeviceIdentity identity_;
  // An error once it is gone.
  Result<void> alive() const;
  Disturbance disturb();

  FakeScript script_;
  Noise noise_;
  FakeClock clock_;
  Counts counts_;
  mutable std::mutex mutex_;
  std::vector<RunRequest> requests_;
  std::vector<Side> sides_shot_;
};

} // namespace kernevo

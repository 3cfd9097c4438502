#include "kernevo/device/cuda_device.h"

#include "kernevo/device/cuda_code.h"
#include "kernevo/device/cuda_driver.h"
#include "kernevo/device/cuda_session.h"
#include "kernevo/device/cuda_settings.h"
#include "kernevo/device/cuda_shots.h"
#include "kernevo/device/device_name.h"
#include "kernevo/device/gpu_lease.h"
#include "kernevo/device/idle_sessions.h"
#include "kernevo/device/model_fingerprint.h"
#include "kernevo/toolchain/compile_worker.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <utility>

namespace kernevo {
namespace {

// Each session has a context, which takes hundreds of megabytes of a real GPU.
constexpr std::size_t kMostIdle = 2;

// What modules and devices share; it outlives both.
class CudaState {
public:
  CudaState(std::shared_ptr<CudaGround> ground, std::unique_ptr<CudaObserver> observer)
      : ground_(std::move(ground)), observer_(std::move(observer)) {}

  const std::shared_ptr<CudaGround>& ground() const { return ground_; }
  IdleSessions<CudaSession>& idle() { return idle_; }

  Result<GpuLease> lease(GpuLease::Kind kind) {
    if (lost_)
      return tl::unexpected<Error>(lost());
    return GpuLease::take(ground_->name, ground_->facts.uuid, kind);
  }

  // Trouble may mean that the GPU is gone: a new process is asked.
  Error judge(Error error) {
    if (error.code != ErrorCode::infrastructure && error.code != ErrorCode::unavailable)
      return error;
    if (lost_)
      return lost();
    const std::lock_guard lock(mutex_);
    auto found = observer_->open(ground_->facts.ordinal, ground_->facts.uuid);
    auto seen = found ? observer_->look()
                      : Result<GpuTelemetry>(tl::unexpected<Error>(std::move(found).error()));
    if (seen && !seen->lost) {
      // Another process is served: only the one that said so was done for.
      if (error.code == ErrorCode::unavailable) {
        error.code = ErrorCode::infrastructure;
        error.fix = "a new process finds the GPU well: try again";
      }
      return error;
    }
    why_ = seen ? error.message : seen.error().message;
    lost_ = true;
    return lost();
  }

  Result<GpuTelemetry> look() {
    if (lost_)
      return tl::unexpected<Error>(lost());
    auto seen = observer_->look();
    if (!seen)
      return tl::unexpected<Error>(judge(std::move(seen).error()));
    if (seen->lost)
      return tl::unexpected<Error>(judge(lost_device(ground_->name, "NVML says so")));
    return seen;
  }

private:
  Error lost() const {
    return lost_device(ground_->name, why_.empty() ? "it does not answer" : why_);
  }

  std::shared_ptr<CudaGround> ground_;
  std::unique_ptr<CudaObserver> observer_;
  IdleSessions<CudaSession> idle_{kMostIdle};
  std::mutex mutex_;
  std::string why_; // written before lost_
  std::atomic<bool> lost_ = false;
};

class CudaModule final : public LoadedModule {
public:
  CudaModule(std::unique_ptr<CudaSession> session, std::shared_ptr<CudaState> state,
             std::string assembler)
      : session_(std::move(session)), state_(std::move(state)), assembler_(std::move(assembler)) {}
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;
  ~CudaModule() override { state_->idle().put(std::move(session_)); }

  Result<RunOutcome> run(const RunRequest& request, const Arena& arena) override {
    const auto lease = state_->lease(GpuLease::Kind::shared);
    if (!lease)
      return tl::unexpected<Error>(lease.error());
    auto outcome = session_->run(request, arena);
    if (!outcome)
      return tl::unexpected<Error>(state_->judge(std::move(outcome).error()));
    return outcome;
  }

  // In a process of its own, alone on the GPU.
  Result<CountedRun> count(const RunRequest& request, const Arena& arena,
                           const std::vector<std::string>& counters) override {
    const auto lease = state_->lease(GpuLease::Kind::sole);
    if (!lease)
      return tl::unexpected<Error>(lease.error());
    const CudaLoadMessage& module = session_->module();
    CudaSession session(state_->ground(), module.ptx, module.file, module.cubin,
                        ModuleLimits{.memory_bytes = module.memory_bytes});
    session.want_counters();
    auto run = session.count(request, arena, counters);
    if (!run)
      return tl::unexpected<Error>(state_->judge(std::move(run).error()));
    return run;
  }

  std::optional<LoadedCode> code() const override {
    LoadedCode code{session_->loaded(), target_of_ptx(session_->module().ptx), {}};
    if (code.form == CodeForm::cubin)
      code.assembler = assembler_;
    return code;
  }

  const CudaSession& session() const { return *session_; }

private:
  std::unique_ptr<CudaSession> session_;
  std::shared_ptr<CudaState> state_;
  std::string assembler_; // of its cubin
};

std::string driver_text(const CudaFacts& facts, const GpuTelemetry& telemetry) {
  const std::string version = cuda_version(facts.driver_version);
  return telemetry.driver.empty() ? version : fmt::format("{} ({})", version, telemetry.driver);
}

class CudaDevice final : public Device {
public:
  CudaDevice(DeviceIdentity identity, std::shared_ptr<CudaState> state)
      : identity_(std::move(identity)), state_(std::move(state)) {}

  const DeviceIdentity& identity() const override { return identity_; }
  DeviceCapabilities capabilities() const override {
    // A library that plays a GPU prices every launch as on cold caches.
    return {.instrumented = false,
            .measures = true,
            .has_counters = true,
            .hot_cache = identity_.stand_in.empty()};
  }

  Result<std::string> fingerprint() const override {
    KERNEVO_TRY(toolchain, find_toolchain());
    std::string model;
    if (!identity_.stand_in.empty()) {
      KERNEVO_TRY(fingerprint, model_fingerprint());
      model = fmt::format(", model {}", fingerprint);
    }
    return fmt::format("{} ({}, {}, CUDA {}{})", identity_.name, hardware_of(identity_),
                       facts().uuid, toolchain.version, model);
  }

  Result<std::string> architecture() const override {
    KERNEVO_TRY(toolchain, find_toolchain());
    std::string nearest = nearest_architecture(toolchain, facts().compute_capability);
    if (!runs_as_ptx(nearest, facts().compute_capability))
      return fail(ErrorCode::unsupported,
                  fmt::format("{} is sm_{}, and CUDA {} compiles for {} and newer alone",
                              identity_.name, facts().compute_capability, toolchain.version,
                              nearest),
                  std::nullopt, "set KERNEVO_CUDA to an older toolkit");
    return nearest;
  }

  Result<Build> build(const CompileRequest& request) override {
    auto build = compile_confined(request);
    if (build && build->ok)
      code_.remember(request, *build);
    return build;
  }

  Result<LoadOutcome> load(const std::string& ptx, const std::string& file,
                           const ModuleLimits& limits) override {
    const CudaFacts& gpu = facts();
    const std::string target = target_of_ptx(ptx);
    if (!target.empty() && !runs_as_ptx(target, gpu.compute_capability) &&
        !runs_as_machine_code(target, gpu.compute_capability))
      return fail(ErrorCode::unsupported,
                  fmt::format("it is compiled for {}, and {} is sm_{}", target, identity_.name,
                              gpu.compute_capability),
                  Place{file}, "leave out @arch, or choose a GPU it fits");
    CudaCode::Cubin cubin;
    if (gpu.stand_in.empty())
      cubin = code_.cubin_of(ptx, gpu.compute_capability, gpu.driver_version);
    std::unique_ptr<CudaSession> session;
    const CudaLoadMessage module{ptx, file, cubin.bytes, limits.memory_bytes};
    if (!limits.fresh_process)
      session = state_->idle().take(module);
    if (!session) {
      session = std::make_unique<CudaSession>(state_->ground(), ptx, file, cubin.bytes, limits);
      const auto lease = state_->lease(GpuLease::Kind::shared);
      if (!lease)
        return tl::unexpected<Error>(lease.error());
      auto refusal = session->start();
      if (!refusal)
        return tl::unexpected<Error>(state_->judge(std::move(refusal).error()));
      if (*refusal)
        return LoadOutcome{nullptr, std::move(*refusal)};
    }
    return LoadOutcome{
        std::make_unique<CudaModule>(std::move(session), state_, std::move(cubin.assembler)),
        std::nullopt};
  }

  Result<std::unique_ptr<DeviceShots>> shots(const Timed& incumbent, const Timed* candidate,
                                             CacheState cache) override {
    KERNEVO_TRY(lease, state_->lease(GpuLease::Kind::sole));
    const std::array<const Timed*, 2> timed = {&incumbent, candidate};
    std::array<std::unique_ptr<CudaSession>, 2> sides;
    for (std::size_t side = 0; side < sides.size(); ++side) {
      if (timed.at(side) == nullptr)
        continue;
      const auto* module = dynamic_cast<const CudaModule*>(timed.at(side)->module);
      if (module == nullptr)
        return fail(ErrorCode::infrastructure,
                    fmt::format("{} is asked to time another device's module", identity_.name));
      // A process of its own: runs of the module meanwhile do not disturb what the shots hold.
      const CudaLoadMessage& wanted = module->session().module();
      sides.at(side) = state_->idle().take(wanted);
      if (sides.at(side) == nullptr)
        sides.at(side) =
            std::make_unique<CudaSession>(state_->ground(), wanted.ptx, wanted.file, wanted.cubin,
                                          ModuleLimits{.memory_bytes = wanted.memory_bytes});
    }
    return CudaShots::make(
        std::move(lease), std::move(sides), timed, cache == CacheState::cold,
        [state = state_]() -> Result<std::vector<std::string>> {
          KERNEVO_TRY(now, state->look());
          return disturbances(now, state->ground()->processes.all());
        },
        [state = state_](Error error) { return state->judge(std::move(error)); },
        [state = state_](std::unique_ptr<CudaSession> session) {
          state->idle().put(std::move(session));
        });
  }

  Result<DeviceState> state() override {
    KERNEVO_TRY(now, state_->look());
    DeviceState state;
    state.clocks.multiprocessor_mhz = now.multiprocessor_mhz;
    state.clocks.memory_mhz = now.memory_mhz;
    state.celsius = now.celsius;
    state.watts = now.watts;
    state.disturbances = disturbances(now, state_->ground()->processes.all());
    return state;
  }

private:
  const CudaFacts& facts() const { return state_->ground()->facts; }

  DeviceIdentity identity_;
  std::shared_ptr<CudaState> state_;
  CudaCode code_;
};

std::string known_to(const CudaListing& listing) {
  std::vector<std::string> names;
  for (const CudaFacts& facts : listing.gpus)
    names.push_back(fmt::format("cuda:{} {}", facts.ordinal, facts.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace

Result<std::shared_ptr<Device>> open_cuda_device(int ordinal) {
  const std::string name = fmt::format("cuda:{}", ordinal);
  KERNEVO_TRY(settings, cuda_settings());
  KERNEVO_TRY(listing, CudaObserver::list(settings));
  const auto found = std::ranges::find_if(
      listing.gpus, [&](const CudaFacts& facts) { return facts.ordinal == ordinal; });
  if (found == listing.gpus.end())
    return fail(
        ErrorCode::input,
        listing.gpus.empty() ? std::string("the driver finds no GPU")
                             : fmt::format("{} GPU{} here, counted from 0", listing.gpus.size(),
                                           listing.gpus.size() == 1 ? " is" : "s are"),
        std::nullopt,
        listing.gpus.empty() ? "see CUDA_VISIBLE_DEVICES" : "there is " + known_to(listing));
  auto ground = std::make_shared<CudaGround>();
  ground->settings = settings;
  ground->facts = *found;
  ground->name = name;
  auto observer = std::make_unique<CudaObserver>(settings);
  KERNEVO_TRY(facts, observer->open(ordinal, found->uuid));
  KERNEVO_TRY(telemetry, observer->look());
  KERNEVO_TRY(gpu, gpu_of(facts));
  DeviceIdentity identity;
  identity.name = name;
  identity.gpu = std::move(gpu);
  // Whatever a driver that plays a GPU says, nothing was measured.
  identity.method = facts.stand_in.empty() ? TimingMethod::measured : TimingMethod::stand_in;
  identity.model = facts.name;
  identity.driver = driver_text(facts, telemetry);
  identity.stand_in = facts.stand_in;
  return std::make_shared<CudaDevice>(
      std::move(identity), std::make_shared<CudaState>(std::move(ground), std::move(observer)));
}

} // namespace kernevo

// The judge's side: owns the workers and keeps those of late, for a kernel is rarely run only once.
#include "kernevo/device/virtual_device.h"

#include "kernevo/base/hash.h"
#include "kernevo/base/worker_process.h"
#include "kernevo/device/check_outcome.h"
#include "kernevo/device/device_name.h"
#include "kernevo/device/idle_sessions.h"
#include "kernevo/device/messages.h"
#include "kernevo/device/model_fingerprint.h"
#include "kernevo/hardware/own_gpus.h"
#include "kernevo/ptx/facts.h"
#include "kernevo/toolchain/compile_worker.h"
#include "kernevo/vgpu/tier/object_store.h"
#include "kernevo/vgpu/tier/plugin.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <utility>

namespace kernevo {
namespace {

// The worker stops itself when it has computed for its limit. The clock on the wall says nothing
// about a kernel: it only ends the wait for a worker that hangs, or a machine that does.
constexpr double kGraceSeconds = 60;
constexpr double kWallFactor = 10;
constexpr double kLoadSeconds = 300;

constexpr std::uint64_t kMostCode = std::uint64_t{32} << 20U;

// Loading LLVM takes a worker 15 to 60 ms: not for launches that the interpreter ends sooner, at 10
// to 30 ns per instruction.
constexpr double kWorthwhile = 4e6;
// Until a run has shown how long a warp is.
constexpr double kInstructionsPerWarp = 50;

double warps_of(const RunRequest& request) {
  double warps = 0;
  for (const Launch& launch : request.plan.launches) {
    const double threads = static_cast<double>(launch.block[0]) *
                           static_cast<double>(launch.block[1]) *
                           static_cast<double>(launch.block[2]);
    const auto& only_blocks = request.instruments.only_blocks;
    const double blocks = only_blocks.empty() ? static_cast<double>(launch.grid[0]) *
                                                    static_cast<double>(launch.grid[1]) *
                                                    static_cast<double>(launch.grid[2])
                                              : static_cast<double>(only_blocks.size());
    warps += blocks * std::ceil(threads / 32);
  }
  return std::max(warps, 1.0);
}

double wall_limit(const RunRequest& request) {
  return kGraceSeconds +
         kWallFactor * request.seconds *
             static_cast<double>(std::max<std::size_t>(request.plan.launches.size(), 1));
}

// Keys become file names.
bool is_key(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// A module in a worker of its own, restarted when a kernel took it down.
class Session {
public:
  Session(std::string gpu, const std::string& ptx, const std::string& file,
          const ModuleLimits& limits)
      : gpu_(std::move(gpu)), limits_(limits), module_{ptx, file, {}} {}

  bool serves(const std::string& ptx, const std::string& file, const ModuleLimits& limits) const {
    return module_.ptx == ptx && module_.file == file &&
           limits_.memory_bytes == limits.memory_bytes && limits_.arena_bytes == limits.arena_bytes;
  }
  bool alive() const { return worker_.has_value(); }

  // Starts the worker and loads the module; a finding when the module is at fault. Only a worker
  // that has the module is kept.
  Result<std::optional<Finding>> start(bool compile) {
    std::string compiler;
    module_.code.clear();
    if (compile) {
      // Without a compiler everything still runs, only slower.
      if (const auto found = vgpu::find_plugin())
        compiler = found->string();
      for (auto& [key, bytes] : store_.of_module(module_hash(), kMostCode))
        module_.code[key.object] = std::move(bytes);
    }
    worker_.reset();
    KERNEVO_TRY(worker, WorkerProcess::start("execute", table_places() + compiler));
    WorkerEnd end = WorkerEnd::crashed;
    std::optional<Message> answer;
    if (worker.send(encode(OpenMessage{gpu_, limits_.memory_bytes, limits_.arena_bytes})))
      answer = worker.receive(kLoadSeconds, &end);
    if (!answer)
      return fail(ErrorCode::infrastructure,
                  "the execution worker did not start: " + worker.describe_end());
    KERNEVO_CHECK(decode_outcome(answer->text));
    answer.reset();
    if (worker.send(encode(module_)))
      answer = worker.receive(kLoadSeconds, &end);
    if (!answer) {
      KERNEVO_TRY(finding, describe_end(worker, end, kLoadSeconds));
      return std::optional(std::move(finding));
    }
    KERNEVO_TRY(outcome, decode_outcome(answer->text));
    if (outcome.fault)
      return outcome.fault;
    worker_ = std::move(worker);
    worker_compiles_ = compile;
    return std::nullopt;
  }

  Result<RunOutcome> run(const RunRequest& request, const Arena& arena) {
    const bool compile =
        !request.instruments.sanitize && warps_of(request) * instructions_per_warp_ >= kWorthwhile;
    // A new worker would know nothing of the run before.
    if (request.instruments.go_on && !worker_)
      return fail(ErrorCode::infrastructure, "the worker that ran this module before has ended",
                  std::nullopt, "try again");
    if (!worker_ || (compile && !worker_compiles_ && !request.instruments.go_on)) {
      KERNEVO_TRY(refusal, start(compile));
      if (refusal)
        return RunOutcome::stopped_by(*refusal);
    }
    const std::string message = encode(RunMessage{request, arena.regions()});
    std::optional<Message> answer;
    WorkerEnd end = WorkerEnd::crashed;
    if (worker_->send(message, arena.descriptor()))
      answer = worker_->receive(wall_limit(request), &end);
    else
      answer = worker_->receive(kGraceSeconds, &end);
    if (answer) {
      auto outcome = take_answer(request, answer->text);
      if (!outcome)
        worker_.reset(); // nothing it says later is worth more
      return outcome;
    }
    if (end == WorkerEnd::timed_out) {
      worker_.reset();
      return fail(
          ErrorCode::infrastructure,
          fmt::format("the execution worker did not answer within {:.0f} s", wall_limit(request)),
          std::nullopt, "the machine may be overloaded: try again");
    }
    auto finding = describe_end(*worker_, end, kLoadSeconds);
    worker_.reset();
    if (!finding)
      return tl::unexpected<Error>(std::move(finding).error());
    return RunOutcome::stopped_by(std::move(*finding));
  }

private:
  Result<RunOutcome> take_answer(const RunRequest& request, const std::string& text) {
    MachineCode code;
    KERNEVO_TRY(outcome, decode_outcome(text, &code));
    KERNEVO_CHECK(check_outcome(request, outcome, launches_kernels(request, outcome)));
    instructions_per_warp_ = std::max(
        instructions_per_warp_, static_cast<double>(outcome.warp_instructions) / warps_of(request));
    // Only of the module that ran: a worker must not plant code for another.
    for (const auto& [key, bytes] : code)
      if (is_key(key))
        store_.save({module_hash(), key}, bytes);
    return outcome;
  }

  // What the kernel did to its worker. A worker that the system killed says nothing about it.
  static Result<Finding> describe_end(WorkerProcess& worker, WorkerEnd end, double seconds) {
    if (worker.was_killed())
      return fail(ErrorCode::infrastructure, "the system killed the execution worker", std::nullopt,
                  "memory may be short: try again, or lower --memory");
    Finding finding;
    if (end == WorkerEnd::timed_out) {
      finding.kind = FindingKind::time_limit;
      finding.message = fmt::format("did not finish within {:.0f} s and was stopped", seconds);
    } else {
      finding.kind = FindingKind::crash;
      finding.message = "the worker process ended with " + worker.describe_end();
    }
    return finding;
  }

  const std::string& module_hash() {
    if (module_hash_.empty())
      module_hash_ = sha256_hex(module_.ptx);
    return module_hash_;
  }

  // Asked only where it matters: reading the module takes its time.
  bool launches_kernels(const RunRequest& request, const RunOutcome& outcome) const {
    if (static_cast<double>(outcome.blocks_run) <= planned_blocks(request))
      return false;
    const auto facts = ptx::facts_of(module_.ptx);
    return !facts || facts->outside_functions;
  }

  std::string gpu_;
  ModuleLimits limits_;
  LoadMessage module_;
  std::string module_hash_;
  vgpu::FolderStore store_;
  std::optional<WorkerProcess> worker_;
  bool worker_compiles_ = false;
  double instructions_per_warp_ = kInstructionsPerWarp; // the most seen
};

// A worker that waits holds its module and little else, about 20 MB.
constexpr std::size_t kMostIdle = 4;
using IdleVirtualSessions = IdleSessions<Session>;

class VirtualModule final : public LoadedModule {
public:
  VirtualModule(std::unique_ptr<Session> session, std::shared_ptr<IdleVirtualSessions> idle)
      : session_(std::move(session)), idle_(std::move(idle)) {}
  VirtualModule(const VirtualModule&) = delete;
  VirtualModule& operator=(const VirtualModule&) = delete;
  ~VirtualModule() override { idle_->put(std::move(session_)); }

  Result<RunOutcome> run(const RunRequest& request, const Arena& arena) override {
    return session_->run(request, arena);
  }

private:
  std::unique_ptr<Session> session_;
  std::shared_ptr<IdleVirtualSessions> idle_;
};

class VirtualDevice final : public Device {
public:
  explicit VirtualDevice(const Gpu& gpu)
      : identity_{to_text(DeviceName::of_virtual(gpu.name)), gpu, TimingMethod::modelled} {}

  const DeviceIdentity& identity() const override { return identity_; }
  DeviceCapabilities capabilities() const override {
    return {.instrumented = true, .measures = false};
  }
  Result<std::string> fingerprint() const override {
    KERNEVO_TRY(model, model_fingerprint());
    KERNEVO_TRY(toolchain, find_toolchain());
    return fmt::format("{} (model {}, CUDA {})", identity_.name, model, toolchain.version);
  }
  Result<std::string> architecture() const override {
    KERNEVO_TRY(toolchain, find_toolchain());
    return nearest_architecture(toolchain, identity_.gpu.compute_capability);
  }
  Result<Build> build(const CompileRequest& request) override { return compile_confined(request); }

  Result<LoadOutcome> load(const std::string& ptx, const std::string& file,
                           const ModuleLimits& limits) override {
    std::unique_ptr<Session> session;
    if (!limits.fresh_process)
      session = idle_->take(ptx, file, limits);
    if (!session) {
      session = std::make_unique<Session>(identity_.gpu.name, ptx, file, limits);
      KERNEVO_TRY(refusal, session->start(false));
      if (refusal)
        return LoadOutcome{nullptr, std::move(refusal)};
    }
    return LoadOutcome{std::make_unique<VirtualModule>(std::move(session), idle_), std::nullopt};
  }

private:
  DeviceIdentity identity_;
  std::shared_ptr<IdleVirtualSessions> idle_ = std::make_shared<IdleVirtualSessions>(kMostIdle);
};

} // namespace

std::shared_ptr<Device> open_virtual_device(const Gpu& gpu) {
  return std::make_shared<VirtualDevice>(gpu);
}

} // namespace kernevo

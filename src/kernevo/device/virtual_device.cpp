// The judge's side: owns the worker, restarts it when a kernel took it down.
#include "kernevo/device/virtual_device.h"

#include "kernevo/base/hash.h"
#include "kernevo/base/worker_process.h"
#include "kernevo/device/messages.h"
#include "kernevo/vgpu/object_store.h"
#include "kernevo/vgpu/plugin.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

// The worker stops itself at its own limit; this much later it is considered hung.
constexpr double kGraceSeconds = 5;
constexpr double kLoadSeconds = 60;

constexpr std::uint64_t kMostCode = std::uint64_t{32} << 20U;

// Loading LLVM takes a worker 15 to 60 ms: not for launches that the interpreter ends sooner, at 10
// to 30 ns an instruction.
constexpr double kWorthwhile = 4e6;
// Until a run has shown how long a warp is.
constexpr double kInstructionsPerWarp = 50;

double warps_of(const RunRequest& request) {
  double warps = 0;
  for (const Launch& launch : request.plan.launches) {
    const double threads = static_cast<double>(launch.block[0]) *
                           static_cast<double>(launch.block[1]) *
                           static_cast<double>(launch.block[2]);
    const double blocks = request.only_blocks.empty()
                              ? static_cast<double>(launch.grid[0]) *
                                    static_cast<double>(launch.grid[1]) *
                                    static_cast<double>(launch.grid[2])
                              : static_cast<double>(request.only_blocks.size());
    warps += blocks * std::ceil(threads / 32);
  }
  return std::max(warps, 1.0);
}

// Keys become file names.
bool is_key(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

class VirtualDevice final : public Device {
public:
  VirtualDevice(Gpu gpu, VirtualDeviceLimits limits) : gpu_(std::move(gpu)), limits_(limits) {}

  const Gpu& gpu() const override { return gpu_; }

  Result<std::optional<Finding>> load(const std::string& ptx, const std::string& file) override {
    module_ = LoadMessage{ptx, file, {}};
    module_hash_.clear();
    instructions_per_warp_ = kInstructionsPerWarp;
    worker_.reset();
    return start(false);
  }

  Result<RunOutcome> run(const RunRequest& request, const Arena& arena) override {
    const bool compile =
        !request.sanitize && warps_of(request) * instructions_per_warp_ >= kWorthwhile;
    if (!worker_ || (compile && !worker_compiles_)) {
      KERNEVO_TRY(refusal, start(compile));
      if (refusal)
        return RunOutcome::stopped_by(*refusal);
    }
    RunOutcome failed;
    const std::string message = encode(RunMessage{request, arena.regions()});
    std::optional<Message> answer;
    WorkerEnd end = WorkerEnd::crashed;
    if (worker_->send(message, arena.descriptor()))
      answer = worker_->receive(request.seconds + kGraceSeconds, &end);
    else
      answer = worker_->receive(kGraceSeconds, &end);
    if (answer) {
      MachineCode code;
      auto outcome = decode_outcome(answer->text, &code);
      if (outcome)
        instructions_per_warp_ =
            std::max(instructions_per_warp_,
                     static_cast<double>(outcome->warp_instructions) / warps_of(request));
      // Only of the module that ran: a worker must not plant code for another.
      for (const auto& [key, bytes] : code)
        if (is_key(key))
          store_.save({module_hash(), key}, bytes);
      return outcome;
    }
    failed.fault = describe_end(end, request.seconds);
    worker_.reset();
    return failed;
  }

private:
  Finding describe_end(WorkerEnd end, double seconds) {
    Finding finding;
    if (end == WorkerEnd::timed_out) {
      finding.kind = FindingKind::time_limit;
      finding.message = fmt::format("did not finish within {:.0f} s and was stopped", seconds);
    } else {
      finding.kind = FindingKind::crash;
      finding.message = "the worker process ended with " + worker_->describe_end();
    }
    return finding;
  }

  const std::string& module_hash() {
    if (module_hash_.empty())
      module_hash_ = sha256_hex(module_.ptx);
    return module_hash_;
  }

  // Starts the worker and loads the module; a finding when the module is at fault.
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
    worker_compiles_ = compile;
    KERNEVO_TRY(worker, WorkerProcess::start("execute"));
    worker_ = std::move(worker);
    WorkerEnd end = WorkerEnd::crashed;
    std::optional<Message> answer;
    if (worker_->send(
            encode(OpenMessage{gpu_.name, limits_.memory_bytes, compiler, limits_.arena_bytes})))
      answer = worker_->receive(kLoadSeconds, &end);
    if (!answer) {
      const std::string how = worker_->describe_end();
      worker_.reset();
      return fail(ErrorCode::infrastructure, "the execution worker did not start: " + how);
    }
    KERNEVO_CHECK(decode_outcome(answer->text));
    answer.reset();
    if (worker_->send(encode(module_)))
      answer = worker_->receive(kLoadSeconds, &end);
    if (!answer) {
      Finding finding = describe_end(end, kLoadSeconds);
      worker_.reset();
      return finding;
    }
    KERNEVO_TRY(outcome, decode_outcome(answer->text));
    return outcome.fault;
  }

  Gpu gpu_;
  VirtualDeviceLimits limits_;
  LoadMessage module_;
  std::string module_hash_;
  vgpu::FolderStore store_;
  std::optional<WorkerProcess> worker_;
  bool worker_compiles_ = false;
  double instructions_per_warp_ = kInstructionsPerWarp; // the most seen
};

} // namespace

Result<std::unique_ptr<Device>> open_virtual_device(const Gpu& gpu,
                                                    const VirtualDeviceLimits& limits) {
  return std::make_unique<VirtualDevice>(gpu, limits);
}

} // namespace kernevo

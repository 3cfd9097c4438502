// The judge's side: owns the worker, restarts it when a kernel took it down.
#include "kernevo/device/virtual_device.h"

#include "kernevo/base/worker_process.h"
#include "kernevo/device/messages.h"

#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

// The worker stops itself at its own limit; this much later it is considered hung.
constexpr double kGraceSeconds = 5;
constexpr double kLoadSeconds = 60;

class VirtualDevice final : public Device {
public:
  VirtualDevice(Gpu gpu, VirtualDeviceLimits limits) : gpu_(std::move(gpu)), limits_(limits) {}

  const Gpu& gpu() const override { return gpu_; }

  Result<std::optional<Finding>> load(const std::string& ptx, const std::string& file) override {
    module_ = LoadMessage{ptx, file};
    worker_.reset();
    return start();
  }

  Result<RunOutcome> run(const RunRequest& request, const Arena& arena) override {
    if (!worker_) {
      KERNEVO_TRY(refusal, start());
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
    if (answer)
      return decode_outcome(answer->text);
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

  // Starts the worker and loads the module; a finding when the module is at fault.
  Result<std::optional<Finding>> start() {
    KERNEVO_TRY(worker, WorkerProcess::start("execute"));
    worker_ = std::move(worker);
    WorkerEnd end = WorkerEnd::crashed;
    std::optional<Message> answer;
    if (worker_->send(encode(OpenMessage{gpu_.name, limits_.memory_bytes})))
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
  std::optional<WorkerProcess> worker_;
};

} // namespace

Result<std::unique_ptr<Device>> open_virtual_device(const Gpu& gpu,
                                                    const VirtualDeviceLimits& limits) {
  return std::make_unique<VirtualDevice>(gpu, limits);
}

} // namespace kernevo

// The judge's side of one worker on a real GPU: a module in a process of its own, restarted when a
// kernel took it down.
#pragma once

#include "kernevo/base/worker_process.h"
#include "kernevo/device/cuda_count_messages.h"
#include "kernevo/device/cuda_messages.h"
#include "kernevo/device/device.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernevo {

// The processes of ours on a GPU, as NVML lists them.
class CudaProcesses {
public:
  void add(std::int64_t id);
  void remove(std::int64_t id);
  std::vector<std::int64_t> all() const;

private:
  mutable std::mutex mutex_;
  std::multiset<std::int64_t> ids_;
};

// What every session on one GPU knows.
struct CudaGround {
  CudaSettings settings;
  CudaFacts facts;
  std::string name; // "cuda:0"
  CudaProcesses processes;
};

class CudaSession {
public:
  CudaSession(std::shared_ptr<CudaGround> ground, std::string ptx, std::string file,
              std::string cubin, const ModuleLimits& limits);
  CudaSession(const CudaSession&) = delete;
  CudaSession& operator=(const CudaSession&) = delete;
  ~CudaSession();

  bool serves(const CudaLoadMessage& module) const;
  bool alive() const { return worker_.has_value(); }
  const CudaLoadMessage& module() const { return module_; }
  // What the driver took; once it has started.
  CodeForm loaded() const { return loaded_; }

  // Starts the worker and loads the module; a finding when the module is at fault.
  Result<std::optional<Finding>> start();
  Result<RunOutcome> run(const RunRequest& request, const Arena& arena);

  // Of a session that was told to before it started: other work is not disturbed by what counts.
  void want_counters() { with_counters_ = true; }
  Result<CountedRun> count(const RunRequest& request, const Arena& arena,
                           const std::vector<std::string>& counters);

  Result<CudaShotsAnswer> prepare_shots(const RunRequest& request, const Arena& arena, bool cold);
  Result<CudaShotAnswer> shoot();
  Result<CudaShotAnswer> audit();
  Result<void> write(const CudaPartMessage& part, std::span<const std::byte> bytes);
  Result<void> read(const CudaPartMessage& part, std::span<std::byte> bytes);

private:
  // The answer, or how the worker ended: a finding about the module, or the machine's trouble.
  struct End {
    std::optional<Finding> finding;
    std::optional<Error> error;
  };
  tl::expected<std::string, End> ask(const std::string& message, double seconds, int attached = -1);
  End describe_end(WorkerEnd end, double seconds);
  void stop();
  template <class T> Result<T> settle(Result<T> answer);

  std::shared_ptr<CudaGround> ground_;
  CudaLoadMessage module_;
  CodeForm loaded_ = CodeForm::ptx;
  std::int64_t process_ = 0;
  std::optional<WorkerProcess> worker_;
  double shot_seconds_ = 0;
  bool with_counters_ = false;
};

// A worker that knows the GPU and runs nobody's code. Several threads may ask.
class CudaObserver {
public:
  static Result<CudaListing> list(const CudaSettings& settings);
  explicit CudaObserver(CudaSettings settings) : settings_(std::move(settings)) {}

  // GPU number `ordinal`, which must have this id if one is given. Asked of a new process each
  // time: what a driver said before says nothing about now.
  Result<CudaFacts> open(int ordinal, const std::string& uuid);
  Result<GpuTelemetry> look();

private:
  CudaSettings settings_;
  std::mutex mutex_;
  std::optional<WorkerProcess> worker_;
};

} // namespace kernevo

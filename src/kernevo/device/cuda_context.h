// The worker's side of a real GPU: a context with one module, which runs plans and takes shots.
#pragma once

#include "kernevo/device/arena.h"
#include "kernevo/device/cuda_count_messages.h"
#include "kernevo/device/cuda_driver.h"
#include "kernevo/device/cuda_messages.h"
#include "kernevo/device/cupti.h"
#include "kernevo/device/guarded_memory.h"
#include "kernevo/device/ptx_kernels.h"
#include "kernevo/device/stream_hold.h"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernevo {

// What only an instrumented device can do.
bool asks_for_instruments(const RunRequest& request);

class CudaContext {
public:
  static Result<std::unique_ptr<CudaContext>> open(const CudaDriver& driver,
                                                   const CudaFacts& facts);

  Result<CudaLoadAnswer> load(const CudaLoadMessage& message);
  // What a kernel did wrong is the outcome's fault. After a fault on the device the context is of
  // no more use, and broken().
  Result<RunOutcome> run(const RunRequest& request, const Arena& arena);

  // Tensors are copied out of the arena into sets of buffers, which the shots use in turns.
  Result<CudaShotsAnswer> prepare_shots(const CudaShotsMessage& message, const Arena& arena);
  Result<CudaShotAnswer> shoot();
  Result<std::string> write(const CudaPartMessage& part, std::string_view bytes);
  Result<std::string> read(const CudaPartMessage& part);
  // What counters show of the launches of a plan.
  Result<CountedRun> count(const Cupti& cupti, const CudaCountMessage& message, const Arena& arena);
  // Guards and read-only tensors of all sets.
  Result<CudaShotAnswer> audit();

  bool broken() const { return broken_; }

private:
  struct ReadyLaunch {
    driver::Function function = nullptr;
    std::array<unsigned, 3> grid{};
    std::array<unsigned, 3> block{};
    unsigned shared = 0;
    bool together = false;
    std::vector<std::byte> parameters;
    std::vector<std::uint32_t> offsets; // of each parameter
    const Launch* launch = nullptr;
  };
  struct Buffers {
    std::vector<GuardedMemory> all; // tensors, then scratch
    std::vector<ReadyLaunch> launches;
  };
  struct Shots {
    // Launches that are ready point into it.
    std::unique_ptr<RunRequest> request;
    bool cold = true;
    std::vector<Buffers> sets;
    std::vector<GuardedMemory> originals;             // of tensors that are read and written
    std::vector<std::optional<std::size_t>> original; // by tensor: its place among them
    std::vector<std::vector<std::byte>> inputs;       // by tensor: what read-only ones hold
    std::size_t next = 0;
    std::optional<std::size_t> last;
  };
  // Either of both: what the kernel did wrong, or the machine's trouble.
  struct Trouble {
    std::optional<Finding> finding;
    std::optional<Error> error;
  };
  template <class T> using Maybe = tl::expected<T, Trouble>;

  CudaContext(const CudaDriver& driver, CudaFacts facts);

  const driver::Functions& calls() const { return driver_.calls(); }
  tl::unexpected<Trouble> trouble(driver::Status status, const std::string& doing);
  tl::unexpected<Trouble> fault_of_launch(driver::Status status, const Launch& launch,
                                          bool started);
  Result<void> check_request(const RunRequest& request, const Arena& arena) const;
  Maybe<Buffers> allocate(const RunRequest& request, const Arena& arena);
  Maybe<ReadyLaunch> make_ready(const Launch& launch, const RunRequest& request,
                                std::span<const std::uint64_t> pointers);
  Maybe<void> set_attributes(const ReadyLaunch& ready);
  Maybe<void> poison(const Buffers& buffers, const RunRequest& request, bool scratch_only);
  Maybe<void> queue(const ReadyLaunch& ready);
  // Queues all launches between two events; waits until they are done.
  Maybe<double> go(const Buffers& buffers, const RunRequest& request, bool timed, bool cold);
  Maybe<void> wait_for(driver::Event event, double seconds, const RunRequest& request);
  Maybe<void> check_guards(const Buffers& buffers, const RunRequest& request);
  Maybe<void> check_input(const GuardedMemory& memory, std::span<const std::byte> expected,
                          const TensorBinding& tensor, const Launch& launch);
  Maybe<void> upload(const GuardedMemory& memory, std::span<const std::byte> bytes);
  Maybe<RunOutcome> try_run(const RunRequest& request, const Arena& arena);
  Maybe<CudaShotsAnswer> try_prepare(const CudaShotsMessage& message, const Arena& arena);
  // Outputs poisoned, tensors that are read and written as they were.
  Maybe<void> make_fresh(const Buffers& buffers);
  Maybe<double> try_shot();
  Maybe<void> try_audit();
  Maybe<void> flush();
  Maybe<void> put_back(const Buffers& buffers, const RunRequest& request, const Arena& arena);
  Maybe<Granted<bool>> count_pass(Cupti::Session& session, const Buffers& buffers,
                                  const RunRequest& request);
  Maybe<CountedRun> try_count(const Cupti& cupti, const CudaCountMessage& message,
                              const Arena& arena);
  Result<const TensorBinding*> part_of_shots(const CudaPartMessage& part) const;

  const CudaDriver& driver_;
  CudaFacts facts_;
  std::string device_; // "cuda:0"
  std::vector<std::byte> pattern_;
  driver::Context context_ = nullptr;
  driver::Stream stream_ = nullptr;
  std::array<driver::Event, 2> events_{};
  std::optional<StreamHold> hold_;
  driver::Module module_ = nullptr;
  std::optional<PtxKernels> kernels_;
  std::uint64_t memory_bytes_ = 0;
  driver::Address flushed_ = 0; // memory twice as large as L2
  unsigned char flush_value_ = 0;
  std::optional<Shots> shots_;
  bool broken_ = false;
};

} // namespace kernevo

#include "kernevo/device/cuda_context.h"

#include "kernevo/base/printable.h"
#include "kernevo/device/check_outcome.h"
#include "kernevo/device/launch_arguments.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <thread>
#include <utility>

namespace kernevo {
namespace {

namespace status = driver::status;
using SteadyTime = std::chrono::steady_clock;

// A NaN in every floating format: as the judge fills outputs.
constexpr unsigned char kPoison = 0xFF;
// As many commands as every driver takes without waiting for room; a held stream would wait for
// ever.
constexpr std::size_t kMostHeld = 256;
constexpr std::size_t kPiece = std::size_t{16} << 20U; // copied back at a time
// Clusters of more blocks than this must be allowed by name.
constexpr int kPortableCluster = 8;

FindingKind kind_of(driver::Status fault) {
  switch (fault) {
  case status::illegal_address:
  case status::invalid_address_space: return FindingKind::out_of_bounds;
  case status::misaligned_address: return FindingKind::misaligned;
  case status::assertion: return FindingKind::assertion;
  case status::hardware_stack_error: return FindingKind::stack_overflow;
  case status::launch_timeout: return FindingKind::time_limit;
  default: return FindingKind::trap;
  }
}

bool is_fault(driver::Status value) {
  switch (value) {
  case status::illegal_address:
  case status::launch_timeout:
  case status::assertion:
  case status::hardware_stack_error:
  case status::illegal_instruction:
  case status::misaligned_address:
  case status::invalid_address_space:
  case status::invalid_pc:
  case status::launch_failed: return true;
  default: return false;
  }
}

// Nothing comes back from these but by restarting the driver or the machine.
bool is_loss(driver::Status value) {
  return value == status::unknown || value == status::ecc_uncorrectable ||
         value == status::no_device || value == status::system_not_ready;
}

// That launch was never started, for what it asks for.
bool is_refusal(driver::Status value) {
  return value == status::invalid_value || value == status::invalid_configuration ||
         value == status::launch_out_of_resources ||
         value == status::cooperative_launch_too_large || value == status::not_supported;
}

Finding finding_of(FindingKind kind, std::string message) {
  Finding finding;
  finding.kind = kind;
  finding.message = std::move(message);
  return finding;
}

Finding finding_at(FindingKind kind, const Launch& launch, std::string message) {
  Finding finding = finding_of(kind, std::move(message));
  finding.kernel = launch.kernel;
  finding.source_file = launch.place.file;
  finding.source_line = launch.place.line;
  return finding;
}

} // namespace

bool asks_for_instruments(const RunRequest& request) {
  const Instruments& i = request.instruments;
  return i.sanitize || !i.only_blocks.empty() || i.order.shuffled || !i.profile.empty() ||
         !i.tally_regions.empty() || i.on_demand || i.keep_state || i.go_on || i.scramble ||
         std::ranges::any_of(request.tensors, [](const TensorBinding& tensor) {
           return tensor.written_region.has_value() || tensor.recipe.has_value();
         });
}

namespace {

// The regions come from another process.
bool fits(const RunRequest& request, const Arena& arena) {
  return std::ranges::all_of(request.tensors, [&](const TensorBinding& tensor) {
    return tensor.region < arena.regions().size();
  });
}

} // namespace

CudaContext::CudaContext(const CudaDriver& driver, CudaFacts facts)
    : driver_(driver), facts_(std::move(facts)), device_(fmt::format("cuda:{}", facts_.ordinal)),
      pattern_(GuardedMemory::make_pattern()) {}

Result<std::unique_ptr<CudaContext>> CudaContext::open(const CudaDriver& driver,
                                                       const CudaFacts& facts) {
  std::unique_ptr<CudaContext> made(new CudaContext(driver, facts));
  const driver::Functions& calls = driver.calls();
  const std::string doing = fmt::format("start on {}", made->device_);
  driver::DeviceHandle device = 0;
  driver::Context context = nullptr;
  if (const auto done = calls.device_get(&device, facts.ordinal); done != status::success)
    return driver.trouble(done, doing);
  if (const auto done = calls.context_retain(&context, device); done != status::success) {
    if (is_loss(done))
      return tl::unexpected<Error>(lost_device(made->device_, driver.describe(done)));
    auto error = driver.trouble(done, doing);
    error.value().fix = "another program may have all of its memory or the sole use of it: see "
                        "nvidia-smi";
    return error;
  }
  if (const auto done = calls.context_set(context); done != status::success)
    return driver.trouble(done, doing);
  made->context_ = context;
  if (const auto done = calls.stream_create(&made->stream_, driver::kStreamApart);
      done != status::success)
    return driver.trouble(done, doing);
  for (driver::Event& event : made->events_)
    if (const auto done = calls.event_create(&event, 0); done != status::success)
      return driver.trouble(done, doing);
  return made;
}

tl::unexpected<CudaContext::Trouble> CudaContext::trouble(driver::Status value,
                                                          const std::string& doing) {
  Trouble what;
  broken_ = broken_ || is_fault(value) || is_loss(value);
  if (is_fault(value))
    what.finding = finding_of(kind_of(value), driver_.describe(value));
  else if (is_loss(value))
    what.error = lost_device(device_, driver_.describe(value));
  else
    what.error = driver_.trouble(value, fmt::format("{} on {}", doing, device_)).value();
  if (value == status::out_of_memory)
    what.error->fix = "see nvidia-smi for who has its memory; smaller shapes need less";
  return tl::unexpected<Trouble>(std::move(what));
}

tl::unexpected<CudaContext::Trouble>
CudaContext::fault_of_launch(driver::Status value, const Launch& launch, bool started) {
  if (!is_fault(value) && !(is_refusal(value) && !started))
    return trouble(value, fmt::format("launch '{}'", launch.kernel));
  broken_ = broken_ || is_fault(value);
  Trouble what;
  if (is_fault(value))
    what.finding = finding_at(
        kind_of(value), launch,
        fmt::format("'{}' failed on {}: {}", launch.kernel, device_, driver_.describe(value)));
  else
    what.finding = finding_at(
        FindingKind::launch_limit, launch,
        fmt::format("launch of '{}' with grid ({}, {}, {}), block ({}, {}, {}) and {} bytes of "
                    "shared memory{} is refused by {}: {}",
                    launch.kernel, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                    launch.block[1], launch.block[2], launch.dynamic_shared,
                    launch.cooperative ? ", cooperative," : "", device_, driver_.describe(value)));
  return tl::unexpected<Trouble>(std::move(what));
}

Result<CudaLoadAnswer> CudaContext::load(const CudaLoadMessage& message) {
  CudaLoadAnswer answer;
  memory_bytes_ = message.memory_bytes;
  auto kernels = PtxKernels::read(message.ptx, message.file);
  if (!kernels) {
    answer.refusal = finding_of(kernels.error().code == ErrorCode::unsupported
                                    ? FindingKind::unsupported_instruction
                                    : FindingKind::invalid_ptx,
                                format_error(kernels.error()));
    return answer;
  }
  kernels_ = std::move(*kernels);

  std::array<char, 4096> log{};
  std::array<int, 2> options = {driver::kErrorLog, driver::kErrorLogBytes};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)}; // NOLINT
  const auto load_image = [&](const std::string& image) {
    return calls().module_load(&module_, image.c_str(), static_cast<unsigned>(options.size()),
                               options.data(), values.data());
  };
  driver::Status done = status::no_binary_for_gpu;
  if (!message.cubin.empty()) {
    answer.loaded = CodeForm::cubin;
    done = load_image(message.cubin);
  }
  // A driver that is older than the assembler may still know the PTX.
  const bool other = done == status::no_binary_for_gpu || done == status::invalid_image ||
                     done == status::not_supported;
  if (other) {
    answer.loaded = CodeForm::ptx;
    done = load_image(message.ptx);
  }
  if (done == status::success)
    return answer;
  if (done == status::unsupported_ptx_version || done == status::no_binary_for_gpu ||
      done == status::invalid_image)
    return fail(ErrorCode::infrastructure,
                fmt::format("{} cannot load code of this CUDA toolkit: {} (its driver is of CUDA "
                            "{}, the code is for {})",
                            device_, driver_.describe(done), cuda_version(driver_.version()),
                            kernels_->target()),
                std::nullopt,
                "update the driver, or set KERNEVO_CUDA to a toolkit that is no newer than it");
  if (done == status::invalid_ptx) {
    answer.refusal = finding_of(
        FindingKind::invalid_ptx,
        fmt::format("the driver refuses it: {}",
                    log.front() == '\0' ? driver_.describe(done) : printable(log.data())));
    return answer;
  }
  auto what = trouble(done, "load the module");
  if (what.value().error)
    return tl::unexpected<Error>(std::move(*what.value().error));
  answer.refusal = std::move(what.value().finding);
  return answer;
}

CudaContext::Maybe<void> CudaContext::upload(const GuardedMemory& memory,
                                             std::span<const std::byte> bytes) {
  if (bytes.empty())
    return {};
  if (const auto done = calls().copy_to_device(memory.address(), bytes.data(), bytes.size());
      done != status::success)
    return trouble(done, "copy an input");
  return {};
}

CudaContext::Maybe<void> CudaContext::set_attributes(const ReadyLaunch& ready) {
  const auto attribute = [&](driver::FunctionAttribute which) {
    int value = 0;
    return calls().function_attribute(&value, which, ready.function) == status::success ? value : 0;
  };
  if (ready.shared > static_cast<unsigned>(facts_.shared_per_block))
    if (const auto done =
            calls().function_set(ready.function, driver::FunctionAttribute::max_dynamic_shared,
                                 static_cast<int>(ready.shared));
        done != status::success)
      return fault_of_launch(done, *ready.launch, false);
  const int cluster = std::max(attribute(driver::FunctionAttribute::cluster_width), 1) *
                      std::max(attribute(driver::FunctionAttribute::cluster_height), 1) *
                      std::max(attribute(driver::FunctionAttribute::cluster_depth), 1);
  if (cluster > kPortableCluster)
    if (const auto done = calls().function_set(ready.function,
                                               driver::FunctionAttribute::wide_clusters_allowed, 1);
        done != status::success)
      return fault_of_launch(done, *ready.launch, false);
  return {};
}

CudaContext::Maybe<CudaContext::ReadyLaunch>
CudaContext::make_ready(const Launch& launch, const RunRequest& request,
                        std::span<const std::uint64_t> pointers) {
  const auto refused = [&](FindingKind kind, std::string message) {
    Trouble what;
    what.finding = finding_at(kind, launch, std::move(message));
    return tl::unexpected<Trouble>(std::move(what));
  };
  const auto entry = request.entry_names.find(launch.kernel);
  const auto kernel =
      kernels_->find(entry == request.entry_names.end() ? launch.kernel : entry->second);
  if (!kernel)
    return refused(FindingKind::unknown_kernel, format_error(kernel.error()));
  const vgpu::KernelInfo& info = **kernel;
  if (info.parameters.size() != launch.arguments.size())
    return refused(
        FindingKind::bad_argument,
        fmt::format("the launch of '{}' passes {} arguments, but the kernel has {} parameters",
                    launch.kernel, launch.arguments.size(), info.parameters.size()));
  ReadyLaunch ready;
  ready.launch = &launch;
  ready.parameters.resize(info.parameter_bytes);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (const auto problem =
            put_argument(launch.arguments[i], info.parameters[i], i, pointers, ready.parameters))
      return refused(FindingKind::bad_argument,
                     fmt::format("launch of '{}': {}", launch.kernel, *problem));
    ready.offsets.push_back(info.parameters[i].offset);
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    if (launch.grid.at(axis) < 1 || launch.grid.at(axis) > most || launch.block.at(axis) < 1 ||
        launch.block.at(axis) > most || launch.dynamic_shared < 0 || launch.dynamic_shared > most)
      return fault_of_launch(status::invalid_value, launch, false);
    ready.grid.at(axis) = static_cast<unsigned>(launch.grid.at(axis));
    ready.block.at(axis) = static_cast<unsigned>(launch.block.at(axis));
  }
  ready.shared = static_cast<unsigned>(launch.dynamic_shared);
  ready.together = launch.cooperative;
  if (const auto done = calls().module_function(&ready.function, module_, info.name.c_str());
      done != status::success)
    return trouble(done, fmt::format("find '{}'", launch.kernel));
  if (auto set = set_attributes(ready); !set)
    return tl::unexpected<Trouble>(std::move(set.error()));
  return ready;
}

CudaContext::Maybe<CudaContext::Buffers> CudaContext::allocate(const RunRequest& request,
                                                               const Arena& arena) {
  Buffers buffers;
  std::vector<std::uint64_t> pointers;
  std::uint64_t scratch_bytes = 0;
  for (const ScratchBuffer& scratch : request.plan.scratch)
    scratch_bytes += scratch.bytes();
  if (scratch_bytes > memory_bytes_) {
    Trouble what;
    what.finding = finding_of(FindingKind::memory_limit,
                              fmt::format("scratch buffers of {} bytes exceed the limit of {}",
                                          scratch_bytes, memory_bytes_));
    return tl::unexpected<Trouble>(std::move(what));
  }
  const auto add = [&](std::uint64_t bytes) -> Maybe<void> {
    auto memory = GuardedMemory::allocate(driver_, pattern_, bytes);
    if (!memory)
      return trouble(memory.error(), fmt::format("find {} bytes of memory", bytes));
    pointers.push_back(memory->address());
    buffers.all.push_back(std::move(*memory));
    return {};
  };
  for (const TensorBinding& tensor : request.tensors)
    if (auto added = add(arena.region(tensor.region).size()); !added)
      return tl::unexpected<Trouble>(std::move(added.error()));
  for (const ScratchBuffer& scratch : request.plan.scratch)
    if (auto added = add(scratch.bytes()); !added)
      return tl::unexpected<Trouble>(std::move(added.error()));
  for (const Launch& launch : request.plan.launches) {
    auto ready = make_ready(launch, request, pointers);
    if (!ready)
      return tl::unexpected<Trouble>(std::move(ready.error()));
    buffers.launches.push_back(std::move(*ready));
  }
  return buffers;
}

CudaContext::Maybe<void> CudaContext::poison(const Buffers& buffers, const RunRequest& request,
                                             bool scratch_only) {
  for (std::size_t i = 0; i < buffers.all.size(); ++i) {
    const bool scratch = i >= request.tensors.size();
    if (buffers.all[i].bytes() == 0 ||
        (!scratch && (scratch_only || request.tensors[i].initialized)))
      continue;
    if (const auto done =
            calls().fill(buffers.all[i].address(), kPoison, buffers.all[i].bytes(), stream_);
        done != status::success)
      return trouble(done, "fill memory");
  }
  return {};
}

CudaContext::Maybe<void> CudaContext::queue(const ReadyLaunch& ready) {
  std::vector<void*> parameters;
  for (const std::uint32_t offset : ready.offsets)
    parameters.push_back(const_cast<std::byte*>(ready.parameters.data()) + offset); // NOLINT
  const auto [x, y, z] = ready.grid;
  const auto [bx, by, bz] = ready.block;
  const driver::Status done =
      ready.together ? calls().launch_together(ready.function, x, y, z, bx, by, bz, ready.shared,
                                               stream_, parameters.data())
                     : calls().launch(ready.function, x, y, z, bx, by, bz, ready.shared, stream_,
                                      parameters.data(), nullptr);
  if (done != status::success)
    return fault_of_launch(done, *ready.launch, false);
  return {};
}

CudaContext::Maybe<void> CudaContext::flush() {
  // What plays a GPU prices a launch as one that finds L2 cold, and would fill the memory slowly.
  const std::size_t bytes = driver_.stand_in().empty()
                                ? 2 * static_cast<std::size_t>(std::max(facts_.l2_bytes, 1 << 20))
                                : std::size_t{1} << 16U;
  if (flushed_ == 0)
    if (const auto done = calls().memory_allocate(&flushed_, bytes); done != status::success)
      return trouble(done, "find memory to flush L2 with");
  if (calls().forget_persisting_lines != nullptr)
    calls().forget_persisting_lines(); // not every GPU can keep any
  if (const auto done = calls().fill(flushed_, ++flush_value_, bytes, stream_);
      done != status::success)
    return trouble(done, "flush L2");
  return {};
}

CudaContext::Maybe<void> CudaContext::wait_for(driver::Event event, double seconds,
                                               const RunRequest& request) {
  const auto start = SteadyTime::now();
  const auto limit = std::chrono::duration<double>(
      seconds * static_cast<double>(std::max<std::size_t>(request.plan.launches.size(), 1)));
  for (;;) {
    const driver::Status now = calls().event_query(event);
    if (now == status::success)
      return {};
    if (now != status::not_ready)
      return request.plan.launches.empty()
                 ? trouble(now, "run")
                 : fault_of_launch(now, request.plan.launches.front(), true);
    const auto waited = SteadyTime::now() - start;
    if (waited > limit) {
      broken_ = true; // it still runs
      Trouble what;
      what.finding = finding_of(FindingKind::time_limit,
                                fmt::format("did not finish within {:.0f} s on {} and was stopped",
                                            limit.count(), device_));
      return tl::unexpected<Trouble>(std::move(what));
    }
    if (waited > std::chrono::milliseconds(1))
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

CudaContext::Maybe<double> CudaContext::go(const Buffers& buffers, const RunRequest& request,
                                           bool timed, bool cold) {
  // Copies from memory that is not pinned may still be on their way.
  if (const auto done = calls().context_synchronize(); done != status::success)
    return trouble(done, "copy the inputs");
  struct LetGo {
    StreamHold* hold;
    ~LetGo() {
      if (hold != nullptr)
        hold->release();
    }
  } let_go{nullptr};
  if (timed) {
    if (!hold_)
      hold_ = StreamHold::make(driver_);
    if (cold)
      if (auto flushed = flush(); !flushed)
        return tl::unexpected<Trouble>(std::move(flushed.error()));
    if (const auto done = hold_->close(stream_); done != status::success)
      return trouble(done, "hold the stream");
    let_go.hold = &*hold_; // also when queueing fails half way
  }
  if (const auto done = calls().event_record(events_[0], stream_); done != status::success)
    return trouble(done, "record an event");
  std::size_t queued = 0;
  for (const ReadyLaunch& ready : buffers.launches) {
    if (++queued == kMostHeld && let_go.hold != nullptr)
      hold_->release();
    if (auto launched = queue(ready); !launched)
      return tl::unexpected<Trouble>(std::move(launched.error()));
  }
  if (const auto done = calls().event_record(events_[1], stream_); done != status::success)
    return fault_of_launch(done, *buffers.launches.back().launch, true);
  if (let_go.hold != nullptr)
    hold_->release();
  if (auto waited = wait_for(events_[1], request.seconds, request); !waited)
    return tl::unexpected<Trouble>(std::move(waited.error()));
  if (!timed)
    return 0.0;
  float milliseconds = 0;
  if (const auto done = calls().event_elapsed(&milliseconds, events_[0], events_[1]);
      done == status::not_supported && !facts_.stand_in.empty()) {
    Trouble what;
    what.error = Error{ErrorCode::infrastructure,
                       fmt::format("what plays {} cannot model times here: its price worker does "
                                   "not start",
                                   device_),
                       std::nullopt, "'kernevo doctor' looks at what it needs"};
    return tl::unexpected<Trouble>(std::move(what));
  } else if (done != status::success)
    return fault_of_launch(done, *buffers.launches.back().launch, true);
  return static_cast<double>(milliseconds) * 1e6;
}

CudaContext::Maybe<void> CudaContext::check_guards(const Buffers& buffers,
                                                   const RunRequest& request) {
  for (std::size_t i = 0; i < buffers.all.size(); ++i) {
    auto damage = buffers.all[i].damage();
    if (!damage)
      return trouble(damage.error(), "look at the guard zones");
    if (!*damage)
      continue;
    const std::string& name = i < request.tensors.size()
                                  ? request.tensors[i].name
                                  : request.plan.scratch[i - request.tensors.size()].name;
    Trouble what;
    what.finding =
        finding_at(FindingKind::out_of_bounds, request.plan.launches.back(),
                   fmt::format("a kernel wrote outside '{}', {}, on {}", name, **damage, device_));
    what.finding->space = "global";
    what.finding->buffer = fmt::format("{} ({})", name, **damage);
    return tl::unexpected<Trouble>(std::move(what));
  }
  return {};
}

CudaContext::Maybe<void> CudaContext::check_input(const GuardedMemory& memory,
                                                  std::span<const std::byte> expected,
                                                  const TensorBinding& tensor,
                                                  const Launch& launch) {
  std::vector<std::byte> now(std::min(kPiece, expected.size()));
  for (std::size_t at = 0; at < expected.size(); at += now.size()) {
    const auto part = expected.subspan(at, std::min(now.size(), expected.size() - at));
    if (const auto done = calls().copy_to_host(now.data(), memory.address() + at, part.size());
        done != status::success)
      return trouble(done, "look at an input");
    if (std::memcmp(now.data(), part.data(), part.size()) == 0)
      continue;
    const auto changed = std::ranges::mismatch(now, part).in1 - now.begin();
    Trouble what;
    what.finding =
        finding_at(FindingKind::read_only_write, launch,
                   fmt::format("a kernel wrote into the input '{}', at byte {}, on {}", tensor.name,
                               at + static_cast<std::size_t>(changed), device_));
    what.finding->space = "global";
    what.finding->buffer = tensor.name;
    return tl::unexpected<Trouble>(std::move(what));
  }
  return {};
}

CudaContext::Maybe<RunOutcome> CudaContext::try_run(const RunRequest& request, const Arena& arena) {
  auto buffers = allocate(request, arena);
  if (!buffers)
    return tl::unexpected<Trouble>(std::move(buffers.error()));
  for (std::size_t i = 0; i < request.tensors.size(); ++i)
    if (auto done = upload(buffers->all[i], arena.region(request.tensors[i].region)); !done)
      return tl::unexpected<Trouble>(std::move(done.error()));
  if (auto done = poison(*buffers, request, true); !done)
    return tl::unexpected<Trouble>(std::move(done.error()));
  if (auto time = go(*buffers, request, false, false); !time)
    return tl::unexpected<Trouble>(std::move(time.error()));
  if (auto whole = check_guards(*buffers, request); !whole)
    return tl::unexpected<Trouble>(std::move(whole.error()));
  for (std::size_t i = 0; i < request.tensors.size(); ++i) {
    const std::span<std::byte> region = arena.region(request.tensors[i].region);
    if (request.tensors[i].read_only) {
      if (auto kept = check_input(buffers->all[i], region, request.tensors[i],
                                  request.plan.launches.back());
          !kept)
        return tl::unexpected<Trouble>(std::move(kept.error()));
    } else if (!region.empty()) {
      if (const auto done =
              calls().copy_to_host(region.data(), buffers->all[i].address(), region.size());
          done != status::success)
        return trouble(done, "copy an output");
    }
  }
  RunOutcome outcome;
  outcome.blocks_run = static_cast<std::uint64_t>(planned_blocks(request));
  return outcome;
}

Result<void> CudaContext::check_request(const RunRequest& request, const Arena& arena) const {
  if (module_ == nullptr)
    return fail(ErrorCode::infrastructure, "no module is loaded");
  if (asks_for_instruments(request))
    return fail(ErrorCode::unsupported,
                fmt::format("{} has no instruments: sanitizers, samples and counts are the virtual "
                            "GPU's",
                            device_));
  if (!fits(request, arena))
    return fail(ErrorCode::infrastructure, "a tensor lies outside the run's memory");
  return {};
}

Result<RunOutcome> CudaContext::run(const RunRequest& request, const Arena& arena) {
  shots_.reset(); // their memory may be needed
  KERNEVO_CHECK(check_request(request, arena));
  if (request.plan.launches.empty())
    return RunOutcome{};
  auto outcome = try_run(request, arena);
  if (outcome)
    return std::move(*outcome);
  if (outcome.error().finding)
    return RunOutcome::stopped_by(std::move(*outcome.error().finding));
  return tl::unexpected<Error>(std::move(*outcome.error().error));
}

} // namespace kernevo

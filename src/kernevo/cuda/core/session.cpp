#include "kernevo/cuda/core/session.h"

#include "kernevo/cuda/core/contexts.h"
#include "kernevo/cuda/core/fatbin.h"
#include "kernevo/cuda/core/notice.h"
#include "kernevo/cuda/core/pricing.h"
#include "kernevo/cuda/core/recording.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/vgpu/memory/address_window.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace kernevo::cuda {
namespace {

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

// What hardware gives memory in, at least: programs that go a little too far get away with it.
constexpr std::uint64_t kGranule = 512;

vgpu::MachineOptions machine_options() {
  vgpu::MachineOptions options;
  options.sanitize = setting("KERNEVO_SANITIZE", "0") == "1";
  options.granule = options.sanitize ? 0 : kGranule;
  options.cores = std::atoi(setting("KERNEVO_CORES", "0").c_str());
  options.instruction_budget = ~std::uint64_t{0} >> 1U;
  options.memory_limit = std::uint64_t{64} << 30U;
  return options;
}

std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace

Session& Session::get() {
  // Never destroyed: programs free memory from static destructors.
  static auto* session = new Session();
  return *session;
}

vgpu::Machine& Session::machine() {
  if (vgpu::Machine* const made = machine_)
    return *made;
  const std::lock_guard lock(mutex);
  if (machine_ == nullptr) {
    auto gpu = find_gpu(setting("KERNEVO_GPU", "A100"));
    if (!gpu) {
      fmt::print(stderr, "kernevo: {}\n", format_error(gpu.error()));
      std::_Exit(2);
    }
    machine_ = new vgpu::Machine(std::move(*gpu), machine_options());
  }
  return *machine_;
}

void Session::interrupt() {
  if (vgpu::Machine* const made = machine_)
    made->interrupt();
}

Module* Session::add_module(const void* image) {
  const std::lock_guard lock(mutex);
  modules_.push_back(std::make_unique<Module>());
  if (image != nullptr)
    modules_.back()->images.push_back(image);
  return modules_.back().get();
}

bool Session::any_capture_is_open() {
  std::erase_if(captures, [](const std::weak_ptr<const Capture>& one) {
    const auto capture = one.lock();
    return capture == nullptr || !capture->open;
  });
  return !captures.empty();
}

void Session::drop_module(Module* module) {
  const std::lock_guard lock(mutex);
  *module = Module();
  module->unloaded = true;
}

void Session::add_kernel(Module* module, const void* host, const char* name) {
  const std::lock_guard lock(mutex);
  kernels_[host] = Kernel{module, name, host};
}

void Session::add_symbol(Module* module, const void* host, const char* name, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  symbols_[host] = Symbol{module, name, bytes};
}

Kernel* Session::kernel(const void* host) {
  const std::lock_guard lock(mutex);
  const auto found = kernels_.find(host);
  return found == kernels_.end() ? nullptr : &found->second;
}

Symbol* Session::symbol(const void* host) {
  const std::lock_guard lock(mutex);
  const auto found = symbols_.find(host);
  return found == symbols_.end() ? nullptr : &found->second;
}

const vgpu::Program* Session::program(Module& module) {
  const std::lock_guard lock(mutex);
  if (module.program != nullptr || module.error || module.unloaded)
    return module.program.get();
  for (const void* const image : module.images) {
    auto ptx = ptx_of_fat_binary(image, machine().gpu().compute_capability);
    if (ptx)
      std::ranges::move(*ptx, std::back_inserter(module.texts));
    else
      module.error = ptx.error();
  }
  module.images.clear();
  if (!module.error) {
    auto loaded = vgpu::load_program(module.texts, "program.ptx");
    if (loaded) {
      module.program = std::move(*loaded);
      module.source = std::make_shared<const std::vector<std::string>>(module.texts);
    } else {
      module.error = loaded.error();
    }
  }
  nlohmann::json line{{"event", "module"}, {"kernels", nlohmann::json::array()}};
  for (const auto& [host, kernel] : kernels_)
    if (kernel.module == &module)
      line["kernels"].push_back(kernel.name);
  if (module.error) {
    line["error"] = format_error(*module.error);
    fmt::print(stderr, "kernevo: {}\n", format_error(*module.error));
    pricing().add_problem(format_error(*module.error));
  }
  log(dump(line));
  return module.program.get();
}

vgpu::DevicePointer Session::address(const Symbol& symbol) {
  const vgpu::Program* loaded = program(*symbol.module);
  if (loaded == nullptr)
    return 0;
  const auto found = machine().variable(*loaded, symbol.name);
  return found ? *found : 0;
}

bool& null_stream_is_the_threads() {
  static thread_local bool is = false;
  return is;
}

bool is_stream(cudaStream_t handle) {
  return handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread ||
         CUstream_st::has(handle);
}

CUstream_st* stream_of(cudaStream_t handle) {
  if (handle == cudaStreamPerThread || (handle == nullptr && null_stream_is_the_threads())) {
    static thread_local CUstream_st per_thread;
    return &per_thread;
  }
  // Never destroyed: programs may use it until the very end.
  static auto* const legacy = new CUstream_st(QueueKind::legacy);
  return handle == nullptr || handle == cudaStreamLegacy ? legacy : handle;
}

cudaError_t Session::record(CUstream_st& stream, Work work, cudaGraphNodeType type) {
  const std::lock_guard lock(mutex);
  if (!CUgraph_st::has(stream.capture->graph))
    return set_error(cudaErrorStreamCaptureInvalidated);
  stream.last = {stream.capture->graph->add(type, std::move(work), stream.last)};
  return cudaSuccess;
}

namespace {

// The work with what it takes to know when, in virtual time, it is done.
Work timed(const CUstream_st& stream, Work work) {
  if (!pricing().wanted() || work == nullptr)
    return work;
  return [timed = pricing().clock().submit(stream.time), work = std::move(work)] {
    cudaError_t error = cudaSuccess;
    {
      const TimedWork::Scope scope(timed);
      error = work();
    }
    pricing().clock().finished(timed);
    return error;
  };
}

} // namespace

cudaError_t Session::run_recorded(CUstream_st& stream, const Work& work) {
  const std::lock_guard lock(mutex);
  const Recording::Scope scope(Recording::get().number_of(stream));
  const Work whole = timed(stream, work);
  return whole == nullptr ? cudaSuccess : whole();
}

cudaError_t Session::submit(cudaStream_t handle, Work work, cudaGraphNodeType type) {
  need_context();
  if (!is_stream(handle))
    return set_error(cudaErrorInvalidResourceHandle);
  CUstream_st& stream = *stream_of(handle);
  if (stream.capturing())
    return record(stream, std::move(work), type);
  if (const cudaError_t broken = fault(); broken != cudaSuccess)
    return set_error(broken);
  if (!queues_are_ours())
    return set_error(cudaErrorInitializationError);
  if (Recording::is_on())
    note_failure(run_recorded(stream, work));
  else
    stream.queue->add(timed(stream, std::move(work)));
  return cudaSuccess;
}

cudaError_t Session::submit_and_wait(cudaStream_t handle, const Work& work,
                                     cudaGraphNodeType type) {
  need_context();
  if (!is_stream(handle))
    return set_error(cudaErrorInvalidResourceHandle);
  CUstream_st& stream = *stream_of(handle);
  if (stream.capturing())
    return record(stream, work, type);
  if (const cudaError_t broken = fault(); broken != cudaSuccess)
    return set_error(broken);
  if (!queues_are_ours())
    return set_error(cudaErrorInitializationError);
  const cudaError_t error =
      set_error(Recording::is_on() ? run_recorded(stream, work)
                                   : stream.queue->add_and_wait(timed(stream, work)));
  if (Recording::is_on())
    Recording::get().waited_for_stream(Recording::get().number_of(stream));
  if (pricing().wanted())
    pricing().clock().host_waited(stream.time);
  const cudaError_t broken = fault();
  return broken != cudaSuccess ? set_error(broken) : error;
}

cudaError_t Session::pass(cudaStream_t handle, const Work& work) {
  if (!is_stream(handle))
    return cudaErrorInvalidResourceHandle;
  CUstream_st& stream = *stream_of(handle);
  return stream.queue->add_and_wait(timed(stream, work));
}

cudaError_t Session::prepare(PreparedLaunch& launch, const Kernel& kernel, const LaunchShape& shape,
                             void** arguments, bool cooperative) {
  const vgpu::Program* loaded = program(*kernel.module);
  if (loaded == nullptr)
    return cudaErrorInvalidKernelImage;
  const auto info = vgpu::find_kernel(*loaded, kernel.name);
  if (!info)
    return cudaErrorInvalidDeviceFunction;
  // Variables lie where nothing that is executed later decides.
  if (vgpu::AddressWindow::get() != nullptr)
    (void)machine().variables(*loaded);
  launch.kernel = kernel.name;
  launch.program = kernel.module->program; // a graph may run it after the module is unloaded
  launch.source = kernel.module->source;
  vgpu::LaunchConfig& config = launch.config;
  config.kernel = kernel.name;
  config.grid = {shape.grid.x, shape.grid.y, shape.grid.z};
  config.block = {shape.block.x, shape.block.y, shape.block.z};
  config.dynamic_shared = static_cast<std::uint32_t>(shape.shared);
  config.cooperative = cooperative;
  config.cluster = {shape.cluster.x, shape.cluster.y, shape.cluster.z};
  config.parameters.resize(info->parameter_bytes);
  for (std::size_t i = 0; i < info->parameters.size(); ++i) {
    if (arguments == nullptr || arguments[i] == nullptr)
      return cudaErrorInvalidValue;
    std::memcpy(config.parameters.data() + info->parameters[i].offset, arguments[i],
                info->parameters[i].size);
  }
  if (const auto refusal = machine().refusal(*launch.program, config)) {
    notice(fmt::format("{}: {}", name_of(refusal->kind), refusal->message));
    return refusal->kind == FindingKind::bad_argument   ? cudaErrorInvalidValue
           : refusal->kind == FindingKind::invalid_ptx  ? cudaErrorNoKernelImageForDevice
           : refusal->kind == FindingKind::memory_limit ? cudaErrorMemoryAllocation
                                                        : cudaErrorInvalidConfiguration;
  }
  return cudaSuccess;
}

cudaError_t Session::launch(const Kernel& kernel, const LaunchShape& shape, void** arguments,
                            bool cooperative) {
  if (!is_stream(shape.stream))
    return set_error(cudaErrorInvalidResourceHandle);
  auto prepared = std::make_shared<PreparedLaunch>();
  if (const cudaError_t error = prepare(*prepared, kernel, shape, arguments, cooperative);
      error != cudaSuccess)
    return set_error(error);
  const cudaError_t error =
      submit(shape.stream, [this, prepared] { return run(*prepared); }, cudaGraphNodeTypeKernel);
  if (const CUstream_st* const stream = stream_of(shape.stream);
      error == cudaSuccess && stream->capturing())
    stream->last.front()->kernel =
        make_kernel_work({const_cast<void*>(kernel.host), shape.grid, shape.block, // NOLINT
                          static_cast<unsigned>(shape.shared), arguments, nullptr});
  return error;
}

cudaError_t Session::run(const PreparedLaunch& launch) {
  if (const cudaError_t broken = fault(); broken != cudaSuccess)
    return broken;
  if (Recording::is_on())
    Recording::get().launch(launch);
  if (Recording::execution() == Execution::none && !pricing().wanted())
    return cudaSuccess;
  int launches = 0;
  {
    const std::lock_guard lock(mutex);
    launches = ++logged_[launch.kernel];
  }
  if (launches == 1)
    log(dump({{"event", "launch"}, {"kernel", launch.kernel}}));
  const vgpu::LaunchConfig& config = launch.config;
  vgpu::LaunchResult result;
  if (setting("KERNEVO_SANITIZE", "0") == "1") {
    const std::lock_guard lock(one_at_a_time_);
    result = pricing().launch(machine(), *launch.program, config, launch.source);
  } else {
    result = pricing().launch(machine(), *launch.program, config, launch.source);
  }
  if (!result.printed.empty())
    std::fwrite(result.printed.data(), 1, result.printed.size(), stdout);
  if (launches == 1 || result.fault) {
    nlohmann::json line{{"event", result.fault ? "fault" : "ran"},
                        {"kernel", launch.kernel},
                        {"threads", std::uint64_t{config.grid[0]} * config.grid[1] *
                                        config.grid[2] * config.block[0] * config.block[1] *
                                        config.block[2]},
                        {"warp_instructions", result.statistics.warp_instructions}};
    if (result.fault) {
      line["finding"] = name_of(result.fault->kind);
      line["message"] = result.fault->message;
    }
    log(dump(line));
  }
  if (!result.fault)
    return cudaSuccess;
  const std::string finding =
      fmt::format("{}: {}", name_of(result.fault->kind), result.fault->message);
  notice(finding);
  pricing().add_finding(finding);
  switch (result.fault->kind) {
  case FindingKind::launch_limit: return cudaErrorInvalidConfiguration;
  case FindingKind::bad_argument: return cudaErrorInvalidValue;
  case FindingKind::assertion: set_fault(cudaErrorAssert); break;
  default: set_fault(cudaErrorLaunchFailure); break;
  }
  return fault();
}

void Session::log(const std::string& line) {
  static const std::string path = setting("KERNEVO_CUDART_LOG", "");
  const std::lock_guard lock(mutex);
  if (!path.empty())
    std::ofstream(path, std::ios::app) << line << '\n';
}

} // namespace kernevo::cuda

#include "kernevo/cuda/core/session.h"

#include "kernevo/cuda/core/fatbin.h"
#include "kernevo/hardware/gpu_table.h"

#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace kernevo::cuda {
namespace {

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

vgpu::MachineOptions machine_options() {
  vgpu::MachineOptions options;
  options.sanitize = setting("KERNEVO_SANITIZE", "0") == "1";
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
  if (machine_ == nullptr) {
    auto gpu = find_gpu(setting("KERNEVO_GPU", "A100"));
    if (!gpu) {
      fmt::print(stderr, "kernevo: {}\n", format_error(gpu.error()));
      std::_Exit(2);
    }
    machine_ = std::make_unique<vgpu::Machine>(std::move(*gpu), machine_options());
  }
  return *machine_;
}

Module* Session::add_module(const void* image) {
  modules_.push_back(std::make_unique<Module>());
  if (image != nullptr)
    modules_.back()->images.push_back(image);
  return modules_.back().get();
}

void Session::drop_module(Module* module) {
  *module = Module();
  module->unloaded = true;
}

void Session::add_kernel(Module* module, const void* host, const char* name) {
  kernels_[host] = Kernel{module, name, host};
}

void Session::add_symbol(Module* module, const void* host, const char* name, std::size_t bytes) {
  symbols_[host] = Symbol{module, name, bytes};
}

Kernel* Session::kernel(const void* host) {
  const auto found = kernels_.find(host);
  return found == kernels_.end() ? nullptr : &found->second;
}

Symbol* Session::symbol(const void* host) {
  const auto found = symbols_.find(host);
  return found == symbols_.end() ? nullptr : &found->second;
}

const vgpu::Program* Session::program(Module& module) {
  if (module.program != nullptr || module.error || module.unloaded)
    return module.program.get();
  for (const void* const image : module.images) {
    auto ptx = ptx_of_fat_binary(image);
    if (ptx)
      module.texts.push_back(std::move(*ptx));
    else
      module.error = ptx.error();
  }
  module.images.clear();
  if (!module.error) {
    auto loaded = vgpu::load_program(module.texts, "program.ptx");
    if (loaded)
      module.program = std::move(*loaded);
    else
      module.error = loaded.error();
  }
  nlohmann::json line{{"event", "module"}, {"kernels", nlohmann::json::array()}};
  for (const auto& [host, kernel] : kernels_)
    if (kernel.module == &module)
      line["kernels"].push_back(kernel.name);
  if (module.error) {
    line["error"] = format_error(*module.error);
    fmt::print(stderr, "kernevo: {}\n", format_error(*module.error));
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

bool is_stream(cudaStream_t handle) {
  return handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread ||
         CUstream_st::has(handle);
}

CUstream_st* stream_of(cudaStream_t handle) {
  static thread_local CUstream_st per_thread;
  if (handle == cudaStreamPerThread)
    return &per_thread;
  return handle == cudaStreamLegacy ? nullptr : handle;
}

cudaError_t Session::submit(cudaStream_t handle, Work work, cudaGraphNodeType type) {
  if (!is_stream(handle))
    return set_error(cudaErrorInvalidResourceHandle);
  if (CUstream_st* const stream = stream_of(handle); stream != nullptr && stream->capturing()) {
    const std::lock_guard lock(mutex);
    if (!CUgraph_st::has(stream->capture->graph))
      return set_error(cudaErrorStreamCaptureInvalidated);
    stream->last = {stream->capture->graph->add(type, std::move(work), stream->last)};
    return cudaSuccess;
  }
  return set_error(work());
}

cudaError_t Session::launch(const Kernel& kernel, const LaunchShape& shape, void** arguments,
                            bool cooperative) {
  const vgpu::Program* loaded = program(*kernel.module);
  if (loaded == nullptr)
    return set_error(cudaErrorInvalidKernelImage);
  const auto info = vgpu::find_kernel(*loaded, kernel.name);
  if (!info)
    return set_error(cudaErrorInvalidDeviceFunction);
  vgpu::LaunchConfig config;
  config.kernel = kernel.name;
  config.grid = {shape.grid.x, shape.grid.y, shape.grid.z};
  config.block = {shape.block.x, shape.block.y, shape.block.z};
  config.dynamic_shared = static_cast<std::uint32_t>(shape.shared);
  config.cooperative = cooperative;
  config.cluster = {shape.cluster.x, shape.cluster.y, shape.cluster.z};
  config.parameters.resize(info->parameter_bytes);
  if (!is_stream(shape.stream))
    return set_error(cudaErrorInvalidResourceHandle);
  for (std::size_t i = 0; i < info->parameters.size(); ++i) {
    if (arguments == nullptr || arguments[i] == nullptr)
      return set_error(cudaErrorInvalidValue);
    std::memcpy(config.parameters.data() + info->parameters[i].offset, arguments[i],
                info->parameters[i].size);
  }
  const cudaError_t error = submit(
      shape.stream,
      // A graph may launch it after the module is unloaded.
      [this, &kernel, held = kernel.module->program, config = std::move(config)] {
        return run(kernel, *held, config);
      },
      cudaGraphNodeTypeKernel);
  if (const CUstream_st* const stream = stream_of(shape.stream);
      error == cudaSuccess && stream != nullptr && stream->capturing())
    stream->last.front()->kernel =
        make_kernel_work({const_cast<void*>(kernel.host), shape.grid, shape.block, // NOLINT
                          static_cast<unsigned>(shape.shared), arguments, nullptr});
  return error;
}

cudaError_t Session::run(const Kernel& kernel, const vgpu::Program& program,
                         const vgpu::LaunchConfig& config) {
  if (broken_)
    return cudaErrorLaunchFailure;
  const int launches = ++logged_[kernel.name];
  if (launches == 1)
    log(dump({{"event", "launch"}, {"kernel", kernel.name}}));
  std::fflush(stdout);
  const vgpu::LaunchResult result = machine().launch(program, config);
  std::fwrite(result.printed.data(), 1, result.printed.size(), stdout);
  if (launches == 1 || result.fault) {
    nlohmann::json line{{"event", result.fault ? "fault" : "ran"},
                        {"kernel", kernel.name},
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
  fmt::print(stderr, "kernevo: {}: {}\n", name_of(result.fault->kind), result.fault->message);
  if (result.fault->kind == FindingKind::launch_limit)
    return cudaErrorInvalidConfiguration;
  if (result.fault->kind == FindingKind::bad_argument)
    return cudaErrorInvalidValue;
  broken_ = true;
  return result.fault->kind == FindingKind::assertion ? cudaErrorAssert : cudaErrorLaunchFailure;
}

cudaError_t Session::set_error(cudaError_t error) {
  if (error != cudaSuccess)
    error_ = error;
  return error;
}

cudaError_t Session::last_error(bool clear) {
  const cudaError_t error = error_;
  if (clear && !broken_)
    error_ = cudaSuccess;
  return error;
}

void Session::log(const std::string& line) {
  static const std::string path = setting("KERNEVO_CUDART_LOG", "");
  if (!path.empty())
    std::ofstream(path, std::ios::app) << line << '\n';
}

} // namespace kernevo::cuda

// The state behind both interfaces, the runtime's and the driver's: one virtual GPU per process and
// the modules and symbols the program registered. Work is given to streams (queue.h) or recorded by
// those that are being captured.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/cuda/core/graph.h"
#include "kernevo/cuda/core/last_error.h"
#include "kernevo/cuda/core/live.h"
#include "kernevo/cuda/core/stream_clock.h"
#include "kernevo/vgpu/execute/machine.h"

#include <atomic>
#include <chrono>
#include <cuda_runtime_api.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

struct CUevent_st : kernevo::cuda::Live<CUevent_st> {
  // When its last record was reached; shared with the work that reaches it.
  struct Reached {
    std::chrono::steady_clock::time_point at;
  };
  std::shared_ptr<Reached> reached;               // null: never recorded
  std::shared_ptr<kernevo::cuda::EventTime> time; // where times are modelled
  kernevo::cuda::Point point;
  bool timed = true;
  unsigned flags = 0;
  CUctx_st* context = nullptr;
  std::uint64_t recorded = 0; // the number in the trace (recording.h)
  // Where a captured stream stood when it recorded the event.
  std::shared_ptr<kernevo::cuda::Capture> capture;
  std::vector<CUgraphNode_st*> nodes;
};

namespace kernevo::cuda {

struct Module : Live<Module> {
  std::vector<const void*> images; // fat binaries; several are linked
  std::vector<std::string> texts;  // the same as PTX, for modules that come so
  std::shared_ptr<const std::vector<std::string>> source;     // what the program was made of
  std::vector<std::pair<std::string, const void*>> functions; // the driver's handles of kernels
  std::shared_ptr<const vgpu::Program> program; // null until first use, or when it cannot be loaded
  std::optional<Error> error;
  bool unloaded = false;
};

struct Kernel {
  Module* module = nullptr;
  std::string name;
  const void* host = nullptr; // what the program calls it
  int max_dynamic_shared = 0;
};

struct Symbol {
  Module* module = nullptr;
  std::string name;
  std::size_t bytes = 0;
};

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  dim3 cluster = dim3(1, 1, 1);
};

// A kernel with everything it needs to run, now or whenever its graph does.
struct PreparedLaunch {
  std::string kernel;
  std::shared_ptr<const vgpu::Program> program;
  std::shared_ptr<const std::vector<std::string>> source; // of the program
  vgpu::LaunchConfig config;
};

class Session {
public:
  static Session& get();

  // Creates the GPU on first use; ends the program when the environment asks for an unknown one.
  vgpu::Machine& machine();
  // Ends launches that are running; nobody will see what they left.
  void interrupt();

  Module* add_module(const void* image);
  // Everything but its entry in the list, which symbols may still name.
  void drop_module(Module* module);
  void add_kernel(Module* module, const void* host, const char* name);
  void add_symbol(Module* module, const void* host, const char* name, std::size_t bytes);

  // Null when the address was never registered.
  Kernel* kernel(const void* host);
  Symbol* symbol(const void* host);
  // Loads the module if need be. Null when it cannot be; the reason is logged once.
  const vgpu::Program* program(Module& module);
  // Where the symbol lives; 0 when its module cannot be loaded.
  vgpu::DevicePointer address(const Symbol& symbol);

  // Gives the work to the stream, or records it when the stream is being captured.
  cudaError_t submit(cudaStream_t stream, Work work,
                     cudaGraphNodeType type = cudaGraphNodeTypeMemcpy);
  // The same, and waits until it is done.
  cudaError_t submit_and_wait(cudaStream_t stream, const Work& work,
                              cudaGraphNodeType type = cudaGraphNodeTypeMemcpy);
  // Waits for it as the host's own doing: in virtual time nobody waits.
  cudaError_t pass(cudaStream_t stream, const Work& work);
  // What can be known to be wrong without running it is refused here.
  cudaError_t prepare(PreparedLaunch& launch, const Kernel& kernel, const LaunchShape& shape,
                      void** arguments, bool cooperative);
  cudaError_t run(const PreparedLaunch& launch);
  cudaError_t launch(const Kernel& kernel, const LaunchShape& shape, void** arguments,
                     bool cooperative);

  // One JSON object per line to the file KERNEVO_CUDART_LOG names, if it names one.
  void log(const std::string& line);

  std::recursive_mutex mutex;                           // never held while work is done
  std::map<std::uint64_t, cudaMemoryType> memory_types; // of allocations that are not the device's
  // Graphs have it again at each launch: their nodes allocate it, or it was allocated while they
  // were captured.
  std::set<std::uint64_t> graph_memory;
  std::vector<std::weak_ptr<const Capture>> captures;
  bool any_capture_is_open(); // under the mutex

private:
  Session() = default;
  cudaError_t record(CUstream_st& stream, Work work, cudaGraphNodeType type);
  // In this thread, when what is given to streams is written down.
  cudaError_t run_recorded(CUstream_st& stream, const Work& work);

  std::atomic<vgpu::Machine*> machine_ = nullptr; // never destroyed
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<const void*, Kernel> kernels_;
  std::map<const void*, Symbol> symbols_;
  std::map<std::string, int> logged_; // kernel -> launches
  std::mutex one_at_a_time_;          // launches under the sanitizer
};

} // namespace kernevo::cuda

// What kernevo's own Python (python/kernevo_judge) asks of this library beside CUDA: to record what
// a program does, and to put another process into the same place. 0 is success; kernevo_last_words
// says what else went wrong in this thread.
#include "kernevo/cuda/core/contexts.h"
#include "kernevo/cuda/core/modules.h"
#include "kernevo/cuda/core/pricing.h"
#include "kernevo/cuda/core/recording.h"
#include "kernevo/cuda/core/streams.h"
#include "kernevo/vgpu/memory/address_window.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)
using kernevo::ErrorCode;
using kernevo::fail;
using kernevo::Result;
using kernevo::vgpu::AddressWindow;

namespace {

std::string& last_words() {
  static thread_local std::string words;
  return words;
}

int told(const Result<void>& result) {
  last_words() = result ? "" : format_error(result.error());
  return result ? 0 : 1;
}

int refused(const char* why) {
  return told(fail(ErrorCode::input, why));
}

// Zeros need not be said: memory is that when it is made.
constexpr std::size_t kPiece = std::size_t{64} << 10U;

bool is_zero(const std::byte* from, std::size_t bytes) {
  return bytes == 0 || (from[0] == std::byte{0} && std::memcmp(from, from + 1, bytes - 1) == 0);
}

bool write_piece(std::FILE* file, std::uint64_t address, std::uint64_t bytes,
                 const std::byte* from) {
  return std::fwrite(&address, sizeof address, 1, file) == 1 &&
         std::fwrite(&bytes, sizeof bytes, 1, file) == 1 &&
         std::fwrite(from, 1, bytes, file) == bytes;
}

// Runs of pieces that are not all zeros: address, length, content.
bool write_content(std::FILE* file, std::span<const std::byte> whole) {
  std::size_t start = 0; // of the run
  std::size_t at = 0;
  const auto end_run = [&] {
    return at == start ||
           write_piece(file, address_of(whole.data() + start), at - start, whole.data() + start);
  };
  while (at < whole.size()) {
    const std::size_t bytes = std::min(kPiece, whole.size() - at);
    if (!is_zero(whole.data() + at, bytes)) {
      at += bytes;
      continue;
    }
    if (!end_run())
      return false;
    at += bytes;
    start = at;
  }
  return end_run();
}

Result<void> write_snapshot(const char* path) {
  const AddressWindow* const window = AddressWindow::get();
  if (window == nullptr)
    return fail(ErrorCode::usage, "no window of addresses is reserved");
  Session& session = Session::get();
  wait_for_all_work();
  const std::lock_guard lock(session.mutex);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "we"), &std::fclose);
  bool written = file != nullptr;
  for (const std::uint64_t address : window->taken()) {
    const auto type = session.memory_types.find(address);
    if (type == session.memory_types.end() || type->second != cudaMemoryTypeHost)
      written = written && write_content(file.get(), session.machine().bytes(address));
  }
  const std::uint64_t end[2] = {0, 0};
  written =
      written && std::fwrite(end, sizeof end, 1, file.get()) == 1 && std::fflush(file.get()) == 0;
  if (!written)
    return fail(ErrorCode::infrastructure, "the snapshot cannot be written");
  return {};
}

} // namespace

extern "C" {

// As python/kernevo_judge/virtual_gpu.py has it.
struct KernevoLaunch {
  unsigned grid[3];
  unsigned block[3];
  unsigned cluster[3];
  unsigned shared;
  int cooperative;
  std::uint64_t parameter_bytes;
  std::byte* parameters;
  cudaStream_t stream;
};

const char* kernevo_last_words() {
  return last_words().c_str();
}

// All device memory of this process comes from it from now on.
int kernevo_reserve_window(std::uint64_t bytes) {
  return told(AddressWindow::reserve(bytes));
}

// Device memory exactly there; other memory lies outside the window from then on. cudaFree frees
// it.
int kernevo_allocate_at(std::uint64_t address, std::uint64_t bytes) {
  need_context();
  if (address == 0 || bytes == 0)
    return refused("there is no memory of that address or size");
  kernevo::vgpu::AllocationOptions options;
  options.at = address;
  const auto made = Session::get().machine().allocate(bytes, "cudaMalloc", options);
  return made ? told({}) : told(tl::unexpected<kernevo::Error>(made.error()));
}

// Loads a module of these texts; its variables lie at these addresses, in the order in which the
// trace of a recording names them.
int kernevo_load_module(const char* const* texts, std::size_t count, const std::uint64_t* addresses,
                        std::size_t variables, void** module) {
  need_context();
  if (AddressWindow::get() == nullptr)
    return refused("no window of addresses is reserved");
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  Module* loaded = nullptr;
  if (load_texts(&loaded, {texts, texts + count}) != cudaSuccess)
    return refused("the module cannot be loaded");
  AddressWindow::get()->place_next({addresses, addresses + variables});
  const auto placed = session.machine().variables(*loaded->program);
  AddressWindow::get()->place_next({});
  if (!placed)
    return told(tl::unexpected<kernevo::Error>(placed.error()));
  const bool same = placed->size() == variables &&
                    std::equal(placed->begin(), placed->end(), addresses,
                               [](const auto& one, std::uint64_t at) { return one.address == at; });
  if (!same)
    return refused("the module has other variables");
  *module = loaded;
  return told({});
}

// A kernel of such a module with its parameters as the trace has them.
int kernevo_replay_launch(void* module, const char* name, const KernevoLaunch* launch) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  const void* key = nullptr;
  if (find_function(&key, static_cast<Module*>(module), name) != cudaSuccess)
    return refused("the module has no such kernel");
  const Kernel& kernel = *session.kernel(key);
  const auto info = kernevo::vgpu::find_kernel(*session.program(*kernel.module), kernel.name);
  if (!info || info->parameter_bytes != launch->parameter_bytes)
    return refused("the kernel has other parameters");
  std::vector<void*> arguments;
  for (const auto& parameter : info->parameters)
    arguments.push_back(launch->parameters + parameter.offset);
  const auto dimensions = [](const unsigned* of) { return dim3(of[0], of[1], of[2]); };
  const LaunchShape shape{dimensions(launch->grid), dimensions(launch->block), launch->shared,
                          launch->stream, dimensions(launch->cluster)};
  const cudaError_t error =
      session.launch(kernel, shape, arguments.data(), launch->cooperative != 0);
  return error == cudaSuccess ? told({}) : refused(cudaGetErrorString(error));
}

// 0 all, 1 nothing on the device, 2 of launches the blocks that are counted.
int kernevo_execution(int mode) {
  if (mode < 0 || mode > 2)
    return refused("there is no such way to execute");
  Recording::set_execution(static_cast<Execution>(mode));
  return told({});
}

// Begins to write trace.jsonl and trace.data in the folder; null ends it.
int kernevo_record(const char* folder) {
  need_context();
  if (folder != nullptr)
    return told(Recording::get().open(folder));
  wait_for_all_work(); // without a line that says so: nobody in the program has waited
  return told(Recording::get().close());
}

// What memory of the device holds.
int kernevo_snapshot(const char* file) {
  return told(write_snapshot(file));
}

std::uint64_t kernevo_read_back_bytes() {
  return Recording::get().read_back();
}

// Starts what knows prices, as long as this process may start programs.
int kernevo_start_prices() {
  return told(pricing().start());
}

// Writes the report of a process that does not exit by itself.
int kernevo_finish_prices() {
  wait_for_all_work();
  pricing().close();
  return told({});
}

// For operators: bit 0, a recording is under way; the rest, what is executed.
unsigned kernevo_recording_state() {
  return (Recording::is_on() ? 1U : 0U) | static_cast<unsigned>(Recording::execution()) << 1U;
}

// `fields`: of an object of JSON. Inside a graph that is being run the stream is the graph's.
int kernevo_record_operator(cudaStream_t stream, const char* fields, std::size_t bytes) {
  if (!is_stream(stream))
    return refused("there is no such stream");
  if (Recording::is_on())
    Recording::get().call_operator(Recording::get().number_of(*stream_of(stream)),
                                   std::string_view(fields, bytes));
  return told({});
}

int kernevo_record_refusal(const char* what) {
  if (Recording::is_on())
    Recording::get().refuse(what);
  return told({});
}

void kernevo_record_read_back(std::uint64_t bytes) {
  Recording::get().read(bytes);
}

} // extern "C"

// Memory of results: what a CPU operator allocates while it stands in for a GPU's is memory that
// the virtual GPU knows, so that kernels may be given it as it is.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/Storage.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>

#include <cstring>

namespace kernevo {

inline c10::Device current_gpu() {
  return {c10::kCUDA, c10::cuda::current_device()};
}

inline bool is_device_memory(const void* pointer) {
  cudaPointerAttributes attributes{};
  return pointer != nullptr && cudaPointerGetAttributes(&attributes, pointer) == cudaSuccess &&
         attributes.type == cudaMemoryTypeDevice;
}

// The CPU's allocator, with a switch for this thread.
class ResultAllocator final : public c10::Allocator {
public:
  explicit ResultAllocator(c10::Allocator* plain) : plain_(plain) {}

  c10::DataPtr allocate(size_t bytes) override {
    if (!on_device_ || bytes == 0)
      return plain_->allocate(bytes);
    c10::DataPtr memory = c10::cuda::CUDACachingAllocator::get()->allocate(bytes);
    memory.unsafe_set_device(c10::Device(c10::kCPU));
    return memory;
  }
  // Some libraries carry plain pointers about and free them here.
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

  // From here to the end of the scope, in this thread.
  class OnDevice {
  public:
    explicit OnDevice(bool on) : before_(on_device_) { on_device_ = on; }
    ~OnDevice() { on_device_ = before_; }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

  private:
    bool before_;
  };

  static ResultAllocator& get() {
    static auto* const allocator = new ResultAllocator(c10::GetCPUAllocator());
    return *allocator;
  }

private:
  static void release(void* pointer) {
    if (is_device_memory(pointer))
      c10::cuda::CUDACachingAllocator::get()->raw_deleter()(pointer);
    else
      get().plain_->raw_deleter()(pointer);
  }

  c10::Allocator* plain_;
  static inline thread_local bool on_device_ = false;
};

// The memory of a storage the CPU made, as the GPU's; copied where the virtual GPU does not know
// it.
inline c10::Storage as_device_storage(const c10::Storage& made) {
  c10::Allocator* const device = c10::cuda::CUDACachingAllocator::get();
  const size_t bytes = made.nbytes();
  c10::DataPtr memory;
  if (made.data_ptr().get_deleter() == device->raw_deleter()) {
    memory = made.set_data_ptr(c10::DataPtr(nullptr, c10::Device(c10::kCPU)));
    memory.unsafe_set_device(current_gpu());
  } else {
    memory = device->allocate(bytes);
    if (bytes > 0)
      std::memcpy(memory.get(), made.data(), bytes);
  }
  return {c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                                std::move(memory), device, true)};
}

} // namespace kernevo

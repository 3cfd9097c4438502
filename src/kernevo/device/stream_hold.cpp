#include "kernevo/device/stream_hold.h"

#include <array>
#include <atomic>

namespace kernevo {
namespace {

namespace status = driver::status;

// The way out should nobody let the stream go on: the kernel gives up by itself.
constexpr std::uint64_t kLongestHold = 10'000'000'000; // ns

// One thread that waits for a word to become `turn`.
constexpr const char* kHoldKernel = R"(.version 6.4
.target sm_70
.address_size 64
.visible .entry kernevo_hold(.param .u64 word, .param .u64 limit, .param .u32 turn)
{
  .reg .pred %p<3>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [word];
  ld.param.u64 %rd2, [limit];
  ld.param.u32 %r1, [turn];
  mov.u64 %rd3, %globaltimer;
AGAIN:
  ld.volatile.global.u32 %r2, [%rd1];
  setp.eq.u32 %p1, %r2, %r1;
  @%p1 bra DONE;
  mov.u64 %rd4, %globaltimer;
  sub.u64 %rd5, %rd4, %rd3;
  setp.lt.u64 %p2, %rd5, %rd2;
  @%p2 bra AGAIN;
DONE:
  ret;
}
)";

driver::Function load_kernel_that_holds(const driver::Functions& calls) {
  driver::Module module = nullptr;
  driver::Function function = nullptr;
  if (calls.module_load(&module, kHoldKernel, 0, nullptr, nullptr) != status::success ||
      calls.module_function(&function, module, "kernevo_hold") != status::success)
    return nullptr;
  return function;
}

} // namespace

StreamHold StreamHold::make(const CudaDriver& driver) {
  const driver::Functions& calls = driver.calls();
  StreamHold hold;
  hold.driver_ = &driver;
  void* word = nullptr;
  if (calls.host_allocate == nullptr || calls.host_address == nullptr ||
      calls.host_allocate(&word, sizeof *hold.word_, driver::kHostMapped) != status::success ||
      calls.host_address(&hold.address_, word, 0) != status::success)
    return hold;
  hold.word_ = static_cast<std::uint32_t*>(word);
  *hold.word_ = 0;
  // Asked with a value that is there already, so that nothing waits.
  driver::Stream stream = nullptr;
  if (calls.wait_for_value != nullptr &&
      calls.stream_create(&stream, driver::kStreamApart) == status::success &&
      calls.wait_for_value(stream, hold.address_, 0, driver::kWaitForEqual) == status::success &&
      calls.context_synchronize() == status::success) {
    hold.name_ = "held by a stream operation";
    return hold;
  }
  // A stand-in may do its work when it is asked for it, and would then wait for itself.
  if (driver.stand_in().empty())
    hold.kernel_ = load_kernel_that_holds(calls);
  if (hold.kernel_ != nullptr)
    hold.name_ = "held by a kernel";
  else
    hold.word_ = nullptr;
  return hold;
}

driver::Status StreamHold::close(driver::Stream stream) {
  if (word_ == nullptr)
    return status::success;
  ++turn_;
  const driver::Functions& calls = driver_->calls();
  if (kernel_ == nullptr)
    return calls.wait_for_value(stream, address_, turn_, driver::kWaitForEqual);
  std::uint64_t limit = kLongestHold;
  std::array<void*, 3> parameters = {&address_, &limit, &turn_};
  return calls.launch(kernel_, 1, 1, 1, 1, 1, 1, 0, stream, parameters.data(), nullptr);
}

void StreamHold::release() {
  if (word_ != nullptr)
    std::atomic_ref(*word_).store(turn_, std::memory_order_release);
}

} // namespace kernevo

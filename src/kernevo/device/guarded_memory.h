// Device memory with guard zones: before and after each buffer lie random bytes, which are looked
// at after every run. Whoever wrote beyond a buffer wrote into them.
#pragma once

#include "kernevo/device/cuda_driver.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

class GuardedMemory {
public:
  // Of the current context, which must outlive it. The guards hold what `pattern` says, which is
  // kGuard bytes long.
  static constexpr std::size_t kGuard = std::size_t{256} << 10U;
  static std::vector<std::byte> make_pattern();

  // An error of the driver's; CUDA_ERROR_OUT_OF_MEMORY where there is too little.
  static tl::expected<GuardedMemory, driver::Status>
  allocate(const CudaDriver& driver, const std::vector<std::byte>& pattern, std::uint64_t bytes);
  GuardedMemory(GuardedMemory&& other) noexcept;
  GuardedMemory& operator=(GuardedMemory&& other) noexcept;
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();

  driver::Address address() const { return base_ + kGuard; }
  std::uint64_t bytes() const { return bytes_; }
  // "12 bytes before its start", "64 bytes past its end": where the guards changed first, seen from
  // the buffer; nothing when they are whole.
  tl::expected<std::optional<std::string>, driver::Status> damage() const;

private:
  GuardedMemory() = default;

  const CudaDriver* driver_ = nullptr;
  const std::vector<std::byte>* pattern_ = nullptr;
  driver::Address base_ = 0;
  std::uint64_t bytes_ = 0;
};

} // namespace kernevo

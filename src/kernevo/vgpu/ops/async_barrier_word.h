// The 64-bit word of an mbarrier object. PTX keeps it opaque; the state that arrive returns is the
// word as it was before.
#pragma once

#include <cstdint>

namespace kernevo::vgpu::ops {

struct BarrierWord {
  std::uint32_t phase = 0;       // 1 bit: parity of the phase in progress
  std::uint32_t expected = 0;    // 20 bits: arrivals of the next phase
  std::uint32_t pending = 0;     // 20 bits: arrivals the phase in progress still waits for
  std::int32_t transactions = 0; // 22 bits, signed: bytes the phase still waits for

  static constexpr std::uint32_t kMaxCount = (1U << 20U) - 1;
  static constexpr std::uint64_t kMagic = 1; // top bit: an initialised object is never zero

  static BarrierWord initial(std::uint32_t count) { return {0, count, count, 0}; }

  static BarrierWord decode(std::uint64_t word) {
    BarrierWord barrier;
    barrier.phase = static_cast<std::uint32_t>(word & 1U);
    barrier.expected = static_cast<std::uint32_t>(word >> 1U) & kMaxCount;
    barrier.pending = static_cast<std::uint32_t>(word >> 21U) & kMaxCount;
    barrier.transactions =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(word >> 41U) << 10U) >> 10;
    return barrier;
  }
  static bool is_valid(std::uint64_t word) { return word >> 63U == kMagic; }
  std::uint64_t encode() const {
    return kMagic << 63U |
           (std::uint64_t{static_cast<std::uint32_t>(transactions)} & 0x3FFFFFU) << 41U |
           std::uint64_t{pending} << 21U | std::uint64_t{expected} << 1U | phase;
  }

  // False when more arrive than the phase waits for.
  bool arrive(std::uint32_t count) {
    if (count > pending)
      return false;
    pending -= count;
    complete_if_due();
    return true;
  }
  bool drop(std::uint32_t count) {
    if (count > expected)
      return false;
    expected -= count;
    return arrive(count);
  }
  void expect_transactions(std::uint32_t bytes) {
    transactions += static_cast<std::int32_t>(bytes);
  }
  void complete_transactions(std::uint32_t bytes) {
    transactions -= static_cast<std::int32_t>(bytes);
    complete_if_due();
  }
  bool completed_phase(std::uint32_t parity) const { return phase != (parity & 1U); }

private:
  void complete_if_due() {
    if (pending != 0 || transactions != 0)
      return;
    phase ^= 1U;
    pending = expected;
  }
};

} // namespace kernevo::vgpu::ops

// A stretch of addresses that is the same in every process that reserves it. Device memory taken
// from it lies where the order of the calls says, so that another process can have the same
// addresses. Thread-safe.
#pragma once

#include "kernevo/base/result.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

namespace kernevo::vgpu {

class AddressWindow {
public:
  // Null in a process that has reserved none.
  static AddressWindow* get();
  static Result<void> reserve(std::uint64_t bytes);

  // The lowest place where it fits, or the next that was asked for. Zeros.
  Result<std::byte*> take(std::uint64_t bytes);
  // Exactly there. From then on others lie outside, where they are in nobody's way.
  Result<std::byte*> take_at(std::uint64_t address, std::uint64_t bytes);
  void give_back(std::uint64_t address);
  // Where the next ones go, in this order.
  void place_next(std::vector<std::uint64_t> addresses);
  // Whether what names no address belongs here.
  bool serves_others() const;

  std::uint64_t base() const { return base_; }
  std::uint64_t bytes() const { return bytes_; }
  // What is taken, ascending.
  std::vector<std::uint64_t> taken() const;

private:
  AddressWindow(std::uint64_t base, std::uint64_t bytes) : base_(base), bytes_(bytes) {}
  Result<std::byte*> open(std::uint64_t address, std::uint64_t bytes);

  std::uint64_t base_;
  std::uint64_t bytes_;
  mutable std::mutex mutex_;                     // of what follows
  std::map<std::uint64_t, std::uint64_t> taken_; // whole pages
  std::deque<std::uint64_t> next_;
  bool exact_ = false;
};

} // namespace kernevo::vgpu

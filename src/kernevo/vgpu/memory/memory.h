// Device memory: allocations in an interval table. A device pointer is the host address of its
// storage. Kernels read the table without locks while others change it: a change makes a new table,
// and what is gone stays until no launch can know it any more. What kernels allocate themselves
// lives in the device heap.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/vgpu/memory/allocation_options.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernevo::vgpu {

// Anonymous memory with unreachable pages on both sides.
class Mapping {
public:
  Mapping() = default;
  static Result<Mapping> create(std::uint64_t bytes);
  // In the process's window of addresses, where it has one: at `address`, or anywhere when 0.
  static Result<Mapping> of_device(std::uint64_t bytes, std::uint64_t address);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::byte* data() const { return data_; }
  explicit operator bool() const { return data_ != nullptr; }

private:
  std::byte* data_ = nullptr;
  std::byte* whole_ = nullptr;
  std::size_t whole_bytes_ = 0;
  bool in_window_ = false;
};

struct Allocation {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::uint64_t readable = 0; // an access may reach so far (MachineOptions::granule)
  std::string name;
  bool read_only = false;
  bool initialized = true;
  bool strict = false;             // reads of what nobody has written are faults in every mode
  bool constant = false;           // module .const memory
  Mapping storage;                 // empty when adopted
  Mapping flags;                   // behind `written`
  std::uint8_t* written = nullptr; // one flag per byte, or null when nobody asks
  // Content made on first touch: no access before pages->need(), or null.
  std::unique_ptr<LazyPages> pages;

  std::uint64_t end() const { return base + bytes; }
  // [first, last); a wrapped-around interval is never covered.
  bool covers(std::uint64_t first, std::uint64_t last) const {
    return first >= base && first <= last && last <= end();
  }
};

// malloc and free of device code.
class DeviceHeap {
public:
  explicit DeviceHeap(std::uint64_t capacity) : capacity_(capacity) {}

  std::uint64_t allocate(std::uint64_t bytes); // 0 when full
  bool free(std::uint64_t address);            // false: not the start of a live block
  struct Block {
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
  };
  // The live block that holds the address.
  std::optional<Block> find(std::uint64_t address);
  bool contains(std::uint64_t address) const { return storage_ && address - base_ < capacity_; }

private:
  std::mutex mutex_;
  std::uint64_t capacity_;
  Mapping storage_;
  std::uint64_t base_ = 0;
  std::map<std::uint64_t, std::uint64_t> live_; // base -> bytes
};

class Memory {
public:
  Memory(std::uint64_t limit, bool sanitize, std::uint64_t granule = 1);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  Result<Allocation*> allocate(std::uint64_t bytes, const std::string& name,
                               AllocationOptions options);
  Result<Allocation*> adopt(std::span<std::byte> storage, const std::string& name,
                            AllocationOptions options);
  bool free(std::uint64_t base);

  // The allocation that holds the address, or null. What is found may go at any time, but for who
  // holds the lock or runs a launch.
  Allocation* find(std::uint64_t address) const;
  // The one that holds it or ends so shortly before it that kernels may reach it.
  Allocation* find_readable(std::uint64_t address) const;
  // The one closest to an address outside all of them, or null when there is none.
  const Allocation* nearest(std::uint64_t address) const;
  DeviceHeap& heap() { return heap_; }
  std::uint64_t used() const {
    const auto held = lock();
    return used_;
  }

  std::unique_lock<std::recursive_mutex> lock() const { return std::unique_lock(mutex_); }
  // Around a launch.
  void enter();
  void leave();

private:
  // By address; the pointers are to what is in owned_ and gone_.
  using Table = std::vector<Allocation*>;

  Result<Allocation*> insert(std::unique_ptr<Allocation> allocation, AllocationOptions options);
  const Table& table() const { return *table_.load(std::memory_order_acquire); }
  void publish(std::unique_ptr<Table> table);
  Allocation* last_from(std::uint64_t address) const;

  std::uint64_t limit_;
  std::uint64_t used_ = 0;
  bool sanitize_;
  std::uint64_t granule_;
  mutable std::recursive_mutex mutex_; // of all that follows; the table is read without it
  std::unique_ptr<Table> current_;
  std::atomic<const Table*> table_;
  std::map<const Allocation*, std::unique_ptr<Allocation>> owned_;
  // Until the launches that may know them have ended.
  std::vector<std::unique_ptr<Table>> old_;
  std::vector<std::unique_ptr<Allocation>> gone_;
  int launches_ = 0;
  DeviceHeap heap_;
};

} // namespace kernevo::vgpu

// Device memory: allocations in an interval table. A device pointer is the host address of its
// storage. The table changes only between launches, so kernels read it without locks; what kernels
// allocate themselves lives in the device heap.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/vgpu/memory/allocation_options.h"

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
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::byte* data() const { return data_; }
  explicit operator bool() const { return data_ != nullptr; }

private:
  std::byte* data_ = nullptr;
  std::byte* whole_ = nullptr;
  std::size_t whole_bytes_ = 0;
};

struct Allocation {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::string name;
  bool read_only = false;
  bool initialized = true;
  bool strict = false; // reads of what nobody has written are faults in every mode
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
  Memory(std::uint64_t limit, bool sanitize);

  Result<Allocation*> allocate(std::uint64_t bytes, const std::string& name,
                               AllocationOptions options);
  Result<Allocation*> adopt(std::span<std::byte> storage, const std::string& name,
                            AllocationOptions options);
  bool free(std::uint64_t base);

  // The allocation that holds the address, or null.
  Allocation* find(std::uint64_t address) const;
  // The one closest to an address outside all of them, or null when there is none.
  const Allocation* nearest(std::uint64_t address) const;
  DeviceHeap& heap() { return heap_; }

private:
  Result<Allocation*> insert(std::unique_ptr<Allocation> allocation, AllocationOptions options);

  std::uint64_t limit_;
  std::uint64_t used_ = 0;
  bool sanitize_;
  std::vector<std::unique_ptr<Allocation>> sorted_;
  DeviceHeap heap_;
};

} // namespace kernevo::vgpu

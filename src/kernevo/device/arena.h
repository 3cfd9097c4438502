// The tensors of a run, in memory shared between the judge and the worker that executes a kernel.
// Regions lie far apart, so that no plausible stray index of one lands in another.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/base/worker_process.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kernevo {

struct Region {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class Arena {
public:
  // The judge's side: zero-filled regions of these sizes.
  static Result<Arena> create(const std::vector<std::uint64_t>& sizes);
  // The worker's side: the same memory through the descriptor that came with the request.
  static Result<Arena> attach(FileDescriptor descriptor, std::vector<Region> regions);
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  ~Arena();

  // Of a run that will touch all of its memory.
  void expect_whole_use() const;

  std::span<std::byte> region(std::size_t index) const;
  // The parts of a region that anybody has written to, as offsets in it, ascending; looking at the
  // rest would make it real.
  std::vector<Region> touched(std::size_t index) const;
  const std::vector<Region>& regions() const { return regions_; }
  int descriptor() const { return descriptor_.get(); }

private:
  Arena() = default;
  Result<void> map(std::uint64_t bytes);

  FileDescriptor descriptor_;
  std::vector<Region> regions_;
  std::byte* base_ = nullptr;
  std::uint64_t mapped_ = 0;
};

} // namespace kernevo

// What a program left behind, whoever ran it, and how two such outcomes differ.
#pragma once

#include "kernevo/vgpu/execute/machine.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernevo::test {

// Memory both tiers use one after the other, so that addresses are the same.
class Buffer {
public:
  Buffer(std::string name, std::size_t bytes)
      : name_(std::move(name)), size_(bytes), lines_(bytes / sizeof(Line) + 1) {}

  const std::string& name() const { return name_; }
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(lines_)).first(size_); }

private:
  struct alignas(256) Line {
    std::array<std::byte, 256> data;
  };
  std::string name_;
  std::size_t size_;
  std::vector<Line> lines_;
};

struct Outcome {
  std::string problem; // it could not be run at all
  std::optional<Finding> fault;
  std::string printed;
  vgpu::LaunchStatistics statistics;
  std::vector<std::string> names; // of the memory, one each
  std::vector<std::vector<std::byte>> memory;

  // Takes in one launch; false when it faulted.
  bool add(vgpu::LaunchResult result);
  void take(Buffer& buffer);
};

// The first difference, in words. After a fault only the fault counts: how far other threads came
// is not defined.
std::optional<std::string> difference(const Outcome& reference, const Outcome& other);

} // namespace kernevo::test

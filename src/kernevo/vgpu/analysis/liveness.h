// Registers whose value may still be read.
#pragma once

#include "kernevo/vgpu/analysis/effects.h"
#include "kernevo/vgpu/analysis/flow.h"

#include <cstdint>
#include <vector>

namespace kernevo::vgpu::analysis {

// A set of registers of one function.
class RegisterSet {
public:
  explicit RegisterSet(std::size_t registers = 0) : words_((registers + 63) / 64, 0) {}
  bool contains(std::uint32_t reg) const { return (words_[reg / 64] >> (reg % 64) & 1U) != 0; }
  void insert(std::uint32_t reg) { words_[reg / 64] |= std::uint64_t{1} << (reg % 64); }
  void erase(std::uint32_t reg) { words_[reg / 64] &= ~(std::uint64_t{1} << (reg % 64)); }
  // True when something was added.
  bool unite(const RegisterSet& other);
  bool unite_without(const RegisterSet& other, const RegisterSet& left_out);
  std::vector<std::uint32_t> members() const;
  std::vector<std::uint32_t> members_without(const RegisterSet& left_out) const;

private:
  std::vector<std::uint64_t> words_;
};

struct Liveness {
  std::vector<Effects> effects;      // by instruction
  std::vector<RegisterSet> live_in;  // by block
  std::vector<RegisterSet> live_out; // by block
};

Liveness find_liveness(const Code& code, const Flow& flow);

// Registers live just before each instruction of one block, in order.
std::vector<RegisterSet> live_before(const Code& code, const Flow& flow, const Liveness& liveness,
                                     std::uint32_t block);

} // namespace kernevo::vgpu::analysis

// A lowered module: the parsed text, the code of every function, and what must be laid out in
// memory.
#pragma once

#include "kernevo/vgpu/program/program.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kernevo::vgpu {

struct Program : std::enable_shared_from_this<Program> {
  std::uint64_t id = 0; // unique in the process: a machine keeps module variables by it
  std::string file;
  std::string text_hash; // of the module's text; empty when it was not made from text
  ptx::Module module;
  std::vector<Code> codes; // by function; a declaration has no ops
  // Every .global, .const and .shared variable of the module and of its functions.
  std::vector<const ptx::Variable*> variables;
  std::map<std::string, std::uint32_t, std::less<>> variable_of;
  std::map<std::string, std::uint32_t, std::less<>> function_of;
  std::uint32_t granule = 16; // smallest access of the module, for the race detector

  const ptx::Instruction& instruction_of(std::uint32_t tag, const Code** code = nullptr) const;
};

// Lowers one parsed module.
Result<std::shared_ptr<const Program>> lower(ptx::Module module, const std::string& file,
                                             std::string text_hash = "");

} // namespace kernevo::vgpu

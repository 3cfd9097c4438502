// One program on both tiers, and what differs.
#pragma once

#include "random_program.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace kernevo::test {

struct Comparison {
  std::optional<std::string> difference;
  std::optional<std::string> refused; // the module does not load: the generator's mistake
  bool faulted = false;
  std::uint64_t warp_instructions = 0;
  std::uint64_t compiled_instructions = 0;
};

// `text` stands for program.text().
Comparison compare_tiers(const RandomProgram& program, const std::string& text);

// Shrinks a program the tiers disagree on, and writes it beside what differs. Returns the file.
std::string report_difference(const RandomProgram& program, const std::string& folder);

} // namespace kernevo::test

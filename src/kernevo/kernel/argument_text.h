// The arguments of `kernevo run`, as text on the command line:
//   i32:5  u64:7  f32:1.5  b32:0x3f800000          a scalar (i, u, f, b = raw bits)
//   in:f32:x.bin                                    a buffer filled from a file, read-only
//   inout:f32:x.bin[:result.bin]                    the same, writable
//   out:f32:1024[:result.bin]                       a buffer of 1024 zeros
//   struct:p.bin                                    a struct by value, its bytes from a file
// A buffer the kernel may write is saved to the second file, or shown in part when there is none.
#pragma once

#include "kernevo/base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kernevo {

struct ArgumentType {
  char kind = 'b';       // i, u, f, b; h = bf16
  std::size_t bytes = 4; // 1, 2, 4, 8
};

struct RunArgument {
  bool buffer = false;
  bool writable = false;
  ArgumentType type;
  std::vector<std::byte> bytes; // the scalar, the struct or the buffer's first content
  std::string save_to;          // empty: do not
};

Result<RunArgument> parse_run_argument(const std::string& text);

// Element `index`, for people.
std::string show_element(ArgumentType type, const std::byte* base, std::size_t index);

// "4" or "4,2,1" (also 4x2x1): three extents of at least 1.
Result<std::vector<std::uint32_t>> parse_extents(const std::string& text);

} // namespace kernevo

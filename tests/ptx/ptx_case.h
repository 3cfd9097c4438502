// A .ptx test file read as data: the launches it asks for and what they must produce.
// The format is described in README.md.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/vgpu/memory/texture.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernevo::test {

enum class Element : std::uint8_t {
  u8,
  s8,
  u16,
  s16,
  u32,
  s32,
  u64,
  s64,
  f16,
  bf16,
  f32,
  f64,
};
std::size_t size_of(Element element);

struct Tolerance {
  double ulp = 0;
  double abs = 0;
  double rel = 0;
};

// One number of an `in`, `out` or `inout` line.
struct Value {
  std::uint64_t bits = 0;
  bool any = false;     // "?": not compared
  bool any_nan = false; // "nan": every NaN is right
};

enum class Role : std::uint8_t { in, out, inout, scalar, texture, surface };

struct Argument {
  std::string name;
  Role role = Role::in;
  Element element = Element::u32;
  std::vector<Value> initial;  // in, inout, scalar
  std::vector<Value> expected; // out, inout
  std::optional<Tolerance> tolerance;
  vgpu::TextureDescription texture; // texture, surface: all but where it is
  std::string bound;                // the .texref or .surfref variable that gets the handle
  int line = 0;
};

struct Case {
  std::string kernel; // empty: the module's only entry
  std::string gpu = "A100";
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::uint32_t shared = 0;
  bool sanitize = false;
  bool cooperative = false;
  std::optional<std::string> fault;      // name of the FindingKind the launch must end with
  std::optional<std::string> prints;     // what printf must write
  std::optional<std::string> load_error; // text the error of loading the module must contain
  Tolerance tolerance;
  std::vector<Argument> arguments;
  int line = 0;
};

struct PtxFile {
  std::string path;
  std::string text;
  std::vector<Case> cases;
};

Result<PtxFile> read_ptx_file(const std::string& path);

// The number as text, for messages.
std::string show(Element element, std::uint64_t bits);
// Whether `actual` is what `expected` asks for.
bool matches(Element element, const Value& expected, std::uint64_t actual,
             const Tolerance& tolerance);

} // namespace kernevo::test

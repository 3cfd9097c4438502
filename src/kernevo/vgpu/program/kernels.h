// What a program says about its kernels: names, parameters, shared memory.
#pragma once

#include "kernevo/base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernevo::vgpu {

struct Program; // a lowered module, see lower.h

struct KernelInfo {
  std::string name;      // mangled
  std::string demangled; // "matmul(const float*, ...)" reduced to the plain name "matmul"
  struct Parameter {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    bool is_float = false; // declared .f32 / .f64
    bool is_class = false; // declared as bytes: a struct, or a type that is one, such as half
  };
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint64_t static_shared = 0;
  std::uint64_t constants = 0;               // bytes of the module's .const variables
  std::optional<std::uint64_t> most_threads; // of a block, where the kernel declares it
  std::size_t instructions = 0;
};
std::vector<KernelInfo> kernels_of(const Program& program);
// By mangled name or, when that is unambiguous, by the plain name of the source.
Result<KernelInfo> find_kernel(const Program& program, const std::string& name);

// Where a kernel's shared variables stand in a block's shared memory.
struct SharedLayout {
  std::vector<std::uint64_t> offsets; // by variable; kNowhere when the kernel cannot reach it
  std::uint64_t static_bytes = 0;
  std::uint64_t dynamic_base = 0; // where `extern .shared` arrays begin
};
inline constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
SharedLayout lay_out_shared(const Program& program, std::uint32_t kernel);

// A kernel and everything it can call.
std::vector<std::uint32_t> reachable_functions(const Program& program, std::uint32_t kernel);

// "matmul" of "_Z6matmulPKfS0_Pfi"; the name itself when it is not mangled.
std::string plain_name(const std::string& mangled);
// The demangled name as it is.
std::string full_name(const std::string& mangled);
// "tile" of "_ZZ6matmulPfE4tile".
std::string plain_variable_name(const std::string& mangled);

} // namespace kernevo::vgpu

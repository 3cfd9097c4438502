#include "kernevo/device/ptx_kernels.h"

#include "kernevo/ptx/parse.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace kernevo {
namespace {

std::string last_component(const std::string& name) {
  const auto colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

Result<vgpu::KernelInfo> describe(const ptx::Function& function) {
  vgpu::KernelInfo info;
  info.name = function.name;
  info.demangled = vgpu::plain_name(function.name);
  std::uint64_t end = 0;
  for (const ptx::Variable& parameter : function.parameters) {
    const std::uint64_t alignment = std::max<std::uint32_t>(parameter.alignment, 1);
    const std::uint64_t offset = (end + alignment - 1) / alignment * alignment;
    end = offset + parameter.bytes;
    // No driver takes more than 32764 bytes of them.
    if (end > std::numeric_limits<std::uint16_t>::max())
      return fail(ErrorCode::input,
                  fmt::format("the parameters of '{}' are too large", info.demangled));
    info.parameters.push_back(
        {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(parameter.bytes),
         parameter.type == ptx::Type::f32 || parameter.type == ptx::Type::f64});
  }
  info.parameter_bytes = static_cast<std::uint32_t>(end);
  return info;
}

} // namespace

Result<PtxKernels> PtxKernels::read(std::string_view ptx, const std::string& file) {
  KERNEVO_TRY(module, ptx::parse(ptx, file));
  PtxKernels kernels;
  kernels.target_ = module.target;
  kernels.file_ = file;
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry || function.is_declaration)
      continue;
    KERNEVO_TRY(info, describe(function));
    kernels.kernels_.push_back(std::move(info));
  }
  return kernels;
}

Result<const vgpu::KernelInfo*> PtxKernels::find(const std::string& name) const {
  std::vector<const vgpu::KernelInfo*> matches;
  std::string known;
  for (const vgpu::KernelInfo& kernel : kernels_) {
    if (kernel.name == name)
      return &kernel;
    if (kernel.demangled == name || last_component(kernel.demangled) == name)
      matches.push_back(&kernel);
    known += (known.empty() ? "" : ", ") + kernel.demangled;
  }
  if (matches.size() == 1)
    return matches.front();
  if (!matches.empty())
    return fail(ErrorCode::input, fmt::format("kernel name '{}' is ambiguous in {}", name, file_),
                std::nullopt, "use its mangled name");
  return fail(ErrorCode::input, fmt::format("no kernel '{}' in {}", name, file_), std::nullopt,
              known.empty() ? "the module has no kernels" : fmt::format("it has: {}", known));
}

} // namespace kernevo

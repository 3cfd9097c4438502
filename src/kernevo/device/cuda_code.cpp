#include "kernevo/device/cuda_code.h"

#include "kernevo/base/hash.h"
#include "kernevo/toolchain/assemble_text.h"
#include "kernevo/toolchain/ptxas.h"

#include <charconv>
#include <cstdlib>

namespace kernevo {
namespace {

struct Target {
  int capability = 0;
  char kind = '\0'; // 'a': this GPU alone, 'f': its family
};

Target target_of(const std::string& architecture) {
  Target target;
  const char* const end = architecture.data() + architecture.size();
  const auto [stop, problem] = std::from_chars(
      architecture.data() + std::min<std::size_t>(3, architecture.size()), end, target.capability);
  if (problem == std::errc() && stop != end)
    target.kind = *stop;
  return target;
}

} // namespace

std::string target_of_ptx(const std::string& ptx) {
  const std::size_t at = ptx.find(".target sm_");
  if (at == std::string::npos)
    return {};
  const std::size_t begin = at + 8;
  return ptx.substr(begin, ptx.find_first_of(", \r\n", begin) - begin);
}

bool runs_as_machine_code(const std::string& architecture, int compute_capability) {
  const Target target = target_of(architecture);
  if (target.kind == 'a')
    return target.capability == compute_capability;
  return target.capability / 10 == compute_capability / 10 &&
         target.capability <= compute_capability;
}

bool runs_as_ptx(const std::string& architecture, int compute_capability) {
  const Target target = target_of(architecture);
  return target.kind == '\0' ? target.capability <= compute_capability
                             : runs_as_machine_code(architecture, compute_capability);
}

void CudaCode::remember(const CompileRequest& request, const Build& build) {
  const std::lock_guard lock(mutex_);
  known_[sha256_hex(build.ptx)] = {request.architecture, request.flags, request.max_registers};
}

CudaCode::Cubin CudaCode::cubin_of(const std::string& ptx, int compute_capability,
                                   int driver_version) const {
  const auto toolchain = find_toolchain();
  if (!toolchain || toolchain->ptxas.empty())
    return {};
  // Within one major version every driver loads every cubin.
  if (std::atoi(toolchain->version.c_str()) > driver_version / 1000)
    return {};
  Options options{target_of_ptx(ptx), {}, std::nullopt};
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(sha256_hex(ptx)); found != known_.end())
      options = found->second;
  }
  if (!runs_as_machine_code(options.architecture, compute_capability))
    return {};
  const std::string text = without_source_lines(ptx);
  const AssemblyRequest request{text, options.architecture, options.flags, options.max_registers};
  auto cubin = assemble_text(*toolchain, request);
  if (!cubin)
    return {};
  return {std::move(*cubin), ptxas_version(*toolchain)};
}

} // namespace kernevo

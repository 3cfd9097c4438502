#include "kernevo/extract/judged_code.h"

#include "kernevo/hardware/gpu_table.h"
#include "kernevo/kernel/judged_source.h"
#include "kernevo/toolchain/toolchain.h"

#include <fmt/format.h>

namespace kernevo::extract {
namespace {

// What the device compiled for.
std::string architecture_of(const Extraction& x) {
  if (x.file.architecture)
    return *x.file.architecture;
  // Of a GPU that no table has, the receipt knows.
  if (x.conditions && x.conditions->code)
    return x.conditions->code->architecture;
  const auto gpu = find_gpu(x.started.gpu);
  const int capability = gpu ? gpu->compute_capability : 80;
  const auto toolchain = find_toolchain();
  return toolchain ? nearest_architecture(*toolchain, capability)
                   : fmt::format("sm_{}", capability);
}

} // namespace

Result<JudgedCode> judged_code(const Extraction& x) {
  JudgedCode code;
  code.architecture = architecture_of(x);
  KERNEVO_TRY(source, judged_source(x.file, x.evaluation.parameters, code.architecture));
  KERNEVO_TRY(device, device_code(source, x.file.path));
  code.source = std::move(source);
  code.device = std::move(device);
  return code;
}

} // namespace kernevo::extract

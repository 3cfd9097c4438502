// The kernels of a PTX module and where each parameter stands, for launching it elsewhere than on
// the virtual GPU.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/vgpu/program/kernels.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

class PtxKernels {
public:
  static Result<PtxKernels> read(std::string_view ptx, const std::string& file);

  // By mangled name or, when that is unambiguous, by the plain name of the source.
  Result<const vgpu::KernelInfo*> find(const std::string& name) const;
  // "sm_90a": what the text says it is for.
  const std::string& target() const { return target_; }

private:
  std::vector<vgpu::KernelInfo> kernels_; // names and parameters only
  std::string target_;
  std::string file_;
};

} // namespace kernevo

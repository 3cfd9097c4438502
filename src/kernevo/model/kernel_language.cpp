#include "kernevo/model/kernel_language.h"

namespace kernevo {

std::string_view name_of(KernelLanguage value) {
  switch (value) {
  case KernelLanguage::cuda: return "cuda";
  case KernelLanguage::triton: return "triton";
  case KernelLanguage::cuda_inline: return "cuda_inline";
  case KernelLanguage::python: return "python";
  }
  return "unknown";
}

} // namespace kernevo

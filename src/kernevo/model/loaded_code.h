// What of a build a device loaded: machine code of our assembler, or PTX that its driver compiled.
#pragma once

#include <string>
#include <string_view>

namespace kernevo {

enum class CodeForm { cubin, ptx };

struct LoadedCode {
  CodeForm form = CodeForm::ptx;
  std::string architecture; // it was made for: "sm_80"
  std::string assembler;    // "ptxas 13.2.86"; empty of PTX: the driver of the receipt compiled it

  bool operator==(const LoadedCode&) const = default;
};

std::string_view name_of(CodeForm value);
// "cubin for sm_80 by ptxas 13.2.86", "PTX for sm_80, left to the driver".
std::string text_of(const LoadedCode& code);

} // namespace kernevo

#include "kernevo/model/loaded_code.h"

#include <fmt/format.h>

namespace kernevo {

std::string_view name_of(CodeForm value) {
  switch (value) {
  case CodeForm::cubin: return "cubin";
  case CodeForm::ptx: return "ptx";
  }
  return "";
}

std::string text_of(const LoadedCode& code) {
  return code.form == CodeForm::cubin
             ? fmt::format("cubin for {} by {}", code.architecture, code.assembler)
             : fmt::format("PTX for {}, left to the driver", code.architecture);
}

} // namespace kernevo

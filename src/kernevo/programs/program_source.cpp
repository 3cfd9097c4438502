#include "kernevo/programs/program_source.h"

#include <cctype>
#include <fmt/format.h>

namespace kernevo {

std::string_view name_of(ProgramLanguage language) {
  switch (language) {
  case ProgramLanguage::torch: return "torch";
  case ProgramLanguage::triton: return "triton";
  case ProgramLanguage::cuda_inline: return "cuda_inline";
  }
  return "torch";
}

ProgramLanguage language_of_program(std::string_view source) {
  if (source.find("cpp_extension") != std::string_view::npos)
    return ProgramLanguage::cuda_inline;
  if (source.find("import triton") != std::string_view::npos ||
      source.find("from triton") != std::string_view::npos)
    return ProgramLanguage::triton;
  return ProgramLanguage::torch;
}

bool names_number(std::string_view source, std::int64_t number) {
  const std::string text = fmt::format("{}", number);
  const auto part_of_word = [&](std::size_t at) {
    return at < source.size() &&
           (std::isalnum(static_cast<unsigned char>(source[at])) != 0 || source[at] == '_');
  };
  for (std::size_t at = source.find(text); at != std::string_view::npos;
       at = source.find(text, at + 1))
    if (!(at > 0 && part_of_word(at - 1)) && !part_of_word(at + text.size()))
      return true;
  return false;
}

} // namespace kernevo

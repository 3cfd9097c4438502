// What the text of a program shows before it is run. It never decides a verdict.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

enum class ProgramLanguage { torch, triton, cuda_inline };
std::string_view name_of(ProgramLanguage language);

ProgramLanguage language_of_program(std::string_view source);

// Whether the text names such a number.
bool names_number(std::string_view source, std::int64_t number);

} // namespace kernevo

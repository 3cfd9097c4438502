// Places in a kernel's source as its author knows them.
#pragma once

#include <string>
#include <string_view>

namespace kernevo {

// "  12 | text"; empty when the kernel has no such line, or the file is another.
std::string quote_line(std::string_view source, const std::string& file, int line);

// "line 12: " or "cuda_fp16.hpp:40: ": paths say nothing to whoever wrote the kernel.
std::string line_prefix(const std::string& file, int line);

} // namespace kernevo

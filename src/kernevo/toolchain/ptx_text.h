// What the toolchain needs to know of PTX as text. The parser proper is in ptx/.
#pragma once

#include "kernevo/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// The entries of the module, in order.
std::vector<std::string> entry_names(std::string_view ptx);

// Compilers make file names absolute; this puts back the name the user gave, so that the module
// does not depend on the current folder.
std::string restore_file_name(std::string ptx, const std::string& file);

// The module without comments, line information, file names and blank lines.
std::string bare_ptx(std::string_view ptx);

// SHA-256 of the bare module: two sources that differ only in layout have the same.
std::string hash_ptx(std::string_view ptx);

// Whether a line of PTX says where code comes from, and nothing else.
bool is_source_line(std::string_view line);

// The source line the .loc before this PTX line names, if it is of the given file.
std::optional<int> source_line(std::string_view ptx, int ptx_line, const std::string& file);

} // namespace kernevo

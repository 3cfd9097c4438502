#pragma once

#include "kernevo/base/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace kernevo {

// The whole file, or an input error that names it. Files over the limit are refused: nothing we
// read as text is legitimately larger.
Result<std::string> read_text_file(const std::filesystem::path& path,
                                   std::uintmax_t limit = 64U << 20U);

// Writes through a temporary file in the same folder and renames it, so that a reader sees the old
// or the new content and a full disk leaves nothing half-written.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

// Where data files (share/) live: $KERNEVO_SHARE, beside the program, the install prefix or the
// source tree, in that order.
Result<std::filesystem::path> share_folder();

} // namespace kernevo

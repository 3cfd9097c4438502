// Whether every compiler reads the same characters, comments and strings in a source.
#pragma once

#include "kernevo/base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace kernevo {

// The first thing in CUDA code that compilers (or scan_cuda_source) do not all read alike, as an
// input error: trigraphs, digraphs, raw strings, splices that part a token, a backslash with a
// space after it at the end of a line, control characters, what is never closed. Where there is
// none, a scan of the source sees the tokens a compiler sees.
std::optional<Error> find_unplain_text(std::string_view source, const std::string& file,
                                       int first_line = 1);

} // namespace kernevo

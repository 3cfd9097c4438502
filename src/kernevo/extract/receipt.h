// Where a kernel comes from, in lines for the comment at the head of an extracted file.
#pragma once

#include "kernevo/extract/extraction.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernevo::extract {

struct ReceiptOptions {
  std::string program;    // version of the kernevo that extracts
  std::string file;       // name of the file it goes to; a placeholder when it goes to a pipe
  std::string proof = {}; // how its device code was compared with what was judged; may be empty
};

// Each is one line of printable text that no reader takes for a directive or a line splice.
std::vector<std::string> receipt(const Extraction& extraction, const ReceiptOptions& options);

// The lines behind a comment mark ("//", "#").
std::string as_comment(const std::vector<std::string>& lines, std::string_view mark);

// "BM=64 BN=32".
std::string parameters_text(const ParameterValues& parameters);

} // namespace kernevo::extract

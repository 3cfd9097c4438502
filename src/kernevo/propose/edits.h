// Changes to a kernel as SEARCH/REPLACE blocks:
//   <<<<<<< SEARCH
//   lines of the kernel
//   =======
//   lines to put in their place
//   >>>>>>> REPLACE
#pragma once

#include "kernevo/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernevo::propose {

struct Edit {
  std::string search; // whole lines, each with its line end
  std::string replace;

  bool operator==(const Edit&) const = default;
};

// Whether the line opens a block.
bool opens_edit(std::string_view line);

// The blocks of a text, in order; what stands around them is passed over. A block without its end
// or with markers inside it that could be meant either way is an error, not a guess.
Result<std::vector<Edit>> read_edits(std::string_view text);

// Every search text must be found in exactly one place of the source; places may not overlap. Exact
// lines are looked for first, then lines that differ in trailing blanks, then in indentation, then
// a part of a line.
Result<std::string> apply_edits(std::string_view source, const std::vector<Edit>& edits);

} // namespace kernevo::propose

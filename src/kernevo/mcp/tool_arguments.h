// The arguments of a call, checked against the tool's table and turned into a command line.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/mcp/tools.h"

#include <string>
#include <vector>

namespace kernevo::mcp {

// A file given by its text: it takes this place of the command line once it is written.
struct GivenFile {
  std::size_t place = 0;
  std::string name;
  std::string text;
};

struct PreparedCall {
  const Tool* tool = nullptr;
  std::vector<std::string> options; // "--gpu=A100"
  std::vector<std::string> places;  // what is known by its place
  std::vector<GivenFile> files;
  double seconds = 0;
};

// An error says which argument is wrong and how. `task` is the server's own; empty: it has none.
Result<PreparedCall> prepare_call(const Tool& tool, const Json& arguments, const std::string& task);

} // namespace kernevo::mcp

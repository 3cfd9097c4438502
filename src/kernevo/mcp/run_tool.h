// A call of a tool is a run of the program itself, so that what an agent is told is what a person
// at the command line is told, and a crash or a runaway ends that run only.
#pragma once

#include "kernevo/mcp/tool_arguments.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernevo::mcp {

struct Program {
  std::string path;
  std::vector<std::string> environment; // "NAME=value"
};

// What of an environment a tool needs: where programs, caches and settings are. Nothing that could
// be a credential.
std::vector<std::string> tool_environment(const char* const* all);

// The result of `tools/call`; nothing when it was cancelled.
std::optional<Json> run_tool(const Program& program, PreparedCall call,
                             const std::function<bool()>& cancelled);

} // namespace kernevo::mcp

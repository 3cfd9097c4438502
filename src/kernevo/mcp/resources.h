// What an agent can read: how to work with this program, what a kernel file looks like, the task.
#pragma once

#include "kernevo/base/result.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kernevo::mcp {

// What an agent sends is looked at value by value, not read as a record of ours.
using Json = nlohmann::ordered_json;

// As `resources/list` and `resources/templates/list` show them.
Json list_resources(const std::string& task);
Json list_resource_templates();

struct Resource {
  std::string type; // "text/markdown"
  std::string text;
};
// `task` is the server's own; empty: it has none. Nothing by that address is an input error.
Result<Resource> read_resource(const std::string& address, const std::string& task);

} // namespace kernevo::mcp

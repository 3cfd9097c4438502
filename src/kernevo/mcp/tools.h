// What an agent can call: the commands of the program that judge, time, explain and search, with
// the arguments each takes. The table is all there is to a tool; its schema and its command line
// are made from it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::mcp {

// What an agent sends is looked at value by value, not read as a record of ours.
using Json = nlohmann::ordered_json;

enum class ArgumentKind {
  text,
  integer,
  number,
  flag,
  texts,      // a list; the option is repeated
  parameters, // an object of integers; the option is repeated as NAME=VALUE
  file,       // a path, or the text of the file under another name
};

struct ToolArgument {
  std::string name;
  ArgumentKind kind = ArgumentKind::text;
  std::string option; // "--gpu"; empty: by its place
  std::string description;
  bool required = false;
  std::string text_name = {}; // of a file: the argument that gives its content instead
  std::optional<double> least = std::nullopt;
  std::optional<double> most = std::nullopt;
  std::vector<std::string> choices = {};
  bool task = false; // of the server's task when it has one
  // Of a path: the first is the usual one. Errors quote what they read, and what is written may be
  // read by others.
  std::vector<std::string> endings = {};
};

struct Tool {
  std::string name;
  std::string command;
  std::vector<std::string> options; // always given
  std::string description;
  std::vector<ToolArgument> arguments; // those without option in the order of the command line
  double seconds = 600;                // it may take, unless the call says otherwise
  // Of two arguments exactly one is given, and it takes their place on the command line.
  std::vector<std::string> either = {};
  bool changes = false; // writes runs or files
};

// The argument of every tool that bounds its time.
inline constexpr std::string_view kTimeLimit = "time_limit_seconds";
inline constexpr double kLongest = 86400;

const std::vector<Tool>& tools();
const Tool* find_tool(std::string_view name);

// As `tools/list` shows it. With a task of the server's own, naming one is optional.
Json describe_tool(const Tool& tool, bool has_task);

} // namespace kernevo::mcp

#include "kernevo/mcp/tool_arguments.h"

#include "kernevo/base/suggest.h"
#include "kernevo/model/json_fields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace kernevo::mcp {
namespace {

tl::unexpected<Error> wrong(const std::string& message) {
  return fail(ErrorCode::usage, message);
}

// Text that can stand on a command line.
Result<std::string> text_of(const std::string& name, const Json& value) {
  if (!value.is_string())
    return wrong(fmt::format("'{}' must be a string", name));
  auto text = value.get<std::string>();
  if (text.empty())
    return wrong(fmt::format("'{}' is empty", name));
  if (text.find('\0') != std::string::npos)
    return wrong(fmt::format("'{}' holds a NUL character", name));
  return text;
}

constexpr double kExact = 9e15; // integers below are exact as floating-point numbers

// 3.0 is an integer, too, says JSON Schema.
Result<std::int64_t> integer_of(const std::string& name, const Json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX})
    return wrong(fmt::format("'{}' is too large", name));
  if (value.is_number_integer())
    return value.get<std::int64_t>();
  if (value.is_number_float()) {
    const auto number = value.get<double>();
    if (std::trunc(number) == number && std::abs(number) < kExact)
      return static_cast<std::int64_t>(number);
  }
  return wrong(fmt::format("'{}' must be an integer", name));
}

Result<void> in_range(const ToolArgument& argument, double value) {
  if (argument.least && value < *argument.least)
    return wrong(fmt::format("'{}' must be at least {}", argument.name, *argument.least));
  if (argument.most && value > *argument.most)
    return wrong(fmt::format("'{}' must be at most {}", argument.name, *argument.most));
  return {};
}

bool ends_with_any(const std::string& text, const std::vector<std::string>& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](const std::string& ending) { return text.ends_with(ending); });
}

class Preparation {
public:
  Preparation(const Tool& tool, const Json& arguments, const std::string& task)
      : tool_(tool), arguments_(arguments), task_(task) {}

  Result<PreparedCall> prepare() {
    if (!arguments_.is_object())
      return wrong("'arguments' must be an object");
    KERNEVO_CHECK(check_names());
    call_.tool = &tool_;
    call_.options = tool_.options;
    KERNEVO_CHECK(take_time_limit());
    KERNEVO_CHECK(check_either());
    for (const ToolArgument& argument : tool_.arguments)
      KERNEVO_CHECK(take(argument));
    return std::move(call_);
  }

private:
  const Json* given(const std::string& name) const {
    const auto found = arguments_.find(name);
    return found == arguments_.end() ? nullptr : &*found;
  }

  Result<void> check_names() const {
    std::vector<std::string> known = {std::string(kTimeLimit)};
    for (const ToolArgument& argument : tool_.arguments) {
      known.push_back(argument.name);
      if (!argument.text_name.empty())
        known.push_back(argument.text_name);
    }
    for (const auto& item : arguments_.items())
      if (std::find(known.begin(), known.end(), item.key()) == known.end())
        return wrong(fmt::format("'{}' is not an argument of {}{}", item.key(), tool_.name,
                                 did_you_mean(item.key(), known)));
    return {};
  }

  Result<void> take_time_limit() {
    call_.seconds = tool_.seconds;
    const Json* limit = given(std::string(kTimeLimit));
    if (limit == nullptr)
      return {};
    if (!limit->is_number())
      return wrong(fmt::format("'{}' must be a number", kTimeLimit));
    call_.seconds = limit->get<double>();
    if (!(call_.seconds >= 0.1 && call_.seconds <= kLongest))
      return wrong(fmt::format("'{}' must be from 0.1 to {}", kTimeLimit, kLongest));
    return {};
  }

  Result<void> check_either() {
    if (tool_.either.empty())
      return {};
    const auto count = std::count_if(tool_.either.begin(), tool_.either.end(),
                                     [&](const std::string& name) { return given(name); });
    if (count > 1)
      return wrong(
          fmt::format("give '{}' or '{}', not both", tool_.either.front(), tool_.either.back()));
    if (count == 1)
      return {};
    if (task_.empty())
      return wrong(fmt::format("give '{}' or '{}'", tool_.either.front(), tool_.either.back()));
    call_.places.push_back(task_);
    return {};
  }

  Result<void> take(const ToolArgument& argument) {
    if (argument.kind == ArgumentKind::file)
      return take_file(argument);
    const Json* value = given(argument.name);
    if (value == nullptr && argument.task && argument.required && !task_.empty()) {
      call_.places.push_back(task_);
      return {};
    }
    if (value == nullptr && argument.required)
      return wrong(fmt::format("'{}' is missing", argument.name));
    return value == nullptr ? Result<void>() : take_value(argument, *value);
  }

  void put(const ToolArgument& argument, const std::string& text) {
    if (argument.option.empty())
      call_.places.push_back(text);
    else
      call_.options.push_back(argument.option + "=" + text);
  }

  Result<void> take_value(const ToolArgument& argument, const Json& value) {
    switch (argument.kind) {
    case ArgumentKind::text: {
      KERNEVO_TRY(text, text_of(argument.name, value));
      if (!argument.choices.empty() && std::find(argument.choices.begin(), argument.choices.end(),
                                                 text) == argument.choices.end())
        return wrong(
            fmt::format("'{}' is none of {}", argument.name, fmt::join(argument.choices, ", ")));
      if (!argument.endings.empty() && !ends_with_any(text, argument.endings))
        return wrong(fmt::format("'{}' must name a file that ends in {}", argument.name,
                                 argument.endings.front()));
      put(argument, text);
      return {};
    }
    case ArgumentKind::integer: {
      KERNEVO_TRY(number, integer_of(argument.name, value));
      KERNEVO_CHECK(in_range(argument, static_cast<double>(number)));
      put(argument, fmt::format("{}", number));
      return {};
    }
    case ArgumentKind::number: {
      if (!value.is_number())
        return wrong(fmt::format("'{}' must be a number", argument.name));
      KERNEVO_CHECK(in_range(argument, value.get<double>()));
      put(argument, fmt::format("{}", value.get<double>()));
      return {};
    }
    case ArgumentKind::flag:
      if (!value.is_boolean())
        return wrong(fmt::format("'{}' must be true or false", argument.name));
      if (value.get<bool>())
        call_.options.push_back(argument.option);
      return {};
    case ArgumentKind::texts:
      if (!value.is_array())
        return wrong(fmt::format("'{}' must be a list of strings", argument.name));
      for (const Json& item : value) {
        KERNEVO_TRY(text, text_of(argument.name, item));
        put(argument, text);
      }
      return {};
    case ArgumentKind::parameters: return take_parameters(argument, value);
    case ArgumentKind::file: break;
    }
    return {};
  }

  Result<void> take_parameters(const ToolArgument& argument, const Json& value) {
    if (!value.is_object())
      return wrong(fmt::format("'{}' must be an object of integers", argument.name));
    for (const auto& item : value.items()) {
      const std::string& name = item.key();
      if (name.empty() || name.find_first_of(std::string("=\0", 2)) != std::string::npos)
        return wrong(fmt::format("'{}' has a name that cannot be one", argument.name));
      KERNEVO_TRY(number, integer_of(fmt::format("{}.{}", argument.name, name), item.value()));
      put(argument, fmt::format("{}={}", name, number));
    }
    return {};
  }

  // What a compiler says of a kernel quotes its lines: a task given as one would be read out.
  bool may_be_kernel(const std::string& path) const {
    constexpr std::array<std::string_view, 6> others = {".yaml",  ".yml",    ".json",
                                                        ".jsonl", ".sqlite", ".db"};
    std::error_code ignored;
    return std::none_of(others.begin(), others.end(),
                        [&](std::string_view end) { return path.ends_with(end); }) &&
           !std::filesystem::equivalent(path, task_, ignored);
  }

  Result<void> take_file(const ToolArgument& argument) {
    const Json* path = given(argument.name);
    const Json* text = given(argument.text_name);
    if ((path == nullptr) == (text == nullptr))
      return wrong(fmt::format("give '{}' (a path) or '{}' (the text){}", argument.name,
                               argument.text_name, path == nullptr ? "" : ", not both"));
    if (path != nullptr) {
      KERNEVO_TRY(place, text_of(argument.name, *path));
      if (!may_be_kernel(place))
        return wrong(fmt::format("'{}' names a file that is no kernel", argument.name));
      call_.places.push_back(place);
      return {};
    }
    if (!text->is_string() || text->get<std::string>().empty())
      return wrong(fmt::format("'{}' must be the text of a kernel file", argument.text_name));
    call_.files.push_back({call_.places.size(), argument.name + ".cu", text->get<std::string>()});
    call_.places.emplace_back();
    return {};
  }

  const Tool& tool_;
  const Json& arguments_;
  const std::string& task_;
  PreparedCall call_;
};

} // namespace

Result<PreparedCall> prepare_call(const Tool& tool, const Json& arguments,
                                  const std::string& task) {
  return Preparation(tool, arguments, task).prepare();
}

} // namespace kernevo::mcp

#include "kernevo/task/yaml_fields.h"

#include "kernevo/base/suggest.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo {
namespace {

tl::unexpected<Error> wrong(const YamlNode& node, const std::string& field,
                            const std::string& wanted, std::string fix = "") {
  return fail(ErrorCode::input, fmt::format("{} must be {}, not {}", field, wanted, describe(node)),
              node.place, std::move(fix));
}

// The number at the start of the text, and how much of it was read.
struct Parsed {
  double value = 0;
  std::size_t length = 0;
};

std::optional<Parsed> leading_number(std::string_view text) {
  const std::size_t skip = !text.empty() && text.front() == '+' ? 1 : 0;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data() + skip, text.data() + text.size(), value);
  if (error != std::errc())
    return std::nullopt;
  return Parsed{value, static_cast<std::size_t>(end - text.data())};
}

std::string range_text(const NumberRule& rule) {
  if (rule.high == std::numeric_limits<double>::max())
    return fmt::format("{} {:g}", rule.above_low ? "greater than" : "at least", rule.low);
  return fmt::format("{} {:g} and at most {:g}", rule.above_low ? "greater than" : "at least",
                     rule.low, rule.high);
}

} // namespace

Result<double> read_number(const YamlNode& node, const NumberRule& rule) {
  if (node.kind != YamlNode::Kind::scalar || !node.plain)
    return wrong(node, rule.field, "a number");
  const auto parsed = leading_number(node.text);
  if (!parsed)
    return wrong(node, rule.field, "a number");
  if (parsed->length != node.text.size()) {
    return wrong(node, rule.field, "a number",
                 rule.unit.empty()
                     ? fmt::format("write the number alone, without '{}'",
                                   excerpt(node.text.substr(parsed->length)))
                     : fmt::format("write the number of {} alone, without a unit", rule.unit));
  }
  const double value = parsed->value;
  if (!std::isfinite(value) || value < rule.low || value > rule.high ||
      (rule.above_low && value == rule.low))
    return fail(ErrorCode::input, fmt::format("{} is {}", rule.field, excerpt(node.text)),
                node.place, fmt::format("it must be {}", range_text(rule)));
  return value;
}

Result<std::int64_t> read_integer(const YamlNode& node, const std::string& field, std::int64_t low,
                                  std::int64_t high) {
  if (node.kind != YamlNode::Kind::scalar || !node.plain)
    return wrong(node, field, "a whole number");
  const std::string fix = fmt::format("it must be from {} to {}", low, high);
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(node.text.data(), node.text.data() + node.text.size(), value);
  if (error == std::errc::result_out_of_range)
    return fail(ErrorCode::input, fmt::format("{} is {}", field, excerpt(node.text)), node.place,
                fix);
  if (error != std::errc() || end != node.text.data() + node.text.size())
    return wrong(node, field, "a whole number");
  if (value < low || value > high)
    return fail(ErrorCode::input, fmt::format("{} is {}", field, value), node.place, fix);
  return value;
}

Result<bool> read_flag(const YamlNode& node, const std::string& field) {
  if (node.kind == YamlNode::Kind::scalar && node.plain) {
    if (node.text == "true" || node.text == "True" || node.text == "yes" || node.text == "1")
      return true;
    if (node.text == "false" || node.text == "False" || node.text == "no" || node.text == "0")
      return false;
  }
  return wrong(node, field, "true or false");
}

Result<std::string> read_text(const YamlNode& node, const std::string& field) {
  if (node.kind != YamlNode::Kind::scalar || node.text.empty())
    return wrong(node, field, "a text");
  return node.text;
}

Result<std::string> read_choice(const YamlNode& node, const std::string& field,
                                const std::vector<std::string>& choices) {
  KERNEVO_TRY(text, read_text(node, field));
  if (std::find(choices.begin(), choices.end(), text) != choices.end())
    return text;
  return fail(
      ErrorCode::input,
      fmt::format("unknown {} '{}'{}", field, excerpt(text), did_you_mean(excerpt(text), choices)),
      node.place, fmt::format("use one of {}", fmt::join(choices, ", ")));
}

Result<const YamlNode*> expect_map(const YamlNode& node, const std::string& field) {
  if (node.kind != YamlNode::Kind::map)
    return wrong(node, field, "a map of key: value");
  return &node;
}

Result<const YamlNode*> expect_list(const YamlNode& node, const std::string& field) {
  if (node.kind != YamlNode::Kind::sequence)
    return wrong(node, field, "a list");
  return &node;
}

Result<void> check_keys(const YamlNode& map, const std::vector<std::string>& known,
                        const std::string& where) {
  for (const auto& [key, value] : map.entries)
    if (std::find(known.begin(), known.end(), key->text) == known.end()) {
      const std::string shown = excerpt(key->text);
      const std::string guess = did_you_mean(shown, known);
      return fail(ErrorCode::input, fmt::format("unknown key '{}' in {}{}", shown, where, guess),
                  key->place,
                  guess.empty() ? fmt::format("known keys: {}", fmt::join(known, ", ")) : "");
    }
  return {};
}

Result<const YamlNode*> find_one(const YamlNode& map, const std::vector<std::string>& synonyms) {
  const YamlNode* found = nullptr;
  std::string found_key;
  for (const auto& [key, value] : map.entries) {
    if (std::find(synonyms.begin(), synonyms.end(), key->text) == synonyms.end())
      continue;
    if (found != nullptr)
      return fail(ErrorCode::input,
                  fmt::format("'{}' and '{}' mean the same", found_key, key->text), key->place,
                  "keep one of them");
    found = value.get();
    found_key = key->text;
  }
  return found;
}

} // namespace kernevo

// Reading one field of a task file: the type asked for, or an error with place and fix.
#pragma once

#include "kernevo/task/yaml_tree.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

struct NumberRule {
  std::string field; // "target_us"
  std::string unit;  // "microseconds"; empty for plain numbers
  double low = -std::numeric_limits<double>::max();
  double high = std::numeric_limits<double>::max();
  bool above_low = false; // low itself is not allowed
};

Result<double> read_number(const YamlNode& node, const NumberRule& rule);
Result<std::int64_t> read_integer(const YamlNode& node, const std::string& field, std::int64_t low,
                                  std::int64_t high);
Result<bool> read_flag(const YamlNode& node, const std::string& field);
Result<std::string> read_text(const YamlNode& node, const std::string& field);
// One of these words.
Result<std::string> read_choice(const YamlNode& node, const std::string& field,
                                const std::vector<std::string>& choices);
Result<const YamlNode*> expect_map(const YamlNode& node, const std::string& field);
Result<const YamlNode*> expect_list(const YamlNode& node, const std::string& field);

// Every key of the map must be one of these.
Result<void> check_keys(const YamlNode& map, const std::vector<std::string>& known,
                        const std::string& where);
// The one of these keys that is there; two of them are an error.
Result<const YamlNode*> find_one(const YamlNode& map, const std::vector<std::string>& synonyms);

} // namespace kernevo

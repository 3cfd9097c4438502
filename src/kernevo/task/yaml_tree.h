// YAML text -> a small tree that keeps places and refuses what a task file never needs: duplicate
// keys, several documents, deep nesting, cyclic aliases, floods of nodes.
#pragma once

#include "kernevo/base/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernevo {

struct YamlNode {
  enum class Kind { null, scalar, sequence, map };

  Kind kind = Kind::null;
  bool plain = false; // an unquoted scalar
  bool block = false; // a scalar written with | or >
  std::string text;
  std::vector<std::shared_ptr<const YamlNode>> items; // of a sequence
  std::vector<std::pair<std::shared_ptr<const YamlNode>, std::shared_ptr<const YamlNode>>> entries;
  Place place;

  // The value of a key, or null.
  const YamlNode* find(std::string_view key) const;
};

Result<std::shared_ptr<const YamlNode>> parse_yaml(std::string_view text, const std::string& file);

// "a list", "the text 'x'": how messages speak of a node.
std::string describe(const YamlNode& node);
// At most 60 characters of it, on one line.
std::string excerpt(std::string_view text);

} // namespace kernevo

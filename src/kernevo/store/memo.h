// What was expensive to find out, under a key that says all it depends on.
#pragma once

#include "kernevo/base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace kernevo::store {

// Safe from several threads.
class Memo {
public:
  virtual ~Memo() = default;
  virtual Result<std::optional<std::string>> recall(const std::string& key) = 0;
  // Of two answers to a key the first stands.
  virtual Result<void> remember(const std::string& key, std::string_view body) = 0;
};

} // namespace kernevo::store

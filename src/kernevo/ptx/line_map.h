// .loc -> the user's line, through the inlined_at chain.
#pragma once

#include "kernevo/ptx/module.h"

#include <cstdint>
#include <optional>
#include <unordered_map>

namespace kernevo::ptx {

struct Location {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  bool operator==(const Location&) const = default;
};

// One function's. An inlined_at names the location of an earlier .loc, which may be inlined itself;
// remembering the outermost place of each makes every chain one step long.
class LineMap {
public:
  void locate(const Location& here, const std::optional<Location>& inlined_at);
  const SourceLine& current() const { return current_; }

private:
  struct Hash {
    std::size_t operator()(const Location& location) const;
  };
  std::unordered_map<Location, SourceLine, Hash> outermost_;
  SourceLine current_;
};

} // namespace kernevo::ptx

// How many registers a thread may have, where whoever loads or links a module says so: kept with
// its PTX, as a comment of the first line, for what assembles it later.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace kernevo {

inline constexpr std::string_view kRegisterLimit = "//kernevo registers at most ";

inline std::string with_register_limit(const std::string& ptx, int registers) {
  return std::string(kRegisterLimit) + std::to_string(registers) + '\n' + ptx;
}

inline std::optional<int> register_limit(std::string_view ptx) {
  if (!ptx.starts_with(kRegisterLimit))
    return std::nullopt;
  ptx.remove_prefix(kRegisterLimit.size());
  int registers = 0;
  const auto [end, problem] = std::from_chars(ptx.data(), ptx.data() + ptx.size(), registers);
  if (problem != std::errc() || end == ptx.data() || registers <= 0)
    return std::nullopt;
  return registers;
}

} // namespace kernevo

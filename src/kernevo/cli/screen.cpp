#include "kernevo/cli/screen.h"

#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace kernevo::cli {

bool is_terminal() {
  return ::isatty(STDOUT_FILENO) != 0;
}

std::size_t terminal_width() {
  winsize size{};
  constexpr std::size_t usual = 80;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

std::string cut(std::string_view text, std::size_t columns) {
  // Bytes of a character after its first do not take a column.
  const auto continues = [&](std::size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
  };
  std::size_t used = 0;
  std::size_t last = 0; // where the text would be cut
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (continues(i))
      continue;
    if (used + 1 == columns)
      last = i;
    if (++used > columns)
      return std::string(text.substr(0, last)) + "…";
  }
  return std::string(text);
}

std::string seconds_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  constexpr std::int64_t minute = 60;
  return whole < 2 * minute ? fmt::format("{} s", whole)
                            : fmt::format("{} min {} s", whole / minute, whole % minute);
}

} // namespace kernevo::cli

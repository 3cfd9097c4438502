#include "kernevo/base/one_line.h"

#include "kernevo/base/printable.h"

namespace kernevo {

std::string one_line(std::string_view text, std::size_t limit) {
  std::string line;
  for (const char c : text) {
    const bool blank = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
    if (!blank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  while (line.ends_with(' '))
    line.pop_back();
  line = printable(line);
  if (line.size() <= limit)
    return line;
  while (limit > 0 && (static_cast<unsigned char>(line[limit]) & 0xC0U) == 0x80U)
    --limit;
  return line.substr(0, limit) + "...";
}

} // namespace kernevo

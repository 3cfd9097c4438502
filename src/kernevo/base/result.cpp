#include "kernevo/base/result.h"

#include "kernevo/base/printable.h"

#include <fmt/format.h>

namespace kernevo {

std::string format_error(const Error& error) {
  std::string text;
  if (error.place) {
    text += error.place->file;
    if (error.place->line > 0)
      text += fmt::format(":{}", error.place->line);
    if (error.place->line > 0 && error.place->column > 0)
      text += fmt::format(":{}", error.place->column);
    text += ": ";
  }
  text += error.message;
  if (!error.fix.empty())
    text += "; " + error.fix;
  return printable(text); // it may quote what others wrote
}

int exit_code(ErrorCode code) {
  return code == ErrorCode::infrastructure || code == ErrorCode::unavailable ? 3 : 2;
}

} // namespace kernevo

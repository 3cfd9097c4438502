#include "run_program.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

namespace kernevo {

SubprocessResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                             const std::map<std::string, std::string>& settings, double seconds,
                             const std::function<bool()>& kill_it) {
  SubprocessRequest request;
  request.arguments = {program};
  request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
  request.time_limit_seconds = seconds;
  request.cancelled = kill_it;
  for (const char* name :
       {"PATH", "HOME", "XDG_CACHE_HOME", "TMPDIR", "KERNEVO_CUDA", "KERNEVO_CACHE",
        "KERNEVO_SHARE", "KERNEVO_DEVICE", "CUDA_HOME", "ASAN_OPTIONS", "TSAN_OPTIONS"})
    if (const char* value = std::getenv(name); value != nullptr && !settings.contains(name))
      request.environment.push_back(std::string(name) + "=" + value);
  for (const auto& [name, value] : settings)
    request.environment.push_back(name + "=" + value);
  const auto result = run_subprocess(request);
  if (!result) {
    ADD_FAILURE() << format_error(result.error());
    return {};
  }
  return *result;
}

std::string header_line(std::string_view source, const std::string& key) {
  const std::string start = "// " + key + ": ";
  for (std::size_t begin = 0; begin < source.size();) {
    const std::size_t end = std::min(source.find('\n', begin), source.size());
    const std::string_view line = source.substr(begin, end - begin);
    if (line.starts_with(start))
      return std::string(line.substr(start.size()));
    begin = end + 1;
  }
  return {};
}

std::vector<std::string> alternatives(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('|', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    parts.push_back(std::move(part));
    begin = end + 1;
  }
  return parts;
}

} // namespace kernevo

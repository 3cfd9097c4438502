// Running the real program from tests, and reading what a test kernel says about itself.
#pragma once

#include "kernevo/base/subprocess.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// Runs the program with only the environment it needs (toolkit, cache) plus `settings`. Killed
// when `kill_it` says so.
SubprocessResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                             const std::map<std::string, std::string>& settings = {},
                             double seconds = 240, const std::function<bool()>& kill_it = {});

// The rest of the first line that starts with "// key: ", or nothing.
std::string header_line(std::string_view source, const std::string& key);

// "a|b" -> {"a", "b"}, blanks around each part removed.
std::vector<std::string> alternatives(const std::string& text);

} // namespace kernevo

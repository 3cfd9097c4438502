// Who speaks of the shapes that are kept from proposers: only the policy (evaluate/visible.h) and
// the few files that decide or record which shapes those are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kernevo::structure {

// A source file taken apart: comments belong to neither.
struct SourceText {
  std::string code;     // literals are empty, lines stay where they were
  std::string literals; // each on the line it stands on
};
SourceText take_apart(const std::string& text);

struct SpokenSecret {
  std::string file; // relative to the root
  std::string what; // "cli/check.cpp:71 words hidden shapes"
};
std::vector<SpokenSecret> spoken_secrets(const std::filesystem::path& root);

} // namespace kernevo::structure

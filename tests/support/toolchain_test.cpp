#include "toolchain_test.h"

#include "test_needs.h"

namespace kernevo {

std::optional<Toolchain>
needed_toolchain(std::initializer_list<std::filesystem::path Toolchain::*> parts) {
  const auto found = find_toolchain();
  if (!found) {
    skip_for_want_of(format_error(found.error()));
    return std::nullopt;
  }
  for (const auto part : parts)
    if (((*found).*part).empty()) {
      skip_for_want_of("the toolkit in " + found->root.string() + " has not all that is needed");
      return std::nullopt;
    }
  return *found;
}

} // namespace kernevo

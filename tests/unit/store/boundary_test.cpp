// Nothing but store/ knows what keeps a run: others include what every store has.
#include "places.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::store {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

std::vector<std::string> includes_of_sqlite(const fs::path& folder, const fs::path& except) {
  std::vector<std::string> found;
  for (fs::recursive_directory_iterator entry(folder), end; entry != end; ++entry) {
    if (entry->path() == except)
      entry.disable_recursion_pending();
    if (entry->path().extension() != ".cpp" && entry->path().extension() != ".h")
      continue;
    std::ifstream file(entry->path());
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("#include") && line.find("sqlite") != std::string::npos)
        found.push_back(entry->path().string() + ": " + line);
  }
  return found;
}

TEST(Boundary, OnlyTheStoreIncludesSqlite) {
  const fs::path root = source_folder();
  const fs::path sources = root / "src" / "kernevo";
  EXPECT_THAT(includes_of_sqlite(sources, sources / "store"), IsEmpty());
  EXPECT_THAT(includes_of_sqlite(root / "bench", {}), IsEmpty());
  EXPECT_THAT(includes_of_sqlite(root / "tests", root / "tests" / "unit" / "store"), IsEmpty());
  EXPECT_FALSE(includes_of_sqlite(sources, {}).empty()) << "it would be seen";
}

} // namespace
} // namespace kernevo::store

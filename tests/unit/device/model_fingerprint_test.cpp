#include "kernevo/device/model_fingerprint.h"

#include "kernevo/base/temporary_folder.h"
#include "places.h"

#include <fstream>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

namespace fs = std::filesystem;

// What was remembered under one set of figures must not be taken for the word of another.
TEST(ModelFingerprint, EveryTableTheModelReadsCounts) {
  auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const fs::path share = folder->path();
  for (const char* kind : {"gpus", "architectures"})
    fs::copy(fs::path(source_folder()) / "share" / kind, share / kind);
  std::string before = hash_of_tables(share).value();
  EXPECT_EQ(hash_of_tables(fs::path(source_folder()) / "share").value(), before);
  for (const char* table : {"gpus/a100.yaml", "architectures/sm_80.yaml"}) {
    ASSERT_TRUE(fs::exists(share / table)) << table;
    std::ofstream(share / table, std::ios::app) << "# a comment\n";
    const std::string after = hash_of_tables(share).value();
    EXPECT_NE(after, before) << table;
    before = after;
  }
}

} // namespace
} // namespace kernevo

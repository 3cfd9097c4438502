#include "kernevo/toolchain/build_cache.h"

#include "kernevo/base/files.h"
#include "kernevo/toolchain/toolkit_files.h"
#include "test_folder.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <thread>

namespace kernevo {
namespace {

namespace fs = std::filesystem;

class BuildCacheTest : public testing::Test {
protected:
  void SetUp() override {
    build_.ok = true;
    build_.ptx = ".version 9.2\n";
    KernelResources resources;
    resources.name = "k";
    resources.registers = 12;
    build_.resources.push_back(resources);
  }

  static std::string key(char digit) { return std::string(64, digit); }
  fs::path entry(char digit) const {
    return folder_ / "builds" / std::string(2, digit) / (key(digit) + ".json");
  }

  const TestFolder made_;
  const fs::path folder_ = made_.path() / "cache";
  Build build_;
};

TEST_F(BuildCacheTest, returns_what_was_stored) {
  const BuildCache cache(folder_);
  EXPECT_FALSE(cache.find(key('a')));
  ASSERT_TRUE(cache.store(key('a'), build_));
  const auto found = cache.find(key('a'));
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->from_cache);
  EXPECT_EQ(found->ptx, build_.ptx);
  ASSERT_EQ(found->resources.size(), 1U);
  EXPECT_EQ(found->resources[0].registers, 12);
  EXPECT_FALSE(cache.find(key('b')));
}

TEST_F(BuildCacheTest, damaged_entries_are_ignored_and_rewritten) {
  const BuildCache cache(folder_);
  ASSERT_TRUE(cache.store(key('a'), build_));
  const std::string good = *read_text_file(entry('a'));
  std::string flipped = good;
  flipped[good.find("9.2")] = '8';
  for (const std::string& bad : {std::string(), std::string("x"), good.substr(0, good.size() / 2),
                                 flipped, std::string(64, '0') + "\n{}"}) {
    ASSERT_TRUE(write_file_atomically(entry('a'), bad));
    EXPECT_FALSE(cache.find(key('a'))) << bad;
  }
  ASSERT_TRUE(cache.store(key('a'), build_));
  EXPECT_TRUE(cache.find(key('a')));
}

TEST_F(BuildCacheTest, a_folder_that_cannot_be_written_is_an_error_to_warn_of) {
  const BuildCache cache(made_.write("a_file", "x"));
  const auto stored = cache.store(key('a'), build_);
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().code, ErrorCode::infrastructure);
  EXPECT_THAT(stored.error().fix, testing::HasSubstr("KERNEVO_CACHE"));
}

TEST_F(BuildCacheTest, no_folder_means_no_cache) {
  const BuildCache cache{fs::path()};
  EXPECT_TRUE(cache.store(key('a'), build_));
  EXPECT_FALSE(cache.find(key('a')));
}

TEST_F(BuildCacheTest, pruning_removes_what_was_used_longest_ago) {
  build_.ptx = std::string(1000, 'x');
  const BuildCache cache(folder_, 3500);
  const auto now = fs::file_time_type::clock::now();
  for (const char digit : {'a', 'b', 'c', 'd'})
    ASSERT_TRUE(cache.store(key(digit), build_));
  for (const char digit : {'b', 'c', 'd'})
    fs::last_write_time(entry(digit), now - std::chrono::hours('z' - digit));
  fs::last_write_time(entry('a'), now - std::chrono::hours(1000));
  ASSERT_TRUE(cache.find(key('a'))); // being used makes it young again
  cache.prune();
  EXPECT_TRUE(fs::exists(entry('a')));
  EXPECT_FALSE(fs::exists(entry('b')));
}

TEST_F(BuildCacheTest, writers_at_the_same_time_leave_a_whole_entry) {
  const BuildCache cache(folder_);
  build_.ptx = std::string(100000, 'y');
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i)
    writers.emplace_back([&] {
      for (int round = 0; round < 10; ++round)
        EXPECT_TRUE(cache.store(key('a'), build_));
    });
  for (std::thread& writer : writers)
    writer.join();
  EXPECT_TRUE(cache.find(key('a')));
}

TEST(BuildKey, every_part_of_the_request_counts) {
  const Toolchain toolchain;
  CompileRequest base;
  base.source = "s";
  base.file = "f";
  std::vector<CompileRequest> variants(9, base);
  variants[1].source = "t";
  variants[2].file = "g";
  variants[3].first_line = 2;
  variants[4].architecture = "sm_90";
  variants[5].macros = {{"A", "1"}};
  variants[6].flags = {"--use_fast_math"};
  variants[7].max_registers = 32;
  variants[8].name_expressions = {"k<1>"};
  std::set<std::string> keys;
  for (const CompileRequest& request : variants)
    keys.insert(build_key(toolchain, request, false, CompilerReach::toolkit));
  keys.insert(build_key(toolchain, base, true, CompilerReach::toolkit));
  keys.insert(build_key(toolchain, base, false, CompilerReach::everything));
  EXPECT_EQ(keys.size(), variants.size() + 2);
  CompileRequest joined = base;
  joined.source = "sf";
  joined.file = "";
  EXPECT_FALSE(keys.contains(build_key(toolchain, joined, false, CompilerReach::toolkit)));
}

// What can be included is the toolkit's, so a header of it that changes makes another toolkit.
TEST(BuildKey, every_header_of_the_toolkit_counts) {
  const TestFolder folder;
  const std::string header = folder.write("include/deep/a.h", "#define A 1\n");
  Toolchain toolchain;
  toolchain.root = folder.path();
  toolchain.include = folder.path() / "include";
  const std::string before = read_toolkit_identity(toolchain, false);
  EXPECT_EQ(read_toolkit_identity(toolchain, false), before);
  const auto time = fs::last_write_time(header);
  folder.write("include/deep/a.h", "#define A 2\n");
  fs::last_write_time(header, time); // as long and as old as the one before
  const std::string changed = read_toolkit_identity(toolchain, false);
  EXPECT_NE(changed, before);
  folder.write("include/deep/b.h", "");
  EXPECT_NE(read_toolkit_identity(toolchain, false), changed);
}

} // namespace
} // namespace kernevo

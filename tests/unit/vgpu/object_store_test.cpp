#include "kernevo/vgpu/tier/object_store.h"
#include "test_folder.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace kernevo::vgpu {
namespace {

namespace fs = std::filesystem;

std::string hash(char digit) {
  return std::string(64, digit);
}

class FolderStoreTest : public testing::Test {
protected:
  const TestFolder made_;
  const fs::path folder_ = made_.path() / "objects";
};

TEST_F(FolderStoreTest, keeps_objects_by_module) {
  FolderStore store(folder_);
  EXPECT_FALSE(store.find({hash('a'), hash('1')}));
  store.save({hash('a'), hash('1')}, std::string("\0one\n", 5));
  store.save({hash('a'), hash('2')}, "two");
  store.save({hash('b'), hash('1')}, "three");
  EXPECT_EQ(store.find({hash('a'), hash('1')}), std::string("\0one\n", 5));
  EXPECT_EQ(store.of_module(hash('a'), 1000).size(), 2U);
  EXPECT_EQ(store.of_module(hash('a'), 6).size(), 1U);
  EXPECT_TRUE(store.of_module(hash('c'), 1000).empty());
}

TEST_F(FolderStoreTest, stays_below_its_limit) {
  FolderStore store(folder_, 20'000);
  for (int i = 0; i < 100; ++i)
    store.save({hash('a'), "0" + std::to_string(i)}, std::string(1000, 'x'));
  EXPECT_LE(store.of_module(hash('a'), std::uint64_t{1} << 30U).size(), 20U);
  EXPECT_TRUE(store.find({hash('a'), "099"})); // the newest is there
}

TEST_F(FolderStoreTest, without_a_folder_nothing_is_kept) {
  FolderStore store{fs::path()};
  store.save({hash('a'), hash('1')}, "one");
  EXPECT_FALSE(store.find({hash('a'), hash('1')}));
  EXPECT_TRUE(store.of_module(hash('a'), 1000).empty());
}

TEST(MemoryStoreTest, tells_what_is_new) {
  MemoryStore store({{{hash('a'), hash('1')}, "known"}});
  EXPECT_EQ(store.find({hash('a'), hash('1')}), "known");
  EXPECT_TRUE(store.take_new().empty());
  store.save({hash('a'), hash('2')}, "fresh");
  EXPECT_EQ(store.take_new(), (Objects{{{hash('a'), hash('2')}, "fresh"}}));
  EXPECT_TRUE(store.take_new().empty());
  EXPECT_EQ(store.find({hash('a'), hash('2')}), "fresh");
}

} // namespace
} // namespace kernevo::vgpu

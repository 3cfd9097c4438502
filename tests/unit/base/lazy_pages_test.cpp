#include "kernevo/base/lazy_pages.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace kernevo {
namespace {

// Each 8-byte word holds its own index.
void number_words(std::uint64_t offset, std::span<std::byte> bytes) {
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    const std::uint64_t word = (offset + i) / 8;
    std::memcpy(bytes.data() + i, &word, 8);
  }
}

std::uint64_t word_at(const LazyPages& pages, std::uint64_t index) {
  std::uint64_t word = 0;
  std::memcpy(&word, pages.storage().data() + index * 8, 8);
  return word;
}

TEST(LazyPages, ATensorCostsWhatIsTouched) {
  const LazyMemory memory(std::uint64_t{1} << 36U, number_words);
  if (!memory.valid())
    GTEST_SKIP() << "no 64 GB of address space";
  LazyPages& pages = memory.pages();
  for (const std::uint64_t word :
       {std::uint64_t{0}, std::uint64_t{511}, std::uint64_t{512}, (std::uint64_t{1} << 33U) - 1}) {
    ASSERT_TRUE(pages.need(word * 8, 8));
    EXPECT_EQ(word_at(pages, word), word);
  }
  EXPECT_EQ(pages.filled(), 3 * LazyPages::kPage);
}

TEST(LazyPages, ARangeOverAnEdgeFillsBothPages) {
  std::vector<std::byte> storage(10'000);
  LazyPages pages(storage, number_words);
  ASSERT_TRUE(pages.need(4092, 8));
  EXPECT_EQ(pages.filled(), 8192U);
  ASSERT_TRUE(pages.need(9'992, 8)); // the last page is not whole
  EXPECT_EQ(pages.filled(), 10'000U);
  EXPECT_EQ(word_at(pages, 1249), 1249U);
}

TEST(LazyPages, KeepsWhatWasWrittenSince) {
  std::vector<std::byte> storage(4096);
  LazyPages pages(storage, number_words);
  ASSERT_TRUE(pages.need(0, 1));
  storage[8] = std::byte{77};
  ASSERT_TRUE(pages.need(8, 8));
  EXPECT_EQ(storage[8], std::byte{77});
}

TEST(LazyPages, StopsAtItsLimit) {
  std::vector<std::byte> storage(1U << 16U);
  LazyPages pages(storage, number_words, 8192);
  EXPECT_TRUE(pages.need(0, 8192));
  EXPECT_FALSE(pages.need(8192, 1));
  EXPECT_TRUE(pages.need(100, 1)); // what is there stays usable
}

TEST(LazyPages, ThreadsFillEachPageOnce) {
  std::atomic<int> fills = 0;
  const LazyMemory memory(std::uint64_t{4} << 20U,
                          [&](std::uint64_t offset, std::span<std::byte> bytes) {
                            ++fills;
                            number_words(offset, bytes);
                          });
  ASSERT_TRUE(memory.valid());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t word = 0; word < (4U << 20U) / 8; word += 64) {
        memory.pages().need(word * 8, 8);
        if (word_at(memory.pages(), word) != word)
          ++wrong;
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(fills, 1024);
}

} // namespace
} // namespace kernevo

#include "kernevo/report/event_file.h"

#include "kernevo/base/files.h"
#include "kernevo/report/crc32c.h"
#include "record_reader.h"
#include "test_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace kernevo::report {
namespace {

using testing::HasSubstr;

TEST(Crc32c, GivesThePublishedSums) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  // RFC 3720, B.4: 32 bytes of zeros, of ones, rising, falling.
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
  std::string rising;
  for (char c = 0; c < 32; ++c)
    rising += c;
  EXPECT_EQ(crc32c(rising), 0x46DD794EU);
  EXPECT_EQ(crc32c(std::string(rising.rbegin(), rising.rend())), 0x113FDB5CU);
}

TEST(EventFile, ReadsBackByAnIndependentReader) {
  const TestFolder folder;
  const auto path = folder.path() / "deep" / "events";
  {
    auto file = EventFile::create(path, 1000.25);
    ASSERT_TRUE(file) << format_error(file.error());
    ASSERT_TRUE(file->write(1001.5, 0, {{"a/b", 1.5}}));
    ASSERT_TRUE(file->write(1002.5, 300, {{"a/b", -2}, {"\xc3\xa9", 1e30}}));
    ASSERT_TRUE(file->write(1003.5, 301, {})); // nothing to tell, nothing written
    ASSERT_TRUE(file->write(1004.5, std::numeric_limits<std::int64_t>::max(),
                            {{std::string(300, 'x'), 0}}));
    ASSERT_TRUE(file->flush());
  }
  const auto events = reader::events(*read_text_file(path));
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_EQ(events[0].wall, 1000.25);
  EXPECT_EQ(events[1].step, 0);
  EXPECT_EQ(events[1].wall, 1001.5);
  EXPECT_THAT(events[1].scalars, testing::ElementsAre(std::pair<std::string, float>("a/b", 1.5F)));
  EXPECT_EQ(events[2].step, 300);
  ASSERT_EQ(events[2].scalars.size(), 2U);
  EXPECT_EQ(events[2].scalars[1].first, "\xc3\xa9");
  EXPECT_EQ(events[2].scalars[1].second, 1e30F);
  EXPECT_EQ(events[3].step, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(events[3].scalars[0].first.size(), 300U);
}

TEST(EventFile, AFlippedBitShows) {
  const std::string record = framed_record(scalar_event(1, 2, {{"tag", 3}}));
  EXPECT_NO_THROW(reader::records(record));
  for (std::size_t i = 0; i < record.size(); ++i) {
    std::string damaged = record;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_THROW(reader::records(damaged), std::runtime_error) << i;
  }
}

TEST(EventFile, AFolderThatCannotBeMadeIsOneLine) {
  const auto file = EventFile::create("/proc/no/such/events", 0);
  ASSERT_FALSE(file);
  EXPECT_THAT(format_error(file.error()), HasSubstr("/proc/no/such: cannot be made"));
}

} // namespace
} // namespace kernevo::report

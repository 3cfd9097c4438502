#include "kernevo/store/run_folders.h"
#include "store_fixture.h"

#include <fstream>
#include <gmock/gmock.h>

namespace kernevo::store {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OpenJournal : public JournalTest {};

TEST_F(OpenJournal, AnUnknownKindOfStoreSaysWhichThereAre) {
  for (const char* location : {"redis://localhost/run", "s3+x.y-z://bucket", "HTTP://x"}) {
    SCOPED_TRACE(location);
    const std::string scheme(location, std::string_view(location).find("://"));
    for (const Error& error :
         {create_journal(location).error(), open_journal(location, Journal::Access::read).error(),
          repair_journal(location).error(), check_location(location).error(),
          find_run(location).error()}) {
      EXPECT_EQ(error.code, ErrorCode::usage);
      EXPECT_THAT(format_error(error), HasSubstr("'" + scheme + "://'"));
      EXPECT_THAT(format_error(error), HasSubstr("a run can be kept in: a folder"));
      EXPECT_TRUE(is_one_line(error));
    }
    EXPECT_FALSE(holds_run(location));
    EXPECT_FALSE(fs::exists(scheme + ":")) << "no folder of that name";
  }
  const std::string endless = std::string(1'000'000, 'a') + "://";
  EXPECT_LT(format_error(check_location(endless).error()).size(), 200U);
}

TEST_F(OpenJournal, WhateverIsNoSchemeIsAFolder) {
  fs::create_directories(folder_);
  for (const char* name : {"plain", "a:b", "1://x", "sp ace://x", "://x", "über://x", "C:"}) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(check_location(name));
    const std::string location = (folder_ / name).string();
    EXPECT_FALSE(holds_run(location));
    ASSERT_TRUE(create_journal(location));
    EXPECT_TRUE(holds_run(location));
    const auto journal = open_journal(location, Journal::Access::read);
    ASSERT_TRUE(journal);
    EXPECT_EQ((*journal)->location(), location);
    EXPECT_EQ((*journal)->folder(), fs::path(location));
  }
  EXPECT_TRUE(check_location("./odd://name"));
}

TEST_F(OpenJournal, WhatIsDiscardedLeavesTheFolderAsItWas) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "notes.txt") << "mine";
  write_steps(*create(), 0, 2);
  EXPECT_TRUE(fs::exists(file()));
  discard_journal(folder_);
  EXPECT_FALSE(holds_run(folder_));
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder_))
    left.push_back(entry.path().filename().string());
  EXPECT_THAT(left, testing::ElementsAre("notes.txt"));
  create();
}

} // namespace
} // namespace kernevo::store

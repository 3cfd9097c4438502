#include "kernevo/store/run_folders.h"
#include "store_fixture.h"

#include <cstdlib>
#include <gmock/gmock.h>

namespace kernevo::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RunFolders : public JournalTest {
protected:
  void SetUp() override { setenv("KERNEVO_RUNS", folder_.c_str(), 1); }
  void TearDown() override { unsetenv("KERNEVO_RUNS"); }
  void make(const std::string& name) const { ASSERT_TRUE(create_journal(folder_ / name)); }
};

TEST_F(RunFolders, RunsAreListedByNameAndFoundByNameOrFolder) {
  EXPECT_TRUE(list_runs()->empty());
  make("softmax");
  make("add");
  std::filesystem::create_directories(folder_ / "no-run");
  EXPECT_THAT(*list_runs(), ElementsAre(folder_ / "add", folder_ / "softmax"));
  EXPECT_EQ(*find_run("add"), folder_ / "add");
  EXPECT_EQ(*find_run((folder_ / "add").string()), folder_ / "add");
}

TEST_F(RunFolders, AWrongNameGetsTheNearestOne) {
  const auto none = find_run("softmax");
  ASSERT_FALSE(none);
  EXPECT_THAT(format_error(none.error()), HasSubstr("'kernevo evolve TASK' makes one"));
  make("softmax");
  for (const char* wrong : {"sofmax", "softmax2"}) {
    const auto run = find_run(wrong);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, ErrorCode::usage);
    EXPECT_THAT(format_error(run.error()), HasSubstr("did you mean 'softmax'"));
  }
  EXPECT_FALSE(find_run(""));
}

TEST_F(RunFolders, ANameThatIsTakenGetsANumber) {
  EXPECT_EQ(free_run_name("add"), "add");
  make("add");
  EXPECT_EQ(free_run_name("add"), "add-2");
  make("add-2");
  EXPECT_EQ(free_run_name("add"), "add-3");
}

} // namespace
} // namespace kernevo::store

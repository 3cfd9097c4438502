// When code is compiled, for whom, and that nobody waits for it. The compiler is a fake.
#include "kernevo/vgpu/tier/tier.h"

#include "kernevo/vgpu/tier/plugin.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

namespace kernevo::vgpu {
namespace {

constexpr const char* kModule = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k() {
  ret;
}
.visible .entry other() {
  ret;
}
)";

class FakeCompiler final : public Compiler {
public:
  Result<std::unique_ptr<CompiledFunction>> compile(const CompileJob& job,
                                                    CompileReport* /*report*/) override {
    std::unique_lock lock(mutex_);
    jobs.push_back(job);
    jobs.back().program.reset();
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held; });
    if (refuse)
      return fail(ErrorCode::unsupported, "too hard");
    return std::make_unique<CompiledFunction>();
  }
  void hold() {
    const std::lock_guard lock(mutex_);
    held = true;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    held = false;
    changed_.notify_all();
  }
  bool called_off() {
    const std::lock_guard lock(mutex_);
    return jobs.back().cancelled->load();
  }
  bool wait_for_jobs(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return jobs.size() >= count; });
  }

  std::vector<CompileJob> jobs;
  bool held = false;
  bool refuse = false;

private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

class TierTest : public testing::Test {
protected:
  void SetUp() override {
    set_compiler(&compiler_);
    program_ = *load_program(kModule, "tier.ptx");
  }
  void TearDown() override {
    compiler_.release();
    // The thread must be out of this test's compiler before it goes.
    const TierHandle last({*load_program(kModule, "last.ptx"), 0, {}, Tier::compiled, false, 1});
    set_compiler(nullptr);
  }
  TierHandle::Launch launch(Tier tier = Tier::automatic, std::uint64_t blocks = 1) const {
    return {program_, 0, analysis::lane_facts({32, 1, 1}), tier, false, blocks};
  }
  static bool appears(const std::function<bool()>& condition) {
    for (int i = 0; i < 5000; ++i) {
      if (condition())
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }

  FakeCompiler compiler_;
  std::shared_ptr<const Program> program_;
};

TEST_F(TierTest, the_compiled_tier_has_its_code_before_the_launch) {
  const TierHandle handle(launch(Tier::compiled));
  EXPECT_NE(handle.full(0), nullptr);
  EXPECT_NE(handle.partial(0), nullptr);
  EXPECT_NE(handle.full(0), handle.partial(0));
  EXPECT_EQ(handle.full(1), nullptr); // not reachable from the kernel
  EXPECT_EQ(handle.problem(), "");
}

TEST_F(TierTest, short_launches_compile_nothing) {
  TierHandle handle(launch());
  for (int i = 0; i < 20; ++i)
    handle.interpreted(0, true, 20'000);
  EXPECT_TRUE(compiler_.jobs.empty());
}

TEST_F(TierTest, long_launches_compile_and_never_wait) {
  compiler_.hold();
  TierHandle handle(launch());
  handle.interpreted(0, true, 5'000'000);
  ASSERT_TRUE(compiler_.wait_for_jobs(1));
  EXPECT_EQ(handle.full(0), nullptr);
  handle.interpreted(0, true, 5'000'000); // asked once only
  compiler_.release();
  EXPECT_TRUE(appears([&] { return handle.full(0) != nullptr; }));
  EXPECT_EQ(handle.partial(0), nullptr);
  EXPECT_EQ(compiler_.jobs.size(), 1U);
  EXPECT_TRUE(compiler_.jobs[0].full);
  EXPECT_FALSE(compiler_.jobs[0].optimise);
}

TEST_F(TierTest, many_blocks_to_come_count) {
  TierHandle handle(launch(Tier::automatic, 100'000));
  handle.interpreted(0, false, 20'000);
  ASSERT_TRUE(compiler_.wait_for_jobs(2));
  EXPECT_FALSE(compiler_.jobs[0].full);
  EXPECT_FALSE(compiler_.jobs[0].optimise);
  EXPECT_TRUE(compiler_.jobs[1].optimise); // 2,000 million instructions are expected
}

TEST_F(TierTest, code_that_runs_long_is_improved) {
  TierHandle handle(launch());
  handle.interpreted(0, true, 5'000'000);
  ASSERT_TRUE(appears([&] { return handle.full(0) != nullptr; }));
  const CompiledFunction* quick = handle.full(0);
  handle.compiled(10'000'000);
  EXPECT_EQ(compiler_.jobs.size(), 1U);
  handle.compiled(100'000'000);
  ASSERT_TRUE(appears([&] { return handle.full(0) != quick; }));
  handle.compiled(100'000'000);
  ASSERT_EQ(compiler_.jobs.size(), 2U);
  EXPECT_TRUE(compiler_.jobs[1].optimise);
}

TEST_F(TierTest, blocks_that_are_done_count_less) {
  TierHandle handle(launch(Tier::automatic, 1000));
  for (int i = 0; i < 990; ++i)
    handle.block_done();
  handle.interpreted(0, true, 500'000);
  EXPECT_TRUE(compiler_.jobs.empty());
}

TEST_F(TierTest, the_interpreter_tier_never_compiles) {
  TierHandle handle(launch(Tier::interpreter, 1'000'000));
  handle.interpreted(0, true, 1'000'000'000);
  EXPECT_TRUE(compiler_.jobs.empty());
  EXPECT_EQ(handle.full(0), nullptr);
}

TEST_F(TierTest, code_is_shared_by_launches_of_the_same_kind) {
  const TierHandle first(launch(Tier::compiled));
  const std::size_t made = compiler_.jobs.size();
  const TierHandle again(launch(Tier::compiled));
  EXPECT_EQ(again.full(0), first.full(0));
  const TierHandle automatic(launch());
  EXPECT_EQ(automatic.full(0), first.full(0)); // there at once
  EXPECT_EQ(compiler_.jobs.size(), made);

  auto counting = launch(Tier::compiled);
  counting.counting = true;
  EXPECT_NE(TierHandle(counting).full(0), first.full(0));
  auto other_block = launch(Tier::compiled);
  other_block.facts = analysis::lane_facts({8, 8, 1});
  EXPECT_NE(TierHandle(other_block).full(0), first.full(0));
}

TEST_F(TierTest, a_claim_refuted_often_is_given_up) {
  TierHandle handle(launch(Tier::compiled));
  const CompiledFunction* before = handle.full(0);
  const std::size_t made = compiler_.jobs.size();
  for (int i = 0; i < 15; ++i)
    handle.refuted(0, true, 3);
  EXPECT_EQ(compiler_.jobs.size(), made);
  for (int i = 0; i < 15; ++i)
    handle.refuted(0, true, 3);
  ASSERT_TRUE(appears([&] { return handle.full(0) != before; }));
  EXPECT_EQ(compiler_.jobs.size(), made + 1);
  EXPECT_EQ(compiler_.jobs.back().demoted, std::set<ptx::RegisterId>{3});
}

TEST_F(TierTest, what_does_not_compile_is_interpreted) {
  compiler_.refuse = true;
  const TierHandle handle(launch(Tier::compiled));
  EXPECT_EQ(handle.full(0), nullptr);
  EXPECT_EQ(handle.problem(), "too hard");
}

TEST_F(TierTest, a_launch_may_end_before_its_code_is_there) {
  compiler_.hold();
  {
    TierHandle handle(launch());
    handle.interpreted(0, true, 5'000'000);
    ASSERT_TRUE(compiler_.wait_for_jobs(1));
  }
  program_.reset();
  compiler_.release();
}

TEST_F(TierTest, a_thread_that_ends_takes_what_it_asked_for_with_it) {
  compiler_.hold();
  std::atomic<bool> ended = false;
  std::thread launching([&] {
    TierHandle handle(launch(Tier::automatic, 100'000));
    handle.interpreted(0, true, 20'000); // one compilation runs, a thorough one waits behind it
    compiler_.wait_for_jobs(1);
  });
  std::thread watching([&] {
    launching.join();
    ended = true;
  });
  ASSERT_TRUE(compiler_.wait_for_jobs(1));
  ASSERT_TRUE(appears([&] { return compiler_.called_off(); }));
  EXPECT_FALSE(ended); // not as long as its compilation runs
  compiler_.release();
  watching.join();
  EXPECT_EQ(compiler_.jobs.size(), 1U);
  // Another thread gets it all the same.
  EXPECT_NE(TierHandle(launch(Tier::compiled)).full(0), nullptr);
}

} // namespace
} // namespace kernevo::vgpu

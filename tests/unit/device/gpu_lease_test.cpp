#include "kernevo/device/gpu_lease.h"

#include "kernevo/base/temporary_folder.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <poll.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kernevo {
namespace {

using Kind = GpuLease::Kind;
namespace fs = std::filesystem;

// Another process that wants a lease, and has it until it is ended. What it says goes to a file.
class Rival {
public:
  Rival(Kind kind, const std::string& uuid, const fs::path& said = "/dev/null") {
    EXPECT_EQ(pipe(pipe_.data()), 0);
    pid_ = fork();
    if (pid_ == 0) {
      // As a program of its own would have it: no lease of ours is open here.
      dup2(pipe_[1], 3);
      close_range(4, ~0U, 0);
      static_cast<void>(std::freopen(said.c_str(), "w", stderr) != nullptr);
      setvbuf(stderr, nullptr, _IONBF, 0);
      const auto lease = GpuLease::take("cuda:0", uuid, kind);
      const char byte = lease ? 'y' : 'n';
      static_cast<void>(write(3, &byte, 1) == 1);
      pause();
      _exit(0);
    }
  }
  Rival(const Rival&) = delete;
  Rival& operator=(const Rival&) = delete;
  ~Rival() {
    end();
    close(pipe_[0]);
    close(pipe_[1]);
  }
  bool has_it_within(int milliseconds) const {
    pollfd entry{pipe_[0], POLLIN, 0};
    char byte = 'n';
    return poll(&entry, 1, milliseconds) == 1 && read(pipe_[0], &byte, 1) == 1 && byte == 'y';
  }
  pid_t id() const { return pid_; }
  void end() {
    if (pid_ <= 0)
      return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

private:
  std::array<int, 2> pipe_{};
  pid_t pid_ = -1;
};

class GpuLeaseTest : public testing::Test {
protected:
  void SetUp() override {
    auto folder = TemporaryFolder::make();
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    setenv("XDG_RUNTIME_DIR", folder_->path().c_str(), 1);
  }
  void TearDown() override { unsetenv("XDG_RUNTIME_DIR"); }

  static Result<GpuLease> take(Kind kind) { return GpuLease::take("cuda:0", "GPU-1", kind); }

  std::optional<TemporaryFolder> folder_;
};

TEST_F(GpuLeaseTest, OnlyOneProcessTakesTimesOnAGpu) {
  std::optional<GpuLease> lease(std::move(take(Kind::sole).value()));
  const Rival rival(Kind::sole, "GPU-1");
  const Rival on_another(Kind::sole, "GPU-2");
  EXPECT_TRUE(on_another.has_it_within(5000));
  EXPECT_FALSE(rival.has_it_within(200));
  lease.reset();
  EXPECT_TRUE(rival.has_it_within(5000));
}

TEST_F(GpuLeaseTest, WorkThatIsNotTimedSharesAndWaitsForTimes) {
  const auto lease = take(Kind::shared);
  ASSERT_TRUE(lease);
  const Rival second(Kind::shared, "GPU-1");
  EXPECT_TRUE(second.has_it_within(5000));
  const Rival alone(Kind::sole, "GPU-1");
  EXPECT_FALSE(alone.has_it_within(200));
  // Whoever waits for the GPU alone is not kept out by more and more who share it.
  const Rival third(Kind::shared, "GPU-1");
  EXPECT_FALSE(third.has_it_within(200));
}

TEST_F(GpuLeaseTest, AProcessThatDiesLetsGo) {
  Rival rival(Kind::sole, "GPU-1");
  ASSERT_TRUE(rival.has_it_within(5000));
  rival.end();
  EXPECT_TRUE(take(Kind::sole));
}

TEST_F(GpuLeaseTest, AThreadThatHasItGetsItAgainAndAnotherWaits) {
  std::optional<GpuLease> lease(std::move(take(Kind::sole).value()));
  {
    EXPECT_TRUE(take(Kind::shared));
    EXPECT_TRUE(take(Kind::sole));
  }
  std::atomic<bool> got = false;
  std::thread other([&] { got = take(Kind::shared).has_value(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_FALSE(got);
  lease.reset();
  other.join();
  EXPECT_TRUE(got);
}

TEST_F(GpuLeaseTest, WhoeverWaitsIsToldForWhom) {
  const auto lease = take(Kind::sole);
  ASSERT_TRUE(lease);
  const fs::path said = folder_->path() / "said";
  const Rival rival(Kind::sole, "GPU-1", said);
  EXPECT_FALSE(rival.has_it_within(1500));
  std::ifstream file(said);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(), testing::HasSubstr("waiting for cuda:0, in use by process " +
                                             std::to_string(getpid())));
}

TEST_F(GpuLeaseTest, AFolderThatOthersMayWriteToIsNotUsed) {
  ASSERT_EQ(chmod(folder_->path().c_str(), 0777), 0);
  const auto folder = lease_folder();
  ASSERT_TRUE(folder) << format_error(folder.error());
  EXPECT_NE(*folder, folder_->path());
  struct stat found{};
  ASSERT_EQ(lstat(folder->c_str(), &found), 0);
  EXPECT_EQ(found.st_uid, geteuid());
  EXPECT_EQ(found.st_mode & (S_IWGRP | S_IWOTH), 0U);
}

TEST_F(GpuLeaseTest, ALinkInThePlaceOfALeaseIsRefused) {
  const fs::path target = folder_->path() / "precious";
  std::ofstream(target) << "kept";
  fs::create_symlink(target, folder_->path() / "kernevo-gpu-GPU-1.lease");
  EXPECT_FALSE(take(Kind::sole));
  std::string text;
  std::ifstream(target) >> text;
  EXPECT_EQ(text, "kept");
}

} // namespace
} // namespace kernevo

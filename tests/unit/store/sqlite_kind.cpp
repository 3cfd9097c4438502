#include "kinds.h"

#include <array>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernevo::store {
namespace {

namespace fs = std::filesystem;

bool g_die_at_commit = false; // set in a child only

int die_if_told(void*) {
  if (g_die_at_commit)
    kill(getpid(), SIGKILL);
  return 0;
}

// SQLite calls it for every file it opens.
int watch_commits(sqlite3* database, char**, const void*) {
  sqlite3_commit_hook(database, die_if_told, nullptr);
  return SQLITE_OK;
}

void expect_killed(pid_t child) {
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "status " << status;
}

class SqliteKind : public Kind {
public:
  explicit SqliteKind(fs::path folder) : folder_(std::move(folder)) {}

  Result<std::unique_ptr<Journal>> create(const std::string& run) override {
    return create_journal(folder_ / run);
  }
  Result<std::unique_ptr<Journal>> open(const std::string& run, Journal::Access access) override {
    return open_journal(folder_ / run, access);
  }
  Result<Repair> repair(const std::string& run) override { return repair_journal(folder_ / run); }

  void end_after(const std::string& run, const std::function<void(Journal&)>& work) override {
    const pid_t child = fork();
    if (child == 0) {
      if (const auto journal = open(run, Journal::Access::write)) {
        work(**journal);
        if (!testing::Test::HasFailure())
          kill(getpid(), SIGKILL);
      }
      _exit(1);
    }
    expect_killed(child);
  }

  void end_within(const std::string& run, const RunEvent& event, const Blobs& blobs) override {
    const pid_t child = fork();
    if (child == 0) {
      // NOLINTNEXTLINE: this is how SQLite wants an extension's entry
      sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch_commits));
      if (const auto journal = open(run, Journal::Access::write)) {
        g_die_at_commit = true;
        static_cast<void>((*journal)->append(event, blobs));
      }
      _exit(1);
    }
    expect_killed(child);
  }

  int kill_after(const std::string& run, const std::function<bool(Journal&, int)>& work,
                 int count) override {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      const auto journal = open(run, Journal::Access::write);
      for (int i = 0; journal && work(**journal, i); ++i)
        static_cast<void>(!write(ends[1], "x", 1));
      _exit(1);
    }
    close(ends[1]);
    int told = 0;
    for (char mark = 0; read(ends[0], &mark, 1) == 1;)
      if (++told == count)
        kill(child, SIGKILL); // what it told meanwhile is still in the pipe
    close(ends[0]);
    expect_killed(child);
    return told;
  }

  void damage(const std::string& run, Part part, const std::string& name) override {
    static constexpr std::array kChanges = {
        "UPDATE events SET body=replace(body, 'reason', 'Reason') WHERE number=?",
        "UPDATE blobs SET body='X' || substr(body, 2) WHERE hash=?",
        "UPDATE memo SET body='X' || substr(body, 2) WHERE key=?",
        "UPDATE snapshots SET body='X' || substr(body, 2) WHERE ?1=?1",
    };
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open((folder_ / run / "journal.sqlite").c_str(), &raw), SQLITE_OK);
    sqlite3_stmt* change = nullptr;
    const char* sql = kChanges.at(static_cast<std::size_t>(part));
    ASSERT_EQ(sqlite3_prepare_v2(raw, sql, -1, &change, nullptr), SQLITE_OK);
    sqlite3_bind_text(change, 1, name.c_str(), -1, SQLITE_TRANSIENT);
    EXPECT_EQ(sqlite3_step(change), SQLITE_DONE);
    EXPECT_EQ(sqlite3_changes(raw), 1) << sql;
    sqlite3_finalize(change);
    sqlite3_close(raw);
  }

private:
  fs::path folder_;
};

} // namespace

std::unique_ptr<Kind> make_sqlite_kind(const std::string& folder) {
  return std::make_unique<SqliteKind>(folder);
}

} // namespace kernevo::store

#include "kernevo/store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <utility>

namespace kernevo::store {
namespace {

constexpr int kBusyMilliseconds = 10'000; // another process may be writing

std::string fix_for(int code, const std::filesystem::path& file) {
  switch (code & 0xFF) {
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return fmt::format("'kernevo runs --repair {}' keeps what can be read",
                       file.parent_path().string());
  case SQLITE_READONLY:
  case SQLITE_PERM:
  case SQLITE_CANTOPEN: return "check that the folder exists and may be written";
  case SQLITE_BUSY:
  case SQLITE_LOCKED: return "another kernevo is using it; wait for it or stop it";
  default: return "";
  }
}

} // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement& Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
  return *this;
}

Statement& Statement::bind(int index, double value) {
  sqlite3_bind_double(statement_.get(), index, value);
  return *this;
}

Statement& Statement::bind(int index, std::string_view value) {
  // To SQLite no address is NULL, not a text without bytes.
  const int code =
      sqlite3_bind_text64(statement_.get(), index, value.data() == nullptr ? "" : value.data(),
                          value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK)
    refused_ = code;
  return *this;
}

Statement& Statement::bind_null(int index) {
  sqlite3_bind_null(statement_.get(), index);
  return *this;
}

Result<bool> Statement::step() {
  const int code = refused_ != SQLITE_OK ? refused_ : sqlite3_step(statement_.get());
  if (code == SQLITE_ROW)
    return true;
  if (code == SQLITE_DONE)
    return false;
  database_->note(code);
  const auto error = database_->error();
  reset();
  return error;
}

Result<void> Statement::run() {
  while (true) {
    KERNEVO_TRY(more, step());
    if (!more)
      break;
  }
  reset();
  return {};
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  refused_ = SQLITE_OK;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::string Statement::text(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string() : std::string(data, static_cast<std::size_t>(size));
}

void Database::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

void Database::note(int code) {
  code_ = code;
  const int primary = code & 0xFF;
  damaged_ = damaged_ || primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
}

tl::unexpected<Error> Database::error() const {
  const int primary = code_ & 0xFF;
  // A quota and a limit on the size of files look like a failing disk.
  if (primary == SQLITE_FULL || code_ == SQLITE_IOERR_WRITE)
    return fail(ErrorCode::infrastructure,
                primary == SQLITE_FULL
                    ? "the disk is full"
                    : "the disk is full, or cannot be written for another reason",
                Place{file_.string()}, "free some space; what was stored before is safe");
  if (primary == SQLITE_TOOBIG)
    return fail(ErrorCode::infrastructure, "cannot hold anything that long in one piece",
                Place{file_.string()});
  if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB)
    return fail(ErrorCode::input, fmt::format("is damaged ({})", sqlite3_errmsg(handle_.get())),
                Place{file_.string()}, fix_for(code_, file_));
  return fail(ErrorCode::infrastructure, sqlite3_errmsg(handle_.get()), Place{file_.string()},
              fix_for(code_, file_));
}

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& file, Mode mode) {
  sqlite3* handle = nullptr;
  const int flags = mode == Mode::read    ? SQLITE_OPEN_READONLY
                    : mode == Mode::write ? SQLITE_OPEN_READWRITE
                                          : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags | SQLITE_OPEN_EXRESCODE, nullptr);
  std::unique_ptr<Database> database(new Database(file, handle));
  database->note(code);
  if (code != SQLITE_OK)
    return database->error();
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  return database;
}

Result<void> Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  note(code);
  if (code != SQLITE_OK)
    return error();
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  note(code);
  if (code != SQLITE_OK)
    return error();
  return Statement(*this, statement);
}

Result<Transaction> Transaction::begin(Database& database) {
  KERNEVO_CHECK(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  if (database_ != nullptr)
    static_cast<void>(database_->execute("ROLLBACK"));
}

Result<void> Transaction::commit() {
  KERNEVO_CHECK(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

void remove_database(const std::filesystem::path& file) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    std::filesystem::remove(file.string() + suffix, ignored);
}

} // namespace kernevo::store

// SQLite with RAII and Results. Private to store/.
#pragma once

#include "kernevo/base/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace kernevo::store {

class Database;

// A prepared statement: bind, step, read, reset.
class Statement {
public:
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, double value);
  Statement& bind(int index, std::string_view value);
  Statement& bind_null(int index);
  template <class T> Statement& bind(int index, const std::optional<T>& value) {
    return value ? bind(index, *value) : bind_null(index);
  }

  // True when there is a row to read.
  Result<bool> step();
  // Steps until done and resets, for statements without rows.
  Result<void> run();
  void reset();

  std::int64_t integer(int column) const;
  double real(int column) const;
  bool is_null(int column) const;
  std::string text(int column) const;

private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}

  Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int refused_ = 0; // why a value could not be bound, for the next step to tell
};

class Database {
public:
  enum class Mode { read, write, create };
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& file, Mode mode);

  Result<void> execute(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);
  // The last trouble in words a user can act on.
  tl::unexpected<Error> error() const;
  bool damaged() const { return damaged_; }
  const std::filesystem::path& file() const { return file_; }

private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* database) const;
  };
  Database(std::filesystem::path file, sqlite3* handle) : file_(std::move(file)), handle_(handle) {}
  void note(int code);

  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Close> handle_;
  int code_ = 0;
  bool damaged_ = false;
};

// Ends with a rollback unless commit() was called.
class Transaction {
public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<void> commit();

private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

// The file and what SQLite keeps beside it, if they are there.
void remove_database(const std::filesystem::path& file);

} // namespace kernevo::store

#include "kernevo/store/open_journal.h"

#include "kernevo/base/one_line.h"
#include "kernevo/store/sqlite_journal.h"
#include "kernevo/store/sqlite_repair.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

namespace kernevo::store {
namespace {

constexpr std::size_t kSchemeShown = 40;

struct Kind {
  std::string_view scheme; // empty: what has none
  std::string_view name;   // for people
  bool (*holds_run)(const std::string& location);
  Result<std::unique_ptr<Journal>> (*create)(const std::string& location);
  Result<std::unique_ptr<Journal>> (*open)(const std::string& location, Journal::Access access);
  Result<Repair> (*repair)(const std::string& location);
  void (*discard)(const std::string& location);
};

// Another kind of store is another line.
constexpr std::array kKinds = {
    Kind{"", "a folder", holds_sqlite_journal, SqliteJournal::create, SqliteJournal::open,
         repair_sqlite_journal, discard_sqlite_journal},
};

// The SCHEME of SCHEME://REST. Whatever does not begin like one is a folder: ./odd://name, too.
std::string_view scheme_of(std::string_view location) {
  const std::size_t end = location.find("://");
  if (end == std::string_view::npos)
    return {};
  const std::string_view scheme = location.substr(0, end);
  const auto fits = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.';
  };
  const bool named = !scheme.empty() && std::isalpha(static_cast<unsigned char>(scheme[0])) != 0 &&
                     std::all_of(scheme.begin(), scheme.end(), fits);
  return named ? scheme : std::string_view();
}

Result<const Kind*> kind_of_store(const std::string& location) {
  const std::string_view scheme = scheme_of(location);
  std::string known;
  for (const Kind& kind : kKinds) {
    if (kind.scheme == scheme)
      return &kind;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", kind.name);
  }
  return fail(ErrorCode::usage,
              fmt::format("no kind of store is called '{}://'", one_line(scheme, kSchemeShown)),
              std::nullopt, fmt::format("a run can be kept in: {}", known));
}

} // namespace

Result<void> check_location(const std::string& location) {
  KERNEVO_CHECK(kind_of_store(location));
  return {};
}

bool holds_run(const std::string& location) {
  const auto kind = kind_of_store(location);
  return kind && (*kind)->holds_run(location);
}

Result<std::unique_ptr<Journal>> create_journal(const std::string& location) {
  KERNEVO_TRY(kind, kind_of_store(location));
  return kind->create(location);
}

Result<std::unique_ptr<Journal>> open_journal(const std::string& location, Journal::Access access) {
  KERNEVO_TRY(kind, kind_of_store(location));
  return kind->open(location, access);
}

Result<Repair> repair_journal(const std::string& location) {
  KERNEVO_TRY(kind, kind_of_store(location));
  return kind->repair(location);
}

void discard_journal(const std::string& location) {
  if (const auto kind = kind_of_store(location))
    (*kind)->discard(location);
}

} // namespace kernevo::store

// What the world or a user did wrong travels as a value: Result<T> is either a T or an Error that
// says what happened, where, and what to do about it.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace kernevo {

// Which exit code an error deserves (2 = usage or input, 3 = infrastructure).
enum class ErrorCode {
  usage,          // the command line is wrong
  input,          // a file the user wrote is wrong
  unsupported,    // the input is valid but this program cannot handle it
  infrastructure, // the machine, a tool or the disk failed
  unavailable,    // a service refuses until somebody does something: going on makes no sense
};

// A place in a text file. Line and column count from 1; 0 means "the whole file" / "the whole
// line".
struct Place {
  std::string file;
  int line = 0;
  int column = 0;

  bool operator==(const Place&) const = default;
};

struct Error {
  ErrorCode code = ErrorCode::input;
  std::string message;        // one line, no trailing full stop
  std::optional<Place> place; // where in the user's input
  std::string fix;            // what to do, one line; empty when the message already says it
};

template <class T> using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message,
                                  std::optional<Place> place = std::nullopt, std::string fix = "") {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(place), std::move(fix)});
}

// "file:line:column: message; fix" on one line, leaving out what is not known.
std::string format_error(const Error& error);

// The process exit code of this kind of error.
int exit_code(ErrorCode code);

} // namespace kernevo

// Returns the error of a failed Result from the enclosing function.
#define KERNEVO_TRY(name, expression)                                                              \
  auto name##_result = (expression);                                                               \
  if (!name##_result)                                                                              \
    return tl::unexpected<::kernevo::Error>(std::move(name##_result).error());                     \
  auto& name = *name##_result // NOLINT(bugprone-macro-parentheses)

#define KERNEVO_CHECK(expression)                                                                  \
  if (auto kernevo_check_result = (expression); !kernevo_check_result)                             \
  return tl::unexpected<::kernevo::Error>(std::move(kernevo_check_result).error())

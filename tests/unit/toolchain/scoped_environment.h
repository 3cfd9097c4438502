#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace kernevo {

// Sets an environment variable (or unsets it, with nullptr) for the life of the object.
class ScopedEnvironment {
public:
  ScopedEnvironment(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str()))
      before_ = before;
    if (value != nullptr)
      ::setenv(name_.c_str(), value, 1);
    else
      ::unsetenv(name_.c_str());
  }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;
  ~ScopedEnvironment() {
    if (before_)
      ::setenv(name_.c_str(), before_->c_str(), 1);
    else
      ::unsetenv(name_.c_str());
  }

private:
  std::string name_;
  std::optional<std::string> before_;
};

} // namespace kernevo

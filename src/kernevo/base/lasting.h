// A value that a function keeps and nobody destroys. A thread that compiles may look into its
// tables while the process exits; the destructors of what it made first would run before it is
// stopped.
#pragma once

#include <utility>

namespace kernevo {

template <class Value> class Lasting {
public:
  Lasting(Value value) : value_(std::move(value)) {} // NOLINT(google-explicit-constructor)
  Lasting(const Lasting&) = delete;
  Lasting& operator=(const Lasting&) = delete;
  ~Lasting() {} // NOLINT(modernize-use-equals-default): a member of a union is not destroyed

  const Value& operator*() const { return value_; }
  const Value* operator->() const { return &value_; }

private:
  union {
    Value value_;
  };
};

} // namespace kernevo

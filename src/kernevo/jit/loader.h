// Machine code in memory: links an object, gives the address of its function, unmaps it when its
// last user is gone. Pages are writable or executable, never both.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/jit/runtime_table.h"

#include <memory>
#include <string_view>

namespace kernevo::jit {

struct LoadedCode {
  void* address = nullptr;
  std::shared_ptr<void> owner;
};

// Thread-safe. Code may outlive the loader.
class Loader {
public:
  // Code may call the functions of `table` (see runtime_table.h; null = none) by name.
  static Result<std::unique_ptr<Loader>> create(const RuntimeEntry* table = nullptr);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  Result<LoadedCode> load(std::string_view object, std::string_view symbol);

private:
  struct Session;
  explicit Loader(std::shared_ptr<Session> session);
  std::shared_ptr<Session> session_;
};

} // namespace kernevo::jit

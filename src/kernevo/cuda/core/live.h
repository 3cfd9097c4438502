// Objects that a program holds by their address. What it hands over may be anything: given back
// already, never given out.
#pragma once

#include <mutex>
#include <unordered_set>

namespace kernevo::cuda {

template <class Object> class Live {
public:
  static bool has(const Object* handle) {
    const std::lock_guard lock(registry().mutex);
    return registry().all.contains(handle);
  }

private:
  friend Object;
  Live() { enter(); }
  Live(const Live& /*other*/) { enter(); }
  Live& operator=(const Live& /*other*/) { return *this; }
  ~Live() {
    const std::lock_guard lock(registry().mutex);
    registry().all.erase(static_cast<const Object*>(this));
  }

  struct Registry {
    std::mutex mutex;
    std::unordered_set<const void*> all;
  };
  // Never destroyed: programs give back what they hold from static destructors.
  static Registry& registry() {
    static auto* const registry = new Registry();
    return *registry;
  }
  void enter() {
    const std::lock_guard lock(registry().mutex);
    registry().all.insert(static_cast<const Object*>(this));
  }
};

} // namespace kernevo::cuda

#include "kernevo/base/lasting.h"

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <utility>

namespace kernevo {
namespace {

TEST(Lasting, IsNotDestroyed) {
  struct Noisy {
    explicit Noisy(int* count) : destroyed(count) {}
    Noisy(Noisy&& other) noexcept : destroyed(std::exchange(other.destroyed, nullptr)) {}
    Noisy(const Noisy&) = delete;
    Noisy& operator=(const Noisy&) = delete;
    Noisy& operator=(Noisy&&) = delete;
    ~Noisy() {
      if (destroyed != nullptr)
        ++*destroyed;
    }
    int* destroyed;
  };
  int destroyed = 0;
  {
    const Lasting<Noisy> lasting{Noisy(&destroyed)};
    EXPECT_EQ(lasting->destroyed, &destroyed);
  }
  EXPECT_EQ(destroyed, 0);
}

TEST(Lasting, GivesItsValue) {
  static const Lasting names = std::map<std::string, int>{{"one", 1}};
  EXPECT_EQ((*names).at("one"), 1);
  EXPECT_EQ(names->size(), 1U);
}

} // namespace
} // namespace kernevo

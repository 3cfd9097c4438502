// Seeds that nobody can work out from each other: the worker that runs a kernel is told those of
// its inputs, and must not know which elements will be looked at.
#pragma once

#include "kernevo/base/hash.h"

#include <cstdint>
#include <fmt/format.h>
#include <random>
#include <string>
#include <string_view>

namespace kernevo {

// One that nobody knows yet.
inline std::uint64_t fresh_secret() {
  std::random_device source;
  return (std::uint64_t{source()} << 16U | source() % 65536U) & 0xFFFFFFFFFFFFU;
}

// What follows from a secret for one purpose alone.
inline std::uint64_t derived_seed(std::uint64_t secret, std::string_view purpose) {
  const std::string digest = sha256_hex(fmt::format("{} {}", secret, purpose));
  return std::stoull(digest.substr(0, 12), nullptr, 16);
}

class SecretSeeds {
public:
  explicit SecretSeeds(std::uint64_t secret) : secret_(secret) {}

  std::uint64_t next() { return derived_seed(secret_, fmt::format("{}", used_++)); }

private:
  std::uint64_t secret_;
  std::uint64_t used_ = 0;
};

} // namespace kernevo

// Seeds that nobody can work out from each other: the worker that runs a kernel is told those of
// its inputs, and must not know which elements will be looked at.
#pragma once

#include "kernevo/base/hash.h"

#include <cstdint>
#include <fmt/format.h>
#include <string>

namespace kernevo {

class SecretSeeds {
public:
  explicit SecretSeeds(std::uint64_t secret) : secret_(secret) {}

  std::uint64_t next() {
    const std::string digest = sha256_hex(fmt::format("{} {}", secret_, used_++));
    return std::stoull(digest.substr(0, 12), nullptr, 16);
  }

private:
  std::uint64_t secret_;
  std::uint64_t used_ = 0;
};

} // namespace kernevo

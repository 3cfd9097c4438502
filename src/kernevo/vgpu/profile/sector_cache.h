// A cache of 128-byte lines that are filled by 32-byte sectors, as a GPU's L1 is.
#pragma once

#include <cstdint>
#include <vector>

namespace kernevo::vgpu {

class SectorCache {
public:
  explicit SectorCache(std::uint64_t bytes);

  // True when it holds the sector; else it does from now on.
  bool load(std::uint64_t sector);
  void clear();

private:
  struct Line {
    std::uint64_t tag = 0; // line number + 1; 0 = empty
    std::uint64_t used = 0;
    std::uint8_t sectors = 0;
  };

  std::vector<Line> lines_; // set after set
  std::uint64_t sets_ = 0;
  std::uint64_t clock_ = 0;
};

} // namespace kernevo::vgpu

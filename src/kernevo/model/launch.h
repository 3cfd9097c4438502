// A launch plan: what runs, in order, with every size and argument a number.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/dtype.h"

#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

namespace kernevo {

struct BufferArgument {
  std::size_t index = 0; // into the problem's buffers, then the plan's scratch buffers
};

struct LaunchArgument {
  std::string name;
  std::variant<BufferArgument, std::int64_t, double> value;
};

struct Launch {
  std::string kernel; // the name as written in the source
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::array<std::int64_t, 3> block = {1, 1, 1};
  std::int64_t dynamic_shared = 0;
  bool cooperative = false;
  std::vector<LaunchArgument> arguments;
  Place place; // the directive it came from

  std::uint64_t blocks() const {
    return static_cast<std::uint64_t>(grid[0]) * static_cast<std::uint64_t>(grid[1]) *
           static_cast<std::uint64_t>(grid[2]);
  }
};

struct ScratchBuffer {
  std::string name;
  DType dtype = DType::float32;
  std::int64_t elements = 0;

  std::uint64_t bytes() const { return static_cast<std::uint64_t>(elements) * size_of(dtype); }
};

struct LaunchPlan {
  std::vector<ScratchBuffer> scratch;
  std::vector<Launch> launches;

  std::uint64_t blocks() const {
    return std::accumulate(
        launches.begin(), launches.end(), std::uint64_t{0},
        [](std::uint64_t sum, const Launch& launch) { return sum + launch.blocks(); });
  }
};

} // namespace kernevo

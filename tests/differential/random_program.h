// Random kernels for comparing the tiers: valid PTX, free of races. Where the order of threads
// shows (order_pieces.cpp), it is one that both tiers have. The same seed makes the same program.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace kernevo::test {

// A piece of code that can be left out: its lines, or two lists of pieces between lines.
struct Piece {
  std::vector<std::string> head;
  std::vector<Piece> first;
  std::vector<std::string> middle;
  std::vector<Piece> second;
  std::vector<std::string> tail;
  // What stands for head, middle and tail when `first` is kept without its control flow.
  std::vector<std::string> flat;
  bool control = false; // an if or a loop
};

struct RandomProgram {
  std::uint64_t seed = 0;
  std::string gpu;
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::vector<Piece> functions; // each with its code in `first`
  Piece kernel;
  std::string header;

  std::uint32_t threads() const; // of the grid
  std::string text() const;
};

RandomProgram random_program(std::uint64_t seed);

// Buffers of the kernel, in the order of its pointer parameters: input, output, the two places each
// thread may use as it likes, and the one for atomics.
inline constexpr std::uint32_t kInputBytes = 16384 + 128;
inline constexpr std::uint32_t kOutputPerThread = 160;
inline constexpr std::uint32_t kOwnPerThread = 64;
inline constexpr std::uint32_t kRegions = 5; // of 16 bytes a thread, for accesses of 1, 2 .. 16
inline constexpr std::uint32_t kAtomicBytes = 512;

} // namespace kernevo::test

// The generator of random programs. Its statements are written by kind: control flow, memory,
// threads together, waiting, faults.
#pragma once

#include "random_instruction.h"
#include "random_program.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kernevo::test {

// Where code stands: what is known about the threads that run it.
struct Context {
  std::string mask;     // the lanes of the warp that are here, all at once; empty: not known
  bool whole = false;   // they are all 32
  bool uniform = false; // all threads of the block come here together
  bool function = false;
  bool in_loop = false; // of any kind
  bool plain = true;    // no loop around has anything that threads do together
  int depth = 0;
  std::vector<std::string> counters; // of the loops around
};

struct Type {
  const char* name;
  int bytes;
  const char* files; // register files it may be loaded into
};
inline constexpr std::array kTypes = {
    Type{"u8", 1, "hrd"},  Type{"s8", 1, "hrd"}, Type{"b8", 1, "hrd"}, Type{"u16", 2, "hrd"},
    Type{"s16", 2, "hrd"}, Type{"b16", 2, "h"},  Type{"u32", 4, "rd"}, Type{"s32", 4, "rd"},
    Type{"b32", 4, "rf"},  Type{"f32", 4, "f"},  Type{"u64", 8, "d"},  Type{"s64", 8, "d"},
    Type{"b64", 8, "d"},   Type{"f64", 8, "e"},  Type{"f32", 4, "f"},  Type{"u32", 4, "r"}};

inline constexpr std::array<std::pair<char, std::uint32_t>, 6> kFiles = {
    std::pair{'h', kHalves}, {'r', kWords},   {'d', kDoubleWords},
    {'f', kFloats},          {'e', kDoubles}, {'p', kPredicates}};

class Generator {
public:
  explicit Generator(std::uint64_t seed) : dice_(seed) { program_.seed = seed; }

  RandomProgram make();

private:
  // The module.
  void make_header();
  static std::vector<std::string> declarations();
  void make_function(std::uint32_t index);
  // Everything but %r and the first floats, from what those hold.
  void initialise(std::vector<std::string>& lines, std::uint32_t first_float);
  void make_kernel();
  // Every register of the thread, to its own place.
  std::vector<std::string> results();

  // Pieces.
  std::vector<Piece> block(Context context, std::uint32_t count);
  // May narrow what the context knows.
  Piece piece(Context& context);
  static Piece lines(std::vector<std::string> text);
  std::vector<std::string> words(const Context& context) const;
  std::uint32_t name() { return names_++ % 64; }
  std::string label() { return "L" + std::to_string(labels_++); }

  // Control flow.
  Piece condition(const Context& context);
  Piece loop(const Context& context);
  Piece long_loop();
  Piece switch_piece(const Context& context);
  Piece exit_piece(Context& context);
  Piece call_piece(const Context& context);
  Piece pointer_call_piece(const Context& context);
  std::vector<std::string> recursion(std::uint32_t function);
  Piece print_piece();

  // Memory.
  // Sets %td0 to an address in the input and returns the operand.
  std::string input_address(std::vector<std::string>& text, const Context& context, int bytes);
  std::string registers(char file, int count);
  std::string guard();
  std::string load(const Type& type, int count, const std::string& space,
                   const std::string& address);
  // The f64 stored is canonical in its NaNs.
  void store(std::vector<std::string>& text, const Type& type, int count, const std::string& space,
             const std::string& address);
  // Registers the same in all threads, or in step with the thread's number.
  Piece regular_piece(const Context& context);
  Piece memory_piece(const Context& context);
  // Every place has one operation, so that the order of them does not show.
  Piece atomic_piece();

  // Threads together.
  Piece warp_piece(const Context& context);
  std::string with_mask(std::string text, const std::string& mask, const Context& context);
  Piece block_piece(const Context& context);
  Piece sums_of_block(const std::string& barrier);
  Piece value_of_another(const std::string& barrier);
  Piece copied_rows(const Context& context, const std::string& barrier);

  // What shows the order in which threads run: the same in both tiers.
  Piece ordered_atomic_piece();
  Piece lock_piece();
  Piece flag_piece();
  Piece schedule_piece();

  // Faults.
  // One thread does what must not be done.
  Piece planted_fault();

  Dice dice_;
  RandomProgram program_;
  std::uint32_t threads_ = 0; // of a block
  int sm_ = 80;
  bool fault_ = false;
  bool planted_ = false;
  std::uint32_t functions_ = 0;
  std::uint32_t ready_functions_ = 0;
  bool exited_ = false;
  bool barriers_ok_ = true;
  bool warps_ok_ = true;
  std::uint32_t names_ = 0;
  std::uint32_t labels_ = 0;
  bool long_ = false; // it has a long loop
};

} // namespace kernevo::test

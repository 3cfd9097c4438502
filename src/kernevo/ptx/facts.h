// What the instructions of a module show of how its kernels work. Comments, names and strings show
// nothing; where an address may lie in several spaces, the answer is the cautious one.
#pragma once

#include "kernevo/ptx/module.h"

#include <optional>
#include <string_view>

namespace kernevo::ptx {

struct PtxFacts {
  bool atomics = false;              // atom, red and their kin, in any space
  bool atomics_beyond_block = false; // of these: on global, generic or another block's memory
  bool strong_loads = false;         // volatile, relaxed or acquire, of global or generic memory
  bool device_fences = false;
  bool block_barriers = false; // bar.sync, mbarrier and the like
  bool cluster = false;        // barriers or memory of a cluster of blocks
  bool grid_barrier = false;   // asks for the workspace of a cooperative launch
  bool shared_memory = false;
  bool async_copies = false;
  bool tensor_cores = false;
  bool textures = false; // or surfaces
  bool loops = false;
  bool calls = false;             // of any function, the runtime's included
  bool prints = false;            // printf
  bool asserts = false;           // assert
  bool outside_functions = false; // defined elsewhere, e.g. to launch kernels
  int global_access_bytes = 0;    // of a thread: the widest load, store or copy

  bool operator==(const PtxFacts&) const = default;
};

PtxFacts facts_of(const Module& module);
// Absent when the text is not a module that is understood: then nothing is known.
std::optional<PtxFacts> facts_of(std::string_view text);

// Whether what a block writes may depend on other blocks, so that a few of them prove nothing when
// run alone. Yes when nothing is known.
bool blocks_may_meet(const std::optional<PtxFacts>& facts);

} // namespace kernevo::ptx

// What went wrong while a kernel ran on the virtual GPU: one fault, with the place and the thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kernevo {

enum class FindingKind {
  out_of_bounds,
  misaligned,
  null_pointer,
  read_only_write, // store to constant or parameter memory
  uninitialized_read,
  shared_race,
  global_race,
  stale_read_only_load, // through the read-only cache, of memory that the same launch writes
  barrier_divergence,   // some threads of the block left or went elsewhere, the rest wait for them
  deadlock,             // every thread waits
  warp_sync_divergence, // a lane named in a member mask can never arrive
  instruction_budget,
  time_limit,
  memory_limit,
  stack_overflow,
  trap,
  assertion,
  output_flood,   // printf past the limit (the rest is dropped, the kernel goes on): a warning
  bad_texture,    // a handle that is no texture, surface or sampler, or of another kind
  launch_limit,   // grid, block, shared memory or registers beyond the GPU
  bad_argument,   // argument count or size does not match the kernel's parameters
  unknown_kernel, // the launch names a kernel the module does not have
  unsupported_instruction,
  invalid_ptx,
  crash, // the worker process died
};

std::string_view name_of(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::crash;
  std::string message; // one sentence, complete without the fields below
  std::string kernel;  // as in the source
  std::string source_file;
  int source_line = 0; // 0 when the PTX carries no line information
  int ptx_line = 0;
  std::array<std::uint32_t, 3> block = {0, 0, 0};
  std::array<std::uint32_t, 3> thread = {0, 0, 0};
  bool has_thread = false; // block and thread are meaningful
  std::string space;       // "global", "shared", "local", ... for memory faults
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  std::string buffer; // the allocation concerned, if any: "C (64 bytes past its end)"
};

} // namespace kernevo

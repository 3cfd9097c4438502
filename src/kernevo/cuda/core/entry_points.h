// The driver's functions by name and version, for both interfaces.
#pragma once

namespace kernevo::cuda {

struct EntryPoint {
  void* function = nullptr; // null: there is none
  bool is_newer = false;    // but there is one for newer versions
};

// `version` as in CUDA_VERSION: the newest function that is not newer.
EntryPoint find_entry_point(const char* name, int version, bool per_thread);

} // namespace kernevo::cuda

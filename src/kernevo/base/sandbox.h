// What a worker process gives up before it touches a candidate. Layers are probed, and reported by
// `kernevo doctor`: a layer this system lacks weakens the cage but does not stop the work, because
// candidate code is PTX, interpreted or translated with every access checked. Only a Python
// program's own process runs native code, and is refused without them.
#pragma once

#include "kernevo/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernevo {

enum class Confinement {
  compile, // may run the assembler; no network, no tracing. Its files are a FileCage
  execute, // memory and threads only: no files, no processes, no network
  drive,   // of all its threads: no network, no processes, no tracing. It has opened its devices
           // before, and its files are a FileCage
  program, // native code of a candidate: threads and the files of a FileCage; no network, no
           // processes, no signals to others. Unlike above it fails where the system has no filters
};

struct ProcessLimits {
  std::uint64_t address_space = 0; // bytes; 0 = no limit
  std::uint64_t cpu_seconds = 0;   // 0 = no limit
  std::uint64_t file_bytes = 0;    // largest file it may write; 0 = no limit
};

// Applies limits, dies with the parent, forgoes new privileges, filters system calls. Irreversible.
Result<void> confine_this_process(Confinement confinement, const ProcessLimits& limits);

struct SandboxLayer {
  std::string name;
  bool available = false;
  std::string detail;
  std::string fix; // what its absence means, or what to do; empty when it is there
};
std::vector<SandboxLayer> probe_sandbox();

} // namespace kernevo

// The processor code is made for: the one this runs on.
#pragma once

#include "kernevo/base/result.h"

#include <llvm/Target/TargetMachine.h>
#include <memory>
#include <string>

namespace kernevo::jit {

struct Host {
  std::string triple;
  std::string cpu;
  std::string features;      // "+avx2,-avx512f,..."
  std::string runtime_level; // which build of the runtime library fits: "x86-64-v3", "generic"
  std::string prefer_vector_width; // in bits; empty = the target's own choice
  bool converts_halves = false;    // x86: instructions for f16 <-> f32
  bool rounds_as_told = false;     // x86: 512-bit arithmetic that names its rounding mode
};

Host find_host();
// The same machine as if it had nothing beyond a level of x86-64.
Host limited_to(Host host, const std::string& runtime_level);

// Not optimised code is made three times as fast and takes twice as long to run.
Result<std::unique_ptr<llvm::TargetMachine>> make_target_machine(const Host& host, bool optimise);

// Machine code for the host in every function of the module, whatever it was compiled for.
void set_host(llvm::Module& module, const Host& host, const llvm::TargetMachine& machine);

} // namespace kernevo::jit

// What of a build a real GPU loads: machine code for exactly its architecture, from our own
// assembler, so that what runs is what was looked at.
#pragma once

#include "kernevo/toolchain/toolchain.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace kernevo {

class CudaCode {
public:
  // How a source was compiled; its PTX will come back alone.
  void remember(const CompileRequest& request, const Build& build);
  struct Cubin {
    std::string bytes;
    std::string assembler; // "ptxas 13.2.86"
  };
  // Empty where there is no assembler, or it cannot make code for this GPU of the PTX: the driver
  // compiles it then.
  Cubin cubin_of(const std::string& ptx, int compute_capability, int driver_version) const;

private:
  struct Options {
    std::string architecture;
    std::vector<std::string> flags;
    std::optional<int> max_registers;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Options> known_; // by hash of the PTX
};

// "sm_80" of PTX text; empty where it says nothing.
std::string target_of_ptx(const std::string& ptx);
// Whether code for `architecture` ("sm_80", "sm_90a") runs on a GPU of this compute capability, as
// machine code or as PTX that the driver compiles.
bool runs_as_machine_code(const std::string& architecture, int compute_capability);
bool runs_as_ptx(const std::string& architecture, int compute_capability);

} // namespace kernevo

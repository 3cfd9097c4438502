// Something that runs launch plans: the virtual GPU, a real one, a remote one.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/device/arena.h"
#include "kernevo/model/finding.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/launch.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/task/inputs.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kernevo {

// How a kernel sees one of the plan's tensors.
struct TensorBinding {
  std::string name;
  std::size_t region = 0; // in the arena
  bool read_only = false;
  bool initialized = true; // false: reading before writing is a fault
  // Region that receives one byte per tensor byte: 1 where a kernel wrote. Absent = not wanted.
  std::optional<std::size_t> written_region;
  // The worker makes the content from this, page by page, as kernels touch it.
  std::optional<InputRecipe> recipe = std::nullopt;
};

// Blocks, warps and the lanes of an atomic in their natural order, or in one that a seed decides.
struct RunOrder {
  bool shuffled = false;
  std::uint64_t seed = 0;
};

struct RunRequest {
  LaunchPlan plan;
  std::vector<TensorBinding> tensors;   // in the order BufferArgument counts, before the scratch
  std::map<std::string, int> registers; // per kernel name as in the plan, from ptxas
  std::map<std::string, std::string> entry_names; // plan name -> PTX name, where they differ
  bool sanitize = false;
  std::vector<std::uint64_t> only_blocks; // of the single launch; empty = all
  std::uint64_t instruction_budget = 0;   // warp instructions per launch; 0 = the device's default
  double seconds = 60;
  RunOrder order = {};
  // Count what the launches do (RunOutcome::counts), each on these blocks only.
  struct Profile {
    std::vector<std::uint64_t> blocks; // empty = all
    std::uint64_t l1_bytes = 0;        // the part of L1 that a block has to itself
  };
  std::vector<Profile> profile = {}; // one a launch; empty = count nothing
  // Outputs are poisoned page by page too, and kernels may touch this much of each tensor.
  bool on_demand = false;
};

struct RunOutcome {
  std::optional<Finding> fault;
  std::string printed;
  bool output_flood = false;
  std::uint64_t warp_instructions = 0;
  std::uint64_t compiled_instructions = 0; // of the warp instructions: not interpreted
  std::uint64_t blocks_run = 0;
  std::vector<LaunchCounts> counts; // RunRequest::profile: one a launch

  static RunOutcome stopped_by(Finding finding) {
    RunOutcome outcome;
    outcome.fault = std::move(finding);
    return outcome;
  }
};

class Device {
public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  virtual const Gpu& gpu() const = 0;
  // Result errors are the machine's trouble; what the module does wrong is a finding.
  virtual Result<std::optional<Finding>> load(const std::string& ptx, const std::string& file) = 0;
  // Runs the plan on the loaded module with the arena's tensors.
  virtual Result<RunOutcome> run(const RunRequest& request, const Arena& arena) = 0;
};

} // namespace kernevo

// What runs kernels: the virtual GPU, a real one, a remote one. A core that every device has
// (build, load, run, a time), and capabilities that some have.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/device/arena.h"
#include "kernevo/model/counter_readings.h"
#include "kernevo/model/finding.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/input_recipe.h"
#include "kernevo/model/launch.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/model/loaded_code.h"
#include "kernevo/model/timing.h"
#include "kernevo/timing/shots.h"
#include "kernevo/toolchain/toolchain.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
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
  // Region that receives one byte per tensor byte: 1 where a kernel wrote. Absent = not wanted, as
  // always of a device without instruments.
  std::optional<std::size_t> written_region;
  // The worker makes the content from this, page by page, as kernels touch it.
  std::optional<InputRecipe> recipe = std::nullopt;
};

// Blocks, warps and the lanes of an atomic in their natural order, or in one that a seed decides.
struct RunOrder {
  bool shuffled = false;
  std::uint64_t seed = 0;
};

// What only an instrumented device can do with a run.
struct Instruments {
  bool sanitize = false;
  std::vector<std::uint64_t> only_blocks; // of the single launch; empty = all
  RunOrder order = {};
  // Count what the launches do (RunOutcome::counts), each on these blocks.
  struct Profile {
    std::vector<std::uint64_t> blocks; // empty = all
    std::vector<double> weights = {};  // how many blocks each stands for; empty = 1
    bool in_company = false;           // all other blocks run, too, uncounted
    std::uint64_t l1_bytes = 0;        // the part of L1 that a block has to itself
  };
  std::vector<Profile> profile = {}; // one per launch; empty = count nothing
  // For each launch the arena's region that receives a BlockTally of each block; empty = not
  // wanted.
  std::vector<std::size_t> tally_regions = {};
  // Inputs with a recipe and poisoned outputs come into being page by page, as kernels touch them.
  bool on_demand = false;
  // Leave module variables, scratch and heap as they are for the next run, and start with those
  // that the run before left: as a program would that launches the plan again and again.
  bool keep_state = false;
  bool go_on = false;
  // Of what the run before left in module variables, nothing may matter: it is random, and
  // undefined to the sanitizers.
  bool scramble = false;
};

struct RunRequest {
  LaunchPlan plan;
  std::vector<TensorBinding> tensors;   // in the order BufferArgument counts, before the scratch
  std::map<std::string, int> registers; // per kernel name as in the plan, from ptxas
  std::map<std::string, std::string> entry_names; // plan name -> PTX name, where they differ
  std::uint64_t instruction_budget = 0; // warp instructions per launch; 0 = the device's default
  double seconds = 60;                  // processor time of a launch
  // Left as it is for a run any device can make.
  Instruments instruments = {};
};

struct RunOutcome {
  std::optional<Finding> fault;
  std::string printed;
  bool output_flood = false;
  std::uint64_t warp_instructions = 0;
  std::uint64_t compiled_instructions = 0; // of the warp instructions: not interpreted
  std::uint64_t blocks_run = 0;
  std::vector<LaunchCounts> counts; // Instruments::profile: one per launch
  // Instruments::keep_state: module variables that do not hold what they held before any launch.
  std::vector<std::string> changed_variables;

  static RunOutcome stopped_by(Finding finding) {
    RunOutcome outcome;
    outcome.fault = std::move(finding);
    return outcome;
  }
};

// What counters of hardware showed of a run; or what the kernel did wrong meanwhile; or why there
// are none, which is no trouble.
struct CountedRun {
  std::vector<CounterReadings> launches; // one for each of the plan
  int passes = 0;                        // the plan was run so often, from the same start
  std::optional<Finding> fault = {};
  std::string refusal = {};
  std::string remedy = {};
};

// Who a device is: for receipts, for cache keys, for people.
struct DeviceIdentity {
  std::string name; // "virtual:A100", "cuda:0"
  Gpu gpu;
  TimingMethod method = TimingMethod::modelled; // of the times it gives
  // Of a device behind a driver; all empty of a virtual one.
  std::string model = {};    // what it calls itself: "NVIDIA A100-SXM4-40GB"
  std::string driver = {};   // "13.0 (580.65.06)"
  std::string stand_in = {}; // what plays it: "virtual A100, kernevo 0.1.0"; empty of a real one
};

// "cuda:0 NVIDIA A100-SXM4-40GB": what a receipt says.
std::string title_of(const DeviceIdentity& device);
// "NVIDIA A100-SXM4-40GB, driver 13.0", and what plays it; empty of a virtual GPU.
std::string hardware_of(const DeviceIdentity& device);

// What a device says of itself before and after a timing; what it does not know is absent.
struct DeviceState {
  Clocks clocks;
  std::optional<double> celsius;
  std::optional<double> watts;
  // Why a timing taken now is worth nothing, one line each: "throttled by heat", "process 4711 runs
  // on it, too". Never said because of a time.
  std::vector<std::string> disturbances;
};

// What a device can do beyond running kernels and giving a time.
struct DeviceCapabilities {
  bool instrumented = false; // takes Instruments: sanitizers, sampled blocks, orders, counts
  bool measures = false;     // makes shots; a device that does not is timed by the model
  bool has_counters = false; // of hardware, if it is allowed to read them: LoadedModule::count
  bool hot_cache = false;    // shots can find the caches as the shot before left them
};

// What a module may use.
struct ModuleLimits {
  std::uint64_t memory_bytes = std::uint64_t{8} << 30U; // beside the tensors
  // Address space for arenas larger than that, of which runs on demand touch little.
  std::uint64_t arena_bytes = 0;
  // Nobody has run this module in the same process before.
  bool fresh_process = false;

  bool operator==(const ModuleLimits&) const = default;
};

// A module on a device, ready to run. For one thread at a time.
class LoadedModule {
public:
  LoadedModule() = default;
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;
  virtual ~LoadedModule() = default;

  // Runs the plan with the arena's tensors. The arena is where both sides allocate and copy: what
  // is in it before is what kernels read, what is in it afterwards is what they wrote.
  virtual Result<RunOutcome> run(const RunRequest& request, const Arena& arena) = 0;
  // Devices with counters of hardware: runs the plan as often as these take, and leaves the arena
  // as it is. Those the hardware does not have are left out.
  virtual Result<CountedRun> count(const RunRequest& request, const Arena& arena,
                                   const std::vector<std::string>& counters);
  // What of the build was loaded; nothing of a device that leaves no choice.
  virtual std::optional<LoadedCode> code() const { return std::nullopt; }
};

// Either a module, or what is wrong with it.
struct LoadOutcome {
  std::unique_ptr<LoadedModule> module;
  std::optional<Finding> refusal;
};

// One side of a timing: a module with the run that is to be timed.
struct Timed {
  LoadedModule* module = nullptr;
  const RunRequest* request = nullptr;
  const Arena* arena = nullptr;
};

// Shots of a device. Between them the judge puts fresh values into inputs and looks at outputs.
//
// The device copies the tensors of each side out of its arena once. Before every shot it puts back
// tensors that kernels both read and write, and fills pure outputs with poison, none of which is
// timed. A kernel's fault in a shot ends the source: shoot() fails, and fault() says which side it
// was. All other errors are trouble of the device; `unavailable` says that it is gone.
class DeviceShots : public ShotSource {
public:
  // A part of a tensor as the next shot of this side will find it.
  virtual Result<void> write(Side side, std::size_t tensor, std::uint64_t offset,
                             std::span<const std::byte> bytes) = 0;
  // A part of a tensor as the last shot of this side left it.
  virtual Result<void> read(Side side, std::size_t tensor, std::uint64_t offset,
                            std::span<std::byte> bytes) = 0;
  struct Fault {
    Side side = Side::incumbent;
    Finding finding;
  };
  virtual std::optional<Fault> fault() const { return std::nullopt; }
  // Looks at red zones and read-only tensors of both sides, after the last shot.
  virtual Result<std::optional<Fault>> audit() { return std::optional<Fault>(); }
};

// What runs kernels. Several threads may use one device; it outlives its modules. A device that is
// gone answers everything with an error `unavailable`: what came before stands.
class Device {
public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  virtual const DeviceIdentity& identity() const = 0;
  virtual DeviceCapabilities capabilities() const = 0;
  const Gpu& gpu() const { return identity().gpu; }
  // Everything a result depends on beside the kernel and the task, as one line for keys.
  virtual Result<std::string> fingerprint() const = 0;

  // What to compile for when a kernel does not say: "sm_80".
  virtual Result<std::string> architecture() const = 0;
  // Source to what this device loads. A source that does not compile is a Build that is not ok.
  virtual Result<Build> build(const CompileRequest& request) = 0;
  // Result errors are the machine's trouble; what the module does wrong is the refusal.
  virtual Result<LoadOutcome> load(const std::string& ptx, const std::string& file,
                                   const ModuleLimits& limits) = 0;
  // Devices that measure: shots of one side, or of two in turns (`candidate` may be null). All
  // must outlive the source.
  virtual Result<std::unique_ptr<DeviceShots>> shots(const Timed& incumbent, const Timed* candidate,
                                                     CacheState cache);
  // What limits of time are held against while shots are taken.
  virtual Clock& clock();
  // Nothing is known of a device that does not measure.
  virtual Result<DeviceState> state() { return DeviceState{}; }
  // Leaves the device alone for so long, so that it cools down.
  virtual void rest(Nanoseconds time);

  // Of a device without instruments: the virtual GPU that runs in its place what needs them. Set
  // once, by whoever opens the device.
  struct Companion {
    std::shared_ptr<Device> device;
    std::string likeness; // "the same GPU", "of the same compute capability"
  };
  const std::optional<Companion>& companion() const { return companion_; }
  void accompany(Companion companion) { companion_ = std::move(companion); }

private:
  std::optional<Companion> companion_;
};

} // namespace kernevo

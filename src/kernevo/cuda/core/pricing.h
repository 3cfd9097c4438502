// What the launches and copies of this process cost, for the virtual clocks of its streams and for
// the report of 'kernevo run'. Nothing is counted or asked before somebody wants to know.
#pragma once

#include "kernevo/cuda/core/price_process.h"
#include "kernevo/cuda/core/priced_launch.h"
#include "kernevo/cuda/core/stream_clock.h"
#include "kernevo/model/architecture.h"
#include "kernevo/model/program_report.h"
#include "kernevo/vgpu/execute/machine.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kernevo::cuda {

class Pricing {
public:
  // Ends the program when $KERNEVO_TIME is neither "modelled" nor "wall".
  explicit Pricing(const Gpu& gpu);
  Pricing(const Pricing&) = delete;
  Pricing& operator=(const Pricing&) = delete;
  ~Pricing();

  // From now on somebody may ask how long something took.
  void want() { wanted_ = modelled_; }
  bool wanted() const { return wanted_; }
  // Whether events carry modelled time. Asked for the first time when a program wants a time: where
  // there is no price worker that is said once, and the wall clock serves to the end.
  bool modelled();
  // Whether the environment asks for modelled time by name: then the wall clock is no way out.
  bool required() const { return required_; }

  // Starts the price worker now: this process may soon not be able to.
  Result<void> start() { return process_.start(); }

  StreamClock& clock() { return clock_; }

  // machine.launch(), with what it takes to price it; the price becomes part of the work of this
  // thread's scope. `texts`: the module's PTX.
  vgpu::LaunchResult launch(vgpu::Machine& machine, const vgpu::Program& program,
                            const vgpu::LaunchConfig& config, const Texts& texts);

  // What the assembler makes of a kernel; nothing where there is no price worker or assembler, or
  // it refuses the module. Asked once; takes as long as the assembler does.
  std::optional<AssembledKernel> assembled(const vgpu::Program& program, const Texts& texts,
                                           const std::string& kernel);

  // Work of the host in a kernel's place: its price becomes part of the work of this thread's
  // scope.
  void add_operator(const char* name, std::uint64_t bytes, double flops, int arithmetic);

  // For the report alone: what went wrong, each once.
  void add_finding(const std::string& text);
  void add_problem(const std::string& text);

  // The program ends.
  void close();

private:
  // Of the blocks nobody counts none runs, where blocks need not meet.
  void run_counted_only(const vgpu::Program& program, const Texts& texts,
                        vgpu::LaunchConfig& config);
  std::optional<vgpu::LaunchResult> sample(vgpu::Machine& machine, const vgpu::Program& program,
                                           const vgpu::LaunchConfig& config,
                                           const vgpu::LaunchResult& counted,
                                           std::uint64_t& instructions) const;
  vgpu::LaunchResult launch_in_range(vgpu::Machine& machine, const vgpu::Program& program,
                                     const vgpu::LaunchConfig& config, const Texts& texts);
  // A launch's exact sums. Instructions of warps and threads cost nothing to count; what memory was
  // asked for makes some kernels twice as slow, so it is known of some launches only.
  struct Totals {
    std::array<std::uint64_t, 2> instructions = {};
    std::optional<std::array<std::uint64_t, 3>> memory; // sectors loaded and stored, atomics
    bool like(const Totals& other) const;
  };
  struct Variant {
    Totals totals;
    std::shared_ptr<PricedLaunch> launch;
    std::uint64_t calls = 0;
    WorkRatio ratios = {0, 0}; // of the calls, together
  };
  // The launches of a kernel with one shape.
  struct Shape {
    std::string kernel; // as in the source
    std::uint64_t calls = 0;
    std::deque<Variant> variants;
    std::vector<BlockTally> tallies; // where the blocks that were counted stood badly for all
    bool recount = false;
    std::uint64_t counted = 0; // warp instructions
  };
  struct Key {
    std::uint64_t program = 0;
    std::string kernel;
    std::array<std::uint32_t, 3> grid = {};
    std::array<std::uint32_t, 3> block = {};
    std::array<std::uint32_t, 3> cluster = {};
    std::uint32_t shared = 0;
    auto operator<=>(const Key&) const = default;
  };

  // Says why, once.
  void give_up(const Error& why);
  vgpu::LaunchResult launch_uncounted(vgpu::Machine& machine, const vgpu::Program& program,
                                      const vgpu::LaunchConfig& config);
  static WorkRatio ratio_of(const Totals& launch, const Totals& counted);
  bool choose(const vgpu::Machine& machine, const vgpu::Program& program, const Shape& shape,
              vgpu::LaunchConfig& config, std::uint64_t& l1_bytes) const;
  std::shared_ptr<PricedLaunch> make_priced(const vgpu::Program& program,
                                            const vgpu::LaunchConfig& config, const Texts& texts,
                                            vgpu::LaunchResult& result,
                                            const std::vector<BlockTally>& tallies,
                                            std::uint64_t instructions);
  std::shared_ptr<const Quote> quote(Shape& shape, const Totals& totals,
                                     std::shared_ptr<PricedLaunch> counted);
  Cost price_transfer(Transfer transfer, std::uint64_t bytes);
  KernelUse use_of(const Key& key, const Shape& shape) const;
  void write_report(bool complete);

  Gpu gpu_;
  Architecture architecture_;
  bool required_ = false;
  bool modelled_ = true;
  bool decided_ = false; // whether events carry modelled time
  std::atomic<bool> wanted_ = false;
  std::atomic<bool> told_ = false; // some time was given to the program
  int owner_;                      // the process; a fork of it has nothing to tell
  std::uint64_t seed_;             // of the choice of blocks
  StreamClock clock_;
  PriceProcess process_;

  std::mutex assembled_mutex_;
  std::map<std::pair<std::uint64_t, std::string>, std::optional<AssembledKernel>> assembled_;

  std::mutex mutex_; // of what follows
  std::map<Key, Shape> shapes_;
  std::map<std::uint64_t, bool> may_meet_; // blocks of the programs' kernels
  struct TransferSum {
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    double ns = 0;
  };
  std::mutex transfer_mutex_;
  std::array<TransferSum, 7> transfers_ = {};
  std::map<std::string, OperatorUse> operators_; // under transfer_mutex_, too
  std::string report_;                           // the file; empty: none is wanted
  std::vector<std::string> findings_;
  std::vector<std::string> problems_;
  std::chrono::steady_clock::time_point reported_;
};

// Of the session's GPU; never destroyed, closed when the program ends.
Pricing& pricing();

} // namespace kernevo::cuda

#include "kernevo/predict/warp_walk.h"

#include "kernevo/sass/opcode_table.h"

#include <algorithm>
#include <array>

namespace kernevo {
namespace {

constexpr std::size_t kScoreboards = 6;
constexpr double kSourcesRead = 12;    // cycles until a slow instruction has read its registers
constexpr double kBarrierLatency = 20; // of a barrier that all others have reached
constexpr double kOtherLatency = 20;   // of variable-latency instructions not listed
constexpr int kRounds = 2; // so that a loop's body starts with what its own last turn left pending

// Cycles from the start of a block until each scoreboard is released; 0 = free.
using Pending = std::array<double, kScoreboards>;

class Walk {
public:
  Walk(const MachineWork& work, const AccessTable& accesses, const Architecture& architecture,
       double far_latency)
      : work_(work), accesses_(accesses), architecture_(architecture), far_(far_latency) {}

  std::vector<double> run() {
    std::vector<double> cycles(work_.flow.blocks.size(), 0);
    std::vector<Pending> left(work_.flow.blocks.size(), Pending{});
    for (int round = 0; round < kRounds; ++round)
      for (std::size_t b = 0; b < work_.flow.blocks.size(); ++b)
        cycles[b] = walk(b, entry_state(b, left), left[b]);
    return cycles;
  }

private:
  // What the way most often taken into the block leaves pending.
  Pending entry_state(std::size_t block, const std::vector<Pending>& left) const {
    const std::vector<std::size_t>& in = work_.flow.blocks[block].in;
    if (in.empty())
      return {};
    const std::size_t edge = *std::max_element(in.begin(), in.end(), [&](auto a, auto b) {
      return work_.join.edge_threads[a] < work_.join.edge_threads[b];
    });
    return left[work_.flow.edges[edge].from];
  }

  double walk(std::size_t block, Pending pending, Pending& left) const {
    double now = 0;
    for (std::size_t k = work_.flow.blocks[block].first; k < work_.flow.blocks[block].last; ++k) {
      const sass::SassInstruction& i = work_.function.instructions[k];
      for (std::size_t s = 0; s < kScoreboards; ++s)
        if ((i.control.wait_mask >> s & 1U) != 0)
          now = std::max(now, pending.at(s));
      if (i.control.write_barrier)
        pending.at(static_cast<std::size_t>(*i.control.write_barrier)) = now + latency(i);
      if (i.control.read_barrier) {
        double& sources = pending.at(static_cast<std::size_t>(*i.control.read_barrier));
        sources = std::max(sources, now + kSourcesRead);
      }
      now += std::max(1, i.control.stall);
    }
    for (std::size_t s = 0; s < kScoreboards; ++s)
      left.at(s) = std::max(0.0, pending.at(s) - now);
    return now;
  }

  double latency(const sass::SassInstruction& i) const {
    if (i.memory)
      switch (i.memory->space) {
      case sass::MemorySpace::shared:
        // Wide results come in several parts.
        return architecture_.shared_latency + 2 * std::max(0, i.memory->bytes / 4 - 1);
      case sass::MemorySpace::local: return architecture_.l1_latency;
      case sass::MemorySpace::constant: return architecture_.constant_latency;
      case sass::MemorySpace::global:
      case sass::MemorySpace::generic: return global_latency(i);
      case sass::MemorySpace::texture:
      case sass::MemorySpace::surface:
      case sass::MemorySpace::tensor: return far_;
      }
    switch (sass::pipe_of(i)) {
    case sass::Pipe::xu: return architecture_.special_function_latency;
    case sass::Pipe::fp64: return architecture_.fp64_latency;
    case sass::Pipe::tensor: return architecture_.tensor_latency;
    case sass::Pipe::cbu:
    case sass::Pipe::adu: return kBarrierLatency;
    default: return kOtherLatency;
    }
  }

  // A request waits for the slowest of its sectors.
  double global_latency(const sass::SassInstruction& i) const {
    const AccessCounts* access = i.ptx_line ? accesses_.first(*i.ptx_line) : nullptr;
    if (access == nullptr || access->requests == 0 || access->action != MemoryAction::load)
      return far_;
    if (access->space == MemorySpace::shared)
      return architecture_.shared_latency;
    const auto missed =
        static_cast<double>(access->sectors - std::min(access->l1_hits, access->sectors));
    const double some_miss = std::min(1.0, missed / static_cast<double>(access->requests));
    return architecture_.l1_latency + some_miss * (far_ - architecture_.l1_latency);
  }

  const MachineWork& work_;
  const AccessTable& accesses_;
  const Architecture& architecture_;
  double far_;
};

} // namespace

std::vector<double> walk_warp(const MachineWork& work, const AccessTable& accesses,
                              const Architecture& architecture, double far_latency) {
  return Walk(work, accesses, architecture, far_latency).run();
}

} // namespace kernevo

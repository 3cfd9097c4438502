// A scripted GPU at its worst: it drifts, jumps, spikes and is throttled, from one episode to the
// next, and says only some of it.
#pragma once

#include "scripted_run.h"

namespace kernevo {

// What it does to times, by name: "quiet" (1 % normal), "drift" (a random walk of 10 %), "spikes"
// (every tenth shot up to several times slower), "throttled" (40 % slow for stretches, which the
// device admits of each shot), "all" of them at once.
const std::vector<std::string>& hostile_noises();

// A GPU without instruments, with a companion. One state in twelve of "throttled" and "all" says
// that the whole episode was disturbed.
std::shared_ptr<FakeDevice>
hostile_gpu(const std::string& noise, std::uint64_t seed,
            const std::shared_ptr<FakeDevice>& companion = fake_device());

// What became of kernels that take so many nanoseconds, offered to an evolution whose reference
// takes 20000.
struct Offered {
  int promoted = 0;
  int offered = 0; // and told: not those whose timing was disturbed
};
Offered evolve_offering(const std::shared_ptr<FakeDevice>& device, int nanoseconds, int kernels);

} // namespace kernevo

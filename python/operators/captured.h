// Operators inside torch.cuda.graph: recorded as work of the host, done again whenever the graph is
// replayed, on the same memory.
#pragma once

#include "recorded.h"

#include <ATen/ops/clone.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>

namespace kernevo {

// A graph draws new numbers at each replay.
inline uint64_t next_seed_of_replay() {
  static std::atomic<uint64_t> draws = 0;
  return mixed(0x6b65726e65766fULL, draws++);
}

struct Recorded {
  c10::OperatorHandle op;
  const Traits& traits;
  Values arguments;
  Values results; // whose memory the replay fills
};

// In a thread of the virtual GPU: nothing here may ask anything of CUDA.
inline void replay(void* data) {
  const Recorded& recorded = *static_cast<Recorded*>(data);
  try {
    const c10::InferenceMode plain;
    const RecordingState state = recording_state();
    const uint64_t seed = next_seed_of_replay();
    if (state.written) {
      OperatorText text(recorded.traits,
                        recorded.traits.random ? std::optional(seed) : std::nullopt);
      text.arguments(recorded.arguments);
      text.results(recorded.results, recorded.arguments);
      write_down(nullptr, recorded.traits, text);
    }
    if (state.computes) {
      HostCall call(recorded.op, recorded.traits);
      call.draw_with(seed);
      const Values results = call.run(recorded.arguments, false);
      fill_results(call, recorded.results, results);
    }
    end_operator(nullptr, work_of(recorded.traits, recorded.arguments, recorded.results));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "kernevo: %s fails in a graph: %s\n", recorded.traits.name.c_str(),
                 problem.what());
  }
}

// Runs once for the sizes of the results, on what happens to be in memory; leaves memory as it was.
inline Values record(const c10::OperatorHandle& op, const Traits& traits, const Values& arguments) {
  TORCH_CHECK(!traits.needs_result,
              "CUDA error: operation not permitted when stream is capturing (", traits.name,
              " must know values to know its result's size)");
  const std::optional<Values> sized =
      recording_state().plain() ? std::nullopt : MetaCall(op, traits).run(arguments);
  std::vector<std::pair<at::Tensor, at::Tensor>> before;
  Aliases aliases;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (traits.written[i] && !sized)
      each_tensor({arguments[i]}, [&](const at::Tensor& written) {
        if (on_gpu(written)) {
          const at::Tensor host = aliases.on_host(written);
          before.emplace_back(host, host.clone());
        }
      });
  HostCall call(op, traits);
  call.draw_with(next_seed_of_replay());
  auto recorded = std::make_unique<Recorded>(
      Recorded{op, traits, arguments, sized ? *sized : call.run(arguments, true)});
  for (auto& [host, saved] : before)
    host.copy_(saved);
  Values results = recorded->results;
  static auto* const submit =
      of_virtual_gpu<int(cudaStream_t, cudaHostFn_t, void*)>("kernevo_submit_operators");
  const auto error =
      static_cast<cudaError_t>(submit(c10::cuda::getCurrentCUDAStream(), &replay,
                                      recorded.release())); // lives as long as the process
  TORCH_CHECK(error == cudaSuccess, "CUDA error: ", cudaGetErrorString(error));
  return results;
}

} // namespace kernevo

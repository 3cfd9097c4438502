// The recording of this process, in kernevo's CUDA libraries (src/kernevo/cuda/core/recording.h):
// an operator asks whether it is written down and whether it is to compute anything.
#pragma once

#include "clock.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace kernevo {

struct RecordingState {
  bool written = false; // what operators are asked for
  bool computes = true; // else results have sizes and nothing else
  bool plain() const { return !written && computes; }
};

inline RecordingState recording_state() {
  // Older libraries have none.
  static auto* const ask =
      reinterpret_cast<unsigned (*)()>(dlsym(RTLD_DEFAULT, "kernevo_recording_state"));
  const unsigned state = ask == nullptr ? 0 : ask();
  return {(state & 1U) != 0, state >> 1U == 0};
}

inline void write_operator(cudaStream_t stream, const std::string& fields) {
  static auto* const write =
      of_virtual_gpu<int(cudaStream_t, const char*, std::size_t)>("kernevo_record_operator");
  write(stream, fields.data(), fields.size());
}

inline void refuse_recording(const std::string& what) {
  static auto* const refuse = of_virtual_gpu<int(const char*)>("kernevo_record_refusal");
  refuse(what.c_str());
}

inline void note_read_back(std::uint64_t bytes) {
  static auto* const note = of_virtual_gpu<void(std::uint64_t)>("kernevo_record_read_back");
  note(bytes);
}

} // namespace kernevo

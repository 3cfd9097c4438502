// NVIDIA's management library, found and bound at run time: what a GPU is at, and who else uses it.
// Everything here may be missing; then that is what it says.
#pragma once

#include "kernevo/device/gpu_telemetry.h"

#include <string>

namespace kernevo {

class Nvml {
public:
  // Starts the library and looks for the GPU of this id ("GPU-...", "MIG-...") or at this place on
  // the bus.
  Nvml(const std::string& library, const std::string& uuid, const std::string& bus);
  GpuTelemetry look();

private:
  using Handle = struct HandleOfNvml*;
  template <class F> using Pointer = F*;
  struct Calls {
    Pointer<int()> start = nullptr;
    Pointer<int(char*, unsigned)> driver_version = nullptr;
    Pointer<int(const char*, Handle*)> by_uuid = nullptr;
    Pointer<int(const char*, Handle*)> by_bus = nullptr;
    Pointer<int(Handle, Handle*)> whole_of_part = nullptr;
    Pointer<int(Handle, int, unsigned*)> clock = nullptr;
    Pointer<int(Handle, int, unsigned*)> set_clock = nullptr;
    Pointer<int(Handle, int, unsigned*)> most_clock = nullptr;
    Pointer<int(Handle, unsigned long long*)> reasons = nullptr;
    Pointer<int(Handle, int, unsigned*)> temperature = nullptr;
    Pointer<int(Handle, unsigned*)> power = nullptr;
    Pointer<int(Handle, unsigned*, void*)> processes = nullptr;
    Pointer<int(Handle, void*, unsigned*, unsigned long long)> process_use = nullptr;
  };

  void look_at_processes(GpuTelemetry& now);

  Calls calls_;
  Handle handle_ = nullptr; // of the whole GPU, which has the clocks
  Handle part_ = nullptr;   // of the part in use, which has the processes
  std::string driver_;
  std::string missing_;
  bool lost_ = false;
  unsigned long long seen_until_ = 0;
};

} // namespace kernevo

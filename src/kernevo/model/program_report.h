// What a program asked of a virtual GPU, as the CUDA libraries write it down while it runs: one
// record per process, for 'kernevo run -- PROGRAM' to read.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/launch_price.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// The launches of one kernel with one shape.
struct KernelUse {
  std::string kernel; // as in the source
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::uint64_t dynamic_shared = 0;
  std::uint64_t calls = 0;
  std::uint64_t unpriced = 0;       // of the calls
  std::string reason;               // why; of the last of them
  Nanoseconds time;                 // modelled, of the calls that have a price, together
  std::optional<LaunchPrice> price; // of one of them
};

struct TransferUse {
  std::string kind; // "host to device", ...
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  Nanoseconds time; // modelled, together
};

// Operators of a framework that the host computed in a kernel's place.
struct OperatorUse {
  std::string name; // "aten::mm"
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  double flops = 0;
  Nanoseconds time; // modelled by a roofline, together
};

struct ProgramReport {
  std::uint64_t process = 0;
  std::string program; // its name, as the system knows it
  std::string gpu;
  bool modelled = true;  // false: times were the wall clock's, none are here
  bool complete = false; // written when the process ended; else some time before
  Nanoseconds span;      // virtual time from its first work to its last
  std::vector<KernelUse> kernels;
  std::vector<TransferUse> transfers;
  std::vector<OperatorUse> operators;
  std::vector<std::string> findings; // faults of its kernels, each once
  std::vector<std::string> problems; // modules that could not be loaded and the like, each once
};

std::string to_json(const ProgramReport& report);
Result<ProgramReport> program_report_from_json(std::string_view text);

} // namespace kernevo

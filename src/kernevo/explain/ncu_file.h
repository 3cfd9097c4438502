// Nsight Compute's CSV: counters of launches on a real GPU, with a line for each launch (wide, as
// 'ncu --csv --page raw' writes it) or for each metric of a launch (long, with '--metrics').
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/counter_readings.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

struct NcuLaunch {
  CounterReadings readings;                          // the kernel without types and parameters
  std::optional<std::array<std::uint32_t, 3>> grid;  // absent where the file does not say
  std::optional<std::array<std::uint32_t, 3>> block; // likewise
  std::optional<int> compute_capability;             // 80 for 8.0
  int line = 0;                                      // where it begins
};

// The launches in the file's order, with those of the wanted counters that it has; what a program
// printed before the table and all other columns are passed over. `file` names it in messages.
Result<std::vector<NcuLaunch>> parse_ncu(std::string_view text, const std::string& file,
                                         const std::set<std::string>& wanted);
Result<std::vector<NcuLaunch>> read_ncu_file(const std::filesystem::path& path,
                                             const std::set<std::string>& wanted);

// "matmul" of "void ns::matmul<(int)16>(const float *, float *)".
std::string bare_kernel_name(std::string_view name);

} // namespace kernevo

// How `kernevo profile` shows an explained kernel: as text for a person, as JSON for programs.
#pragma once

#include "kernevo/evaluate/bench.h"
#include "kernevo/explain/explain.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/counter_readings.h"

#include <string>
#include <vector>

namespace kernevo::cli {

struct ProfileReport {
  std::string task; // as the user named them
  std::string kernel;
  const KernelFile& file;
  const BenchResult& result;
  const std::vector<std::vector<Explanation>>& explanations; // by case and launch
  // What hardware counted, or why it did not; null where it was not asked.
  const HardwareCounters* hardware = nullptr;
};

std::string profile_text(const ProfileReport& report);
// One line for each case and each finding.
std::string profile_summary(const ProfileReport& report);
std::string profile_json(const ProfileReport& report);

} // namespace kernevo::cli

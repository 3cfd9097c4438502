// What commands about a kernel of a task share: which files, which device, which parameters.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/cli/command.h"
#include "kernevo/device/open_device.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/task.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kernevo::cli {

class CommandLine;

// --device and --gpu.
void add_device_options(CommandLine& command, DeviceChoice& choice);

// Opens it; says on stderr where a real GPU is another than the task is written for.
Result<std::shared_ptr<Device>> open_for(const DeviceChoice& choice, const Task& task,
                                         const CommonOptions& common);
void note_mismatch(const DeviceIdentity& device, const std::string& target_gpu,
                   const CommonOptions& common);

// Of a command line that names a task and nothing else.
Error no_kernel();

// --patience.
void add_patience(CommandLine& command, double& minutes);

// --hot-cache.
void add_hot_cache(CommandLine& command, bool& hot);

// --inputs, of a run.
void add_inputs(CommandLine& command, std::uint64_t& seed);

// "virtual A100 (sm_80)", or name, hardware and driver of a device that has one.
std::string device_text(const DeviceIdentity& device);

// "BM=64" each; integers only.
Result<ParameterValues> parse_parameters(const std::vector<std::string>& settings);

// Macros for the compiler: "NAME=VALUE" each, or "NAME" for 1.
std::vector<std::pair<std::string, std::string>>
parse_defines(const std::vector<std::string>& defines);

// "BM=64 BN=32".
std::string parameters_text(const ParameterValues& parameters);

// 1234567 ns -> "1.235 ms", with a unit that suits.
std::string time_text(double nanoseconds);

} // namespace kernevo::cli

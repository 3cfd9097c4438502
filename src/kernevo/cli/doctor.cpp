// kernevo doctor: what is here, what is missing and how to get it.
#include "kernevo/base/files.h"
#include "kernevo/base/sandbox.h"
#include "kernevo/base/subprocess.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/device/list_devices.h"
#include "kernevo/device/open_device.h"
#include "kernevo/evaluate/check.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/programs/python_environment.h"
#include "kernevo/task/load_task.h"
#include "kernevo/toolchain/build_cache.h"
#include "kernevo/toolchain/toolchain.h"
#include "kernevo/vgpu/tier/plugin.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <thread>

namespace kernevo::cli {
namespace {

enum class State { good, weak, missing };

struct Finding {
  std::string part;
  State state = State::good;
  std::string detail;
  std::string fix;
};

std::string_view word(State state) {
  return state == State::good ? "ok" : state == State::weak ? "weak" : "missing";
}

std::vector<Finding> examine_toolchain() {
  const auto toolchain = find_toolchain();
  if (!toolchain)
    return {{"CUDA compiler", State::missing, toolchain.error().message, toolchain.error().fix}};
  std::vector<Finding> findings = {
      {"CUDA compiler", State::good,
       fmt::format("CUDA {} from {}", toolchain->version, toolchain->origin), ""}};
  if (toolchain->nvrtc.empty())
    findings.push_back({"NVRTC", State::weak, "absent; nvcc is used, several times slower",
                        "run 'make setup', or set KERNEVO_CUDA to a toolkit that has libnvrtc"});
  else
    findings.push_back({"NVRTC", State::good, toolchain->nvrtc.filename().string(), ""});
  if (toolchain->ptxas.empty())
    findings.push_back({"ptxas", State::weak, "absent; registers and spills are unknown",
                        "run 'make setup', or set KERNEVO_CUDA to a toolkit that has ptxas"});
  else
    findings.push_back(
        {"ptxas", State::good, "registers, spills and shared memory of every kernel", ""});
  if (toolchain->nvdisasm.empty())
    findings.push_back({"nvdisasm", State::weak, "absent; machine instructions are unknown",
                        "run 'make setup', or set KERNEVO_CUDA to a toolkit that has nvdisasm"});
  else
    findings.push_back(
        {"nvdisasm", State::good, "machine instructions, with the PTX line of each", ""});
  return findings;
}

Finding examine_cache() {
  const auto cache = BuildCache::from_environment().probe();
  if (!cache)
    return {"build cache", State::weak, cache.error().message, cache.error().fix};
  return {"build cache", State::good, cache->empty() ? "off by setting" : cache->string(), ""};
}

// Absent, everything still runs, on the interpreter alone.
Finding examine_compiler() {
  const auto plugin = vgpu::find_plugin();
  const auto compiler = plugin ? vgpu::load_compiler(*plugin)
                               : Result<vgpu::Compiler*>(tl::unexpected<Error>(plugin.error()));
  if (!compiler)
    return {"compiled tier", State::weak, compiler.error().message, compiler.error().fix};
  return {"compiled tier", State::good, plugin->string(), ""};
}

Finding examine_gpus() {
  const auto list = list_devices();
  if (!list)
    return {"GPU tables", State::missing, list.error().message, list.error().fix};
  if (list->real_gpus.empty())
    return {"devices", State::good,
            fmt::format("{} virtual GPUs; {}", list->virtual_gpus.size(), list->driver), ""};
  const auto played = std::ranges::count_if(
      list->real_gpus, [](const RealGpu& gpu) { return !gpu.stand_in.empty(); });
  const auto real = static_cast<std::ptrdiff_t>(list->real_gpus.size()) - played;
  return {"devices", State::good,
          fmt::format("{} virtual GPUs, {} real{}; {}", list->virtual_gpus.size(), real,
                      played > 0 ? fmt::format(", {} played", played) : "", list->driver),
          ""};
}

// For PyTorch and Triton programs; nothing else needs it.
Finding examine_python() {
  constexpr const char* part = "Python programs";
  const auto command = environment_command("state");
  if (!command)
    return {part, State::weak, command.error().message, command.error().fix};
  SubprocessRequest request;
  request.arguments = *command;
  for (const char* name : {"PATH", "HOME", "KERNEVO_PYTHON"})
    if (const char* value = std::getenv(name))
      request.environment.push_back(fmt::format("{}={}", name, value));
  const auto said = run_subprocess(request);
  if (!said || !said->succeeded())
    return {part, State::weak, "python3 cannot say how its environment is",
            "install Python 3.10 or newer"};
  const auto state = read_json(said->output, "environment.py", [&](const Json& json) {
    const bool ready = json.at("ready");
    return Finding{part, ready ? State::good : State::weak, json.at("detail"), json.at("fix")};
  });
  return state ? *state : Finding{part, State::weak, state.error().message, ""};
}

// The proof of the pudding: a kernel goes from source to verdict.
Finding examine_pipeline() {
  constexpr const char* task_text =
      "op_name: add\nshapes: [[1000]]\ndtype: float32\ntarget_gpu: A100\n";
  constexpr const char* kernel_text =
      "__global__ void add(const float* A, const float* B, float* C, int N) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < N) C[i] = A[i] + B[i];\n"
      "}\n";
  const auto task = parse_task(task_text, "doctor.yaml");
  const auto kernel = parse_kernel_file(kernel_text, "doctor.cu");
  if (!task || !kernel)
    return {"self-test", State::missing, "the built-in task does not load", "reinstall kernevo"};
  const auto device = open_device(DeviceChoice{}, task->task.target_gpu);
  if (!device)
    return {"self-test", State::missing, format_error(device.error()), ""};
  const auto result = check_kernel(**device, task->task, *kernel, {});
  if (!result)
    return {"self-test", State::missing, format_error(result.error()), ""};
  if (!result->verdict.correct)
    return {"self-test", State::missing, result->verdict.summary, "report this as a bug"};
  return {"self-test", State::good,
          fmt::format("source to verdict in {:.2f} s", result->wall_seconds.value_or(0)), ""};
}

std::vector<Finding> examine() {
  std::vector<Finding> findings = examine_toolchain();
  findings.push_back(examine_cache());
  findings.push_back(examine_compiler());
  findings.push_back(examine_gpus());
  findings.push_back(examine_python());
  for (const SandboxLayer& layer : probe_sandbox())
    findings.push_back({"sandbox: " + layer.name, layer.available ? State::good : State::weak,
                        layer.detail, layer.available ? "" : layer.fix});
  findings.push_back(
      {"processor", State::good, fmt::format("{} cores", std::thread::hardware_concurrency()), ""});
  if (findings.front().state != State::missing)
    findings.push_back(examine_pipeline());
  return findings;
}

} // namespace

Command add_doctor(CommandLine& app) {
  auto options = std::make_shared<CommonOptions>();
  CommandLine* command =
      app.add_subcommand("doctor", "What is here, what is missing and how to get it");
  add_common(*command, *options);
  return {[options] {
    const std::vector<Finding> findings = examine();
    bool whole = true;
    Json json = Json::array();
    for (const Finding& f : findings) {
      whole = whole && f.state != State::missing;
      json.push_back(
          {{"part", f.part}, {"state", word(f.state)}, {"detail", f.detail}, {"fix", f.fix}});
    }
    if (options->json) {
      fmt::print("{}\n", Json{{"ok", whole}, {"parts", json}}.dump(2));
    } else {
      for (const Finding& f : findings) {
        const Tone tone = f.state == State::good   ? Tone::good
                          : f.state == State::weak ? Tone::warning
                                                   : Tone::bad;
        fmt::print("{}  {:<24} {}\n", paint(fmt::format("{:<7}", word(f.state)), tone), f.part,
                   f.detail);
        if (!f.fix.empty())
          fmt::print("{:34}-> {}\n", "", f.fix);
      }
    }
    return whole ? kYes : 3;
  }};
}

} // namespace kernevo::cli

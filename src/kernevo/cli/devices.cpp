// kernevo devices: what can run a kernel here.
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/device/device_name.h"
#include "kernevo/device/list_devices.h"
#include "kernevo/model/json_fields.h"

#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace {

std::string gibibytes(Bytes bytes) {
  return fmt::format("{:.0f} GiB", static_cast<double>(bytes.value) / 0x1p30);
}

std::string capability(int value) {
  return fmt::format("sm_{}", value);
}

void print_list(const DeviceList& list) {
  fmt::print("real GPUs      {}\n", list.real_gpus.empty() ? "none: " + list.driver : list.driver);
  std::vector<std::vector<std::string>> rows;
  for (const RealGpu& gpu : list.real_gpus)
    rows.push_back({fmt::format("cuda:{}", gpu.ordinal), gpu.name,
                    capability(gpu.compute_capability), gibibytes(gpu.memory),
                    gpu.stand_in.empty() ? "" : fmt::format("no GPU: played by {}", gpu.stand_in)});
  fmt::print(
      "{}virtual GPUs   executed on this machine's processor; times are modelled, never measured\n",
      table(rows));
  rows.clear();
  for (const Gpu& gpu : list.virtual_gpus)
    rows.push_back({to_text(DeviceName::of_virtual(gpu.name)), capability(gpu.compute_capability),
                    fmt::format("{} SMs", gpu.multiprocessors), gibibytes(gpu.memory),
                    fmt::format("{:.0f} GB/s", gpu.dram_gbps),
                    list.own.contains(gpu.name) ? list.own.at(gpu.name).string() : ""});
  fmt::print("{}", table(rows));
}

void print_json(const DeviceList& list) {
  Json json{{"driver", list.driver}, {"real", Json::array()}, {"virtual", Json::array()}};
  for (const RealGpu& gpu : list.real_gpus)
    json["real"].push_back({{"device", fmt::format("cuda:{}", gpu.ordinal)},
                            {"name", gpu.name},
                            {"architecture", capability(gpu.compute_capability)},
                            {"memory_bytes", gpu.memory.value},
                            {"stand_in", gpu.stand_in}});
  for (const Gpu& gpu : list.virtual_gpus)
    json["virtual"].push_back(
        {{"device", to_text(DeviceName::of_virtual(gpu.name))},
         {"architecture", capability(gpu.compute_capability)},
         {"multiprocessors", gpu.multiprocessors},
         {"memory_bytes", gpu.memory.value},
         {"dram_gbps", gpu.dram_gbps},
         {"source", gpu.source},
         {"file",
          list.own.contains(gpu.name) ? Json(list.own.at(gpu.name).string()) : Json(nullptr)}});
  fmt::print("{}\n", json.dump(2));
}

} // namespace

Command add_devices(CommandLine& app) {
  auto options = std::make_shared<CommonOptions>();
  CommandLine* command =
      app.add_subcommand("devices", "What can run a kernel here: real GPUs and the virtual ones");
  add_common(*command, *options);
  return {[options] {
    const auto list = list_devices();
    if (!list)
      return report_error(list.error(), *options);
    if (options->json)
      print_json(*list);
    else
      print_list(*list);
    return kYes;
  }};
}

} // namespace kernevo::cli

// kernevo calibrate: what can this GPU do?
#include "kernevo/calibrate/calibrate.h"
#include "kernevo/base/files.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/status_line.h"
#include "kernevo/hardware/own_gpus.h"
#include "kernevo/model/json_fields.h"

#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace fs = std::filesystem;
using calibrate::Calibration;
using calibrate::Figure;

namespace {

struct Options {
  CommonOptions common;
  std::string device = "cuda:0";
  std::string output;
  std::string name;
  bool force = false;
};

std::string name_for(const Options& options, const Calibration& found) {
  return !options.name.empty() ? options.name
         : found.listed        ? found.listed->name
                               : found.device.gpu.name;
}

// Where the file is to go; empty where none is wanted.
fs::path place_for(const Options& options, const DeviceIdentity& device, bool listed) {
  if (!options.output.empty())
    return options.output;
  if (listed)
    return {};
  const std::string& name = options.name.empty() ? device.gpu.name : options.name;
  return own_gpu_folder() / calibrate::file_name_of(name);
}

Result<void> not_there(const fs::path& file, const Options& options) {
  std::error_code error;
  if (file.empty() || options.force || !fs::exists(file, error))
    return {};
  return fail(ErrorCode::usage, "is there already", Place{file.string()},
              "give --force to replace it, or another --output");
}

Result<void> write(const fs::path& file, const std::string& text) {
  std::error_code error;
  if (!file.parent_path().empty())
    fs::create_directories(file.parent_path(), error);
  return write_file_atomically(file, text);
}

std::string number(double value) {
  return fmt::format("{:.4g}", value);
}

void print_result(const Calibration& found) {
  fmt::print("device   {}\n", device_text(found.device));
  if (found.code)
    fmt::print("loaded   {}\n", text_of(*found.code));
  fmt::print("listed   {}{}\n", found.listed ? "as " + found.listed->name : "no table has this GPU",
             found.architecture_listed
                 ? ""
                 : fmt::format(", nor sm_{}", found.device.gpu.compute_capability));
  std::vector<std::vector<std::string>> rows = {
      {"figure", "found", "", "listed", "found / listed", "spread", ""}};
  for (const Figure& figure : found.figures.known)
    rows.push_back({figure.name, number(figure.value), figure.unit,
                    figure.listed ? number(*figure.listed) : "",
                    figure.listed ? fmt::format("{:.3f}", figure.value / *figure.listed) : "",
                    fmt::format("{:.1f} %", figure.spread * 100), figure.note});
  fmt::print("{}", table(rows));
  for (const calibrate::Missing& missing : found.figures.missing)
    fmt::print("  {}  {}: {}\n", paint("left out", Tone::warning), missing.name, missing.why);
}

void print_json(const Calibration& found, const fs::path& file) {
  Json json{{"device", found.device.name},
            {"hardware", hardware_of(found.device)},
            {"method", name_of(found.device.method)},
            {"listed", found.listed ? Json(found.listed->name) : Json(nullptr)},
            {"date", found.provenance.date},
            {"shots", found.provenance.shots},
            {"figures", Json::array()},
            {"missing", Json::array()},
            {"file", file.empty() ? Json(nullptr) : Json(file.string())}};
  for (const Figure& figure : found.figures.known)
    json["figures"].push_back({{"name", figure.name},
                               {"value", figure.value},
                               {"unit", figure.unit},
                               {"spread", figure.spread},
                               {"listed", figure.listed ? Json(*figure.listed) : Json(nullptr)},
                               {"note", figure.note}});
  for (const calibrate::Missing& missing : found.figures.missing)
    json["missing"].push_back({{"name", missing.name}, {"why", missing.why}});
  fmt::print("{}\n", dump_json(json, 2));
}

Result<int> run(const Options& options) {
  KERNEVO_TRY(device, open_device(DeviceChoice{.device = options.device}, ""));
  // What would stand in the way of the file is said before minutes are spent on it.
  KERNEVO_TRY(listed, find_listed(device->gpu()));
  const fs::path file = place_for(options, device->identity(), listed.has_value());
  KERNEVO_CHECK(not_there(file, options));
  StatusLine status(options.common);
  auto found =
      calibrate::calibrate(*device, [&](std::string_view probe, std::size_t done, std::size_t of) {
        status.show(fmt::format("{} of {}: {}", done + 1, of, probe), std::nullopt);
      });
  status.clear();
  if (!found)
    return tl::unexpected<Error>(std::move(found).error());
  found->provenance.program = KERNEVO_VERSION;
  if (!file.empty()) {
    KERNEVO_TRY(text, calibrate::gpu_file(device->gpu(), name_for(options, *found), found->figures,
                                          found->provenance));
    KERNEVO_CHECK(write(file, text));
  }
  if (options.common.json) {
    print_json(*found, file);
    return kYes;
  }
  print_result(*found);
  if (!file.empty()) {
    std::error_code error;
    const bool own = fs::weakly_canonical(file, error).parent_path() ==
                     fs::weakly_canonical(own_gpu_folder(), error);
    fmt::print("wrote    {}{}\n", file.string(),
               own ? fmt::format("; it is virtual:{} from now on", name_for(options, *found))
                   : fmt::format("; a copy in {} makes it a device", own_gpu_folder().string()));
  }
  return kYes;
}

} // namespace

Command add_calibrate(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
      "calibrate", "What can this GPU do? Runs micro-kernels for its clock, rates, bandwidths and "
                   "latencies, and writes a table for one that is not listed");
  command->add_option("--device", options->device, "The GPU, such as cuda:0")
      ->capture_default_str();
  command->add_option(
      "--output", options->output,
      "Write the GPU's table here (default: your own folder of GPUs for one that is "
      "not listed, nowhere for one that is)");
  command->add_option("--name", options->name, "What the table calls the GPU (default: its name)");
  command->add_flag("--force", options->force, "Replace a file that is there");
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli

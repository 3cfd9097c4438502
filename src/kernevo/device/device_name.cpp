#include "kernevo/device/device_name.h"

#include "kernevo/base/one_line.h"
#include "kernevo/base/suggest.h"
#include "kernevo/device/list_devices.h"

#include <charconv>
#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

constexpr std::size_t kShownBytes = 200; // of what somebody typed

tl::unexpected<Error> not_a_name(std::string_view text, std::string_view why) {
  return fail(ErrorCode::usage,
              fmt::format("'{}' does not name a device: {}", one_line(text, kShownBytes), why),
              std::nullopt,
              fmt::format("name it like virtual:A100, cuda:0 or remote:URL; {}", devices_here()));
}

} // namespace

Result<DeviceName> parse_device_name(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (text.empty())
    return not_a_name(text, "it is empty");
  if (colon == std::string_view::npos)
    return DeviceName::of_virtual(std::string(text));
  const std::string kind(text.substr(0, colon));
  const std::string_view rest = text.substr(colon + 1);
  if (rest.empty())
    return not_a_name(text, "nothing follows the ':'");
  DeviceName name;
  if (kind == "virtual") {
    name.gpu = rest;
    return name;
  }
  if (kind == "cuda") {
    name.kind = DeviceName::Kind::cuda;
    const auto [end, problem] =
        std::from_chars(rest.data(), rest.data() + rest.size(), name.ordinal);
    if (problem != std::errc() || end != rest.data() + rest.size() || name.ordinal < 0)
      return not_a_name(text, "a CUDA device is a number from 0");
    return name;
  }
  if (kind == "remote") {
    name.kind = DeviceName::Kind::remote;
    name.url = rest;
    return name;
  }
  return not_a_name(text, fmt::format("'{}' is not a kind of device{}", one_line(kind, kShownBytes),
                                      did_you_mean(kind, {"virtual", "cuda", "remote"})));
}

std::string to_text(const DeviceName& name) {
  switch (name.kind) {
  case DeviceName::Kind::virtual_gpu: return "virtual:" + name.gpu;
  case DeviceName::Kind::cuda: return fmt::format("cuda:{}", name.ordinal);
  case DeviceName::Kind::remote: return "remote:" + name.url;
  }
  return {};
}

} // namespace kernevo

// The few device functions the CUDA runtime provides: printf, assert, malloc, free. Those that
// launch kernels are in device_launch.cpp.
#include "kernevo/vgpu/control.h"
#include "kernevo/vgpu/device_launch.h"
#include "kernevo/vgpu/launch.h"
#include "kernevo/vgpu/runtime_arguments.h"

#include <array>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace kernevo::vgpu {
namespace {

constexpr std::size_t kLongestString = 4096;

// Reads memory as the thread would. False after raising a fault.
bool read(WarpState& warp, const Op& op, int lane, std::uint64_t address, void* to,
          std::uint32_t size) {
  Access access;
  access.size = size;
  access.strong = true;
  access.polls = false;
  const std::byte* from = resolve(warp, op, lane, address, access);
  if (from == nullptr)
    return false;
  std::memcpy(to, from, size);
  return true;
}

std::optional<std::string> read_string(WarpState& warp, const Op& op, int lane,
                                       std::uint64_t address) {
  std::string text;
  while (text.size() < kLongestString) {
    char c = 0;
    if (!read(warp, op, lane, address + text.size(), &c, 1))
      return std::nullopt;
    if (c == 0)
      break;
    text += c;
  }
  return text;
}

// One conversion of a format: %[flags][width][.precision][length]conversion.
struct Conversion {
  std::string flags; // up to and including the precision
  int longs = 0;
  bool halves = false;
  char letter = 0;
};

Conversion parse_conversion(const std::string& format, std::size_t& at) {
  Conversion conversion;
  while (at < format.size() && std::strchr("-+ #0123456789.", format[at]) != nullptr)
    conversion.flags += format[at++];
  while (at < format.size() && std::strchr("hlzjt", format[at]) != nullptr) {
    const char c = format[at++];
    if (c == 'h')
      conversion.halves = true;
    else
      ++conversion.longs;
  }
  if (at < format.size())
    conversion.letter = format[at++];
  // A hostile width must not make a huge string.
  if (conversion.flags.size() > 8)
    conversion.flags.clear();
  std::string digits;
  for (const char c : conversion.flags)
    digits = c >= '0' && c <= '9' ? digits + c : std::string();
  if (digits.size() > 3)
    conversion.flags.clear();
  return conversion;
}

template <class T> std::string print_one(const std::string& format, T value) {
  std::array<char, 1200> text{};
  // NOLINTNEXTLINE(clang-diagnostic-format-nonliteral,cppcoreguidelines-pro-type-vararg)
  const int length = std::snprintf(text.data(), text.size(), format.c_str(), value);
  return length < 0 ? "" : std::string(text.data());
}

std::optional<std::string> print_lane(WarpState& warp, const Op& op, const CallDetail& call,
                                      int lane) {
  const auto format =
      read_string(warp, op, lane, call_argument<std::uint64_t>(warp, call, 0, lane));
  if (!format)
    return std::nullopt;
  const auto values = call_argument<std::uint64_t>(warp, call, 1, lane);
  std::uint64_t offset = 0;
  bool ok = true;
  auto next = [&](auto& value) {
    offset = (offset + sizeof value - 1) / sizeof value * sizeof value;
    ok = ok && read(warp, op, lane, values + offset, &value, sizeof value);
    offset += sizeof value;
  };
  std::string text;
  for (std::size_t at = 0; at < format->size() && ok;) {
    const char c = (*format)[at++];
    if (c != '%') {
      text += c;
      continue;
    }
    const Conversion conversion = parse_conversion(*format, at);
    const std::string start = "%" + conversion.flags;
    switch (conversion.letter) {
    case '%': text += '%'; break;
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
      const bool is_signed = conversion.letter == 'd' || conversion.letter == 'i';
      std::uint64_t wide = 0;
      std::uint32_t narrow = 0;
      if (conversion.longs > 0)
        next(wide);
      else
        next(narrow);
      if (is_signed)
        text += print_one(start + "lld",
                          conversion.longs > 0
                              ? static_cast<long long>(wide)
                              : static_cast<long long>(static_cast<std::int32_t>(narrow)));
      else
        text += print_one(start + "ll" + conversion.letter,
                          conversion.longs > 0 ? static_cast<unsigned long long>(wide)
                                               : static_cast<unsigned long long>(narrow));
      break;
    }
    case 'c': {
      std::uint32_t value = 0;
      next(value);
      text += print_one(start + "c", static_cast<int>(static_cast<char>(value)));
      break;
    }
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
      double value = 0;
      next(value);
      text += print_one(start + conversion.letter, value);
      break;
    }
    case 'p': {
      std::uint64_t value = 0;
      next(value);
      text += fmt::format("{:#x}", value);
      break;
    }
    case 's': {
      std::uint64_t pointer = 0;
      next(pointer);
      if (!ok)
        break;
      const auto string = read_string(warp, op, lane, pointer);
      if (!string)
        return std::nullopt;
      text += print_one(start + "s", string->c_str());
      break;
    }
    default:
      // As the CUDA runtime does: what it does not know is printed as it stands.
      text += start + std::string(1, conversion.letter);
      break;
    }
  }
  if (!ok)
    return std::nullopt;
  return text;
}

void print(WarpState& warp, const Op& op, const CallDetail& call, LaneMask active) {
  LaunchState& launch = *warp.launch;
  if (!await_turn(warp))
    return;
  for_each_lane(active, [&](int lane) {
    if (warp.faulted)
      return;
    {
      const std::lock_guard lock(launch.mutex);
      if (launch.output_flood) {
        set_call_result(warp, call, lane, std::int32_t{-1});
        return;
      }
    }
    const auto text = print_lane(warp, op, call, lane);
    if (!text)
      return;
    const std::lock_guard lock(launch.mutex);
    const std::size_t room =
        launch.options->print_limit - std::min(launch.printed.size(), launch.options->print_limit);
    launch.printed.append(*text, 0, room);
    launch.output_flood = text->size() > room;
    set_call_result(warp, call, lane, static_cast<std::int32_t>(text->size()));
  });
}

void assert_fail(WarpState& warp, const Op& op, const CallDetail& call, LaneMask active) {
  // __assertfail(message, file, line, function, char size)
  const int lane = __builtin_ctz(active);
  const auto message =
      read_string(warp, op, lane, call_argument<std::uint64_t>(warp, call, 0, lane));
  const auto file = read_string(warp, op, lane, call_argument<std::uint64_t>(warp, call, 1, lane));
  if (!message || !file)
    return;
  warp.raise(FindingKind::assertion, op, lane,
             fmt::format("assertion '{}' failed at {}:{}", *message, *file,
                         call_argument<std::uint32_t>(warp, call, 2, lane)));
}

void allocate(WarpState& warp, const CallDetail& call, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    const auto bytes = call_argument<std::uint64_t>(warp, call, 0, lane);
    set_call_result(warp, call, lane, warp.launch->memory->heap().allocate(bytes));
  });
}

void release(WarpState& warp, const Op& op, const CallDetail& call, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    const auto address = call_argument<std::uint64_t>(warp, call, 0, lane);
    if (address == 0)
      return;
    if (warp.launch->races)
      warp.launch->races->forget_region(address);
    if (!warp.launch->memory->heap().free(address))
      warp.raise(FindingKind::out_of_bounds, op, lane,
                 fmt::format("free of {:#x}, which malloc did not return or which was freed before",
                             address));
  });
}

} // namespace

RuntimeFunction runtime_function(std::string_view name) {
  using enum RuntimeFunction;
  static const std::map<std::string_view, RuntimeFunction> known = {
      {"vprintf", vprintf},
      {"__assertfail", assert_fail},
      {"__assert_fail", assert_fail},
      {"malloc", malloc},
      {"free", free},
      {"__cudaCDP2GetParameterBufferV2", get_parameter_buffer},
      {"__cudaCDP2LaunchDeviceV2", launch_device},
      {"__cudaCDP2LaunchDeviceV2_ptsz", launch_device},
      {"__cudaCDP2Malloc", device_malloc},
      {"__cudaCDP2Free", device_free},
      {"__cudaCDP2StreamCreateWithFlags", make_handle},
      {"__cudaCDP2EventCreateWithFlags", make_handle},
      {"__cudaCDP2GetDevice", get_device},
      {"__cudaCDP2MemcpyAsync", copy_async},
      {"__cudaCDP2MemcpyAsync_ptsz", copy_async},
      {"__cudaCDP2MemsetAsync", fill_async},
      {"__cudaCDP2MemsetAsync_ptsz", fill_async},
      {"__cudaCDP2StreamDestroy", succeed},
      {"__cudaCDP2StreamWaitEvent", succeed},
      {"__cudaCDP2StreamWaitEvent_ptsz", succeed},
      {"__cudaCDP2EventDestroy", succeed},
      {"__cudaCDP2EventRecord", succeed},
      {"__cudaCDP2EventRecord_ptsz", succeed},
      {"__cudaCDP2EventRecordWithFlags", succeed},
      {"__cudaCDP2GetLastError", succeed},
      {"__cudaCDP2PeekAtLastError", succeed},
  };
  const auto found = known.find(name);
  return found == known.end() ? none : found->second;
}

void call_runtime(WarpState& warp, const Op& op, const CallDetail& call, LaneMask active) {
  switch (call.runtime) {
  case RuntimeFunction::vprintf: print(warp, op, call, active); break;
  case RuntimeFunction::assert_fail: assert_fail(warp, op, call, active); break;
  case RuntimeFunction::malloc: allocate(warp, call, active); break;
  case RuntimeFunction::free: release(warp, op, call, active); break;
  case RuntimeFunction::none: break;
  default: call_device_runtime(warp, op, call, active); break;
  }
}

} // namespace kernevo::vgpu

#include "kernevo/vgpu/execute/runtime_calls.h"

#include "kernevo/vgpu/execute/device_launch.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/runtime_arguments.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/resolve.h"
#include "kernevo/vgpu/program/control.h"

#include <array>
#include <cstring>
#include <fmt/format.h>
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

// The values of one lane's printf, one after the other as their conversions take them.
class PrintedValues {
public:
  PrintedValues(WarpState& warp, const Op& op, int lane, std::uint64_t address)
      : warp_(warp), op_(op), lane_(lane), address_(address) {}

  template <class T> T next() {
    T value{};
    offset_ = (offset_ + sizeof value - 1) / sizeof value * sizeof value;
    readable_ = readable_ && read(warp_, op_, lane_, address_ + offset_, &value, sizeof value);
    offset_ += sizeof value;
    return value;
  }
  // False after a fault.
  bool readable() const { return readable_; }

  // The conversion's text, or what the CUDA runtime makes of one it does not know: itself.
  std::string text_of(const Conversion& conversion) {
    const std::string start = "%" + conversion.flags;
    switch (conversion.letter) {
    case '%': return "%";
    case 'd':
    case 'i': return print_one(start + "lld", next_signed(conversion));
    case 'u':
    case 'x':
    case 'X':
    case 'o': return print_one(start + "ll" + conversion.letter, next_unsigned(conversion));
    case 'c':
      return print_one(start + "c", static_cast<int>(static_cast<char>(next<std::uint32_t>())));
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': return print_one(start + conversion.letter, next<double>());
    case 'p': return fmt::format("{:#x}", next<std::uint64_t>());
    case 's': return next_string(start);
    default: return start + std::string(1, conversion.letter);
    }
  }

private:
  long long next_signed(const Conversion& conversion) {
    return conversion.longs > 0
               ? static_cast<long long>(next<std::uint64_t>())
               : static_cast<long long>(static_cast<std::int32_t>(next<std::uint32_t>()));
  }
  unsigned long long next_unsigned(const Conversion& conversion) {
    return conversion.longs > 0 ? static_cast<unsigned long long>(next<std::uint64_t>())
                                : static_cast<unsigned long long>(next<std::uint32_t>());
  }
  std::string next_string(const std::string& start) {
    const auto pointer = next<std::uint64_t>();
    if (!readable_)
      return "";
    const auto string = read_string(warp_, op_, lane_, pointer);
    readable_ = string.has_value();
    return string ? print_one(start + "s", string->c_str()) : "";
  }

  WarpState& warp_;
  const Op& op_;
  int lane_;
  std::uint64_t address_;
  std::uint64_t offset_ = 0;
  bool readable_ = true;
};

std::optional<std::string> print_lane(WarpState& warp, const Op& op, const CallDetail& call,
                                      int lane) {
  const auto format =
      read_string(warp, op, lane, call_argument<std::uint64_t>(warp, call, 0, lane));
  if (!format)
    return std::nullopt;
  PrintedValues values(warp, op, lane, call_argument<std::uint64_t>(warp, call, 1, lane));
  std::string text;
  for (std::size_t at = 0; at < format->size() && values.readable();) {
    const char c = (*format)[at++];
    if (c == '%')
      text += values.text_of(parse_conversion(*format, at));
    else
      text += c;
  }
  if (!values.readable())
    return std::nullopt;
  return text;
}

// Lanes print one after the other; each is charged as so many instructions of a warp beside its
// own: a loop that prints for ever is found out as soon as one that does not.
constexpr std::uint64_t kPrintedLaneCost = 2;

void print(WarpState& warp, const Op& op, const CallDetail& call, LaneMask active) {
  LaunchState& launch = *warp.launch;
  if (!await_turn(warp))
    return;
  launch.print_cost.fetch_add(kPrintedLaneCost * static_cast<unsigned>(__builtin_popcount(active)),
                              std::memory_order_relaxed);
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

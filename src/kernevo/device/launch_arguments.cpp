#include "kernevo/device/launch_arguments.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <variant>

namespace kernevo {
namespace {

template <class T> void put(std::vector<std::byte>& out, std::uint32_t offset, T value) {
  std::memcpy(out.data() + offset, &value, sizeof value);
}

} // namespace

std::optional<std::string> put_argument(const LaunchArgument& argument,
                                        const vgpu::KernelInfo::Parameter& parameter,
                                        std::size_t position,
                                        std::span<const std::uint64_t> pointers,
                                        std::vector<std::byte>& out) {
  auto mismatch = [&](std::string_view what) {
    return fmt::format("argument {} ('{}') is {}, but the kernel's parameter takes {} bytes{}",
                       position + 1, argument.name, what, parameter.size,
                       parameter.is_float ? " of floating point" : "");
  };
  // What would become of a number or a pointer is up to constructors, which run on the host.
  if (parameter.is_class)
    return fmt::format(
        "argument {} ('{}') is for a parameter of a class or of a half type; launches "
        "pass numbers and pointers: take a float, an int or a pointer instead",
        position + 1, argument.name);
  if (const auto* buffer = std::get_if<BufferArgument>(&argument.value)) {
    if (parameter.size != 8 || parameter.is_float)
      return mismatch("a buffer");
    if (buffer->index >= pointers.size())
      return mismatch("a buffer the plan does not have");
    put(out, parameter.offset, pointers[buffer->index]);
    return std::nullopt;
  }
  const auto* integer = std::get_if<std::int64_t>(&argument.value);
  const double real =
      integer != nullptr ? static_cast<double>(*integer) : std::get<double>(argument.value);
  if (parameter.is_float) {
    if (parameter.size == 4)
      put(out, parameter.offset, static_cast<float>(real));
    else
      put(out, parameter.offset, real);
    return std::nullopt;
  }
  if (integer == nullptr) {
    if (real != std::floor(real))
      return mismatch("a fractional number");
    if (std::abs(real) >= 0x1p62)
      return mismatch("a number beyond 64 bits");
  }
  const std::int64_t value = integer != nullptr ? *integer : static_cast<std::int64_t>(real);
  // A bool of 2 is true for C++, and 2 for who puts bytes there.
  if (parameter.size == 1 && (value < 0 || value > 1))
    return mismatch(fmt::format("the integer {}", value)) + ": pass 0 or 1, or take an int";
  const int bits = static_cast<int>(parameter.size * 8);
  if (parameter.size > 8 || (bits < 64 && (value >= (std::int64_t{1} << bits) ||
                                           value < -(std::int64_t{1} << (bits - 1)))))
    return mismatch(fmt::format("the integer {}", value));
  std::memcpy(out.data() + parameter.offset, &value, parameter.size);
  return std::nullopt;
}

} // namespace kernevo

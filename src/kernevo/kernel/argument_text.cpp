#include "kernevo/kernel/argument_text.h"

#include "kernevo/base/files.h"
#include "kernevo/model/dtype.h"

#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>

namespace kernevo {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{8} << 30U;
constexpr const char* kForms =
    "write i32:5, f32:1.5, in:f32:FILE, inout:f32:FILE[:RESULT], out:f32:COUNT[:RESULT] or "
    "struct:FILE";

std::optional<ArgumentType> parse_type(std::string_view text) {
  if (text == "bf16")
    return ArgumentType{'h', 2};
  if (text.size() < 2 || std::string_view("iufb").find(text[0]) == std::string_view::npos)
    return std::nullopt;
  const std::string_view bits = text.substr(1);
  ArgumentType type{text[0], 0};
  if (bits == "8" && text[0] != 'f')
    type.bytes = 1;
  else if (bits == "16")
    type.bytes = 2;
  else if (bits == "32")
    type.bytes = 4;
  else if (bits == "64")
    type.bytes = 8;
  else
    return std::nullopt;
  return type;
}

DType float_type(ArgumentType type) {
  if (type.kind == 'h')
    return DType::bfloat16;
  return type.bytes == 2 ? DType::float16 : type.bytes == 4 ? DType::float32 : DType::float64;
}

bool is_float(ArgumentType type) {
  return type.kind == 'f' || type.kind == 'h';
}

template <class T> std::optional<T> parse_number(std::string_view text, int base = 10) {
  T value{};
  const char* end = text.data() + text.size();
  std::from_chars_result result{};
  if constexpr (std::is_floating_point_v<T>)
    result = std::from_chars(text.data(), end, value);
  else
    result = std::from_chars(text.data(), end, value, base);
  if (text.empty() || result.ec != std::errc() || result.ptr != end)
    return std::nullopt;
  return value;
}

// The bits of an integer that fits the type.
std::optional<std::uint64_t> parse_integer(ArgumentType type, std::string_view text) {
  const std::size_t bits = type.bytes * 8;
  if (text.starts_with("-")) {
    const auto value = parse_number<std::int64_t>(text);
    const auto least = std::numeric_limits<std::int64_t>::min() >> (64U - bits);
    if (type.kind != 'i' || !value || *value < least)
      return std::nullopt;
    return static_cast<std::uint64_t>(*value);
  }
  const bool hex = text.starts_with("0x");
  const auto value = parse_number<std::uint64_t>(hex ? text.substr(2) : text, hex ? 16 : 10);
  const std::uint64_t most = ~std::uint64_t{0} >> (64U - bits + (type.kind == 'i' ? 1 : 0));
  if (!value || *value > most)
    return std::nullopt;
  return value;
}

Result<RunArgument> parse_scalar(ArgumentType type, const std::string& text,
                                 std::string_view value) {
  RunArgument argument;
  argument.type = type;
  argument.bytes.resize(type.bytes);
  if (is_float(type)) {
    const auto number = parse_number<double>(value);
    if (!number)
      return fail(ErrorCode::usage, fmt::format("'{}' is not a number", text), std::nullopt,
                  kForms);
    store_element(float_type(type), argument.bytes.data(), 0, *number);
    return argument;
  }
  const auto bits = parse_integer(type, value);
  if (!bits)
    return fail(ErrorCode::usage,
                fmt::format("'{}' is not an integer of {} bits", text, type.bytes * 8),
                std::nullopt, kForms);
  std::memcpy(argument.bytes.data(), &*bits, type.bytes); // little-endian hosts only
  return argument;
}

Result<std::vector<std::byte>> read_bytes(const std::string& path) {
  KERNEVO_TRY(text, read_text_file(path, kLargestFile));
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

Result<RunArgument> parse_buffer(const std::string& text, const std::vector<std::string>& parts) {
  const bool out = parts[0] == "out";
  const auto type = parts.size() >= 3 ? parse_type(parts[1]) : std::nullopt;
  const std::size_t most = parts[0] == "in" ? 3 : 4;
  if (!type || parts.size() > most || parts[2].empty())
    return fail(ErrorCode::usage, fmt::format("'{}' is not a buffer argument", text), std::nullopt,
                kForms);
  RunArgument argument;
  argument.buffer = true;
  argument.writable = parts[0] != "in";
  argument.type = *type;
  if (parts.size() == 4)
    argument.save_to = parts[3];
  if (out) {
    const auto count = parse_number<std::uint64_t>(parts[2]);
    if (!count || *count == 0 || *count > kLargestFile / type->bytes)
      return fail(ErrorCode::usage,
                  fmt::format("'{}': '{}' is not a number of elements from 1 to {}", text, parts[2],
                              kLargestFile / type->bytes));
    argument.bytes.resize(*count * type->bytes);
    return argument;
  }
  KERNEVO_TRY(bytes, read_bytes(parts[2]));
  if (bytes.empty() || bytes.size() % type->bytes != 0)
    return fail(ErrorCode::input, fmt::format("{} has {} bytes, not a whole positive number of {}",
                                              parts[2], bytes.size(), parts[1]));
  argument.bytes = std::move(bytes);
  return argument;
}

} // namespace

Result<RunArgument> parse_run_argument(const std::string& text) {
  const std::vector<std::string> parts = split(text);
  if (parts[0] == "in" || parts[0] == "inout" || parts[0] == "out")
    return parse_buffer(text, parts);
  if (parts.size() == 2 && parts[0] == "struct") {
    RunArgument argument;
    KERNEVO_TRY(bytes, read_bytes(parts[1]));
    argument.bytes = std::move(bytes);
    return argument;
  }
  const auto type = parse_type(parts[0]);
  if (!type || parts.size() != 2)
    return fail(ErrorCode::usage, fmt::format("'{}' is not an argument", text), std::nullopt,
                kForms);
  return parse_scalar(*type, text, parts[1]);
}

std::string show_element(ArgumentType type, const std::byte* base, std::size_t index) {
  if (is_float(type))
    return fmt::format("{:g}",
                       load_element(float_type(type), base, static_cast<std::int64_t>(index)));
  std::uint64_t bits = 0;
  std::memcpy(&bits, base + index * type.bytes, type.bytes);
  if (type.kind == 'b')
    return fmt::format("{:#x}", bits);
  if (type.kind == 'u')
    return fmt::format("{}", bits);
  const std::size_t unused = 64 - type.bytes * 8;
  return fmt::format("{}", static_cast<std::int64_t>(bits << unused) >> unused);
}

Result<std::vector<std::uint32_t>> parse_extents(const std::string& text) {
  std::vector<std::uint32_t> extents;
  std::size_t begin = 0;
  while (begin <= text.size() && extents.size() < 4) {
    const std::size_t end = std::min(text.find_first_of(",x", begin), text.size());
    const auto value =
        parse_number<std::uint32_t>(std::string_view(text).substr(begin, end - begin));
    if (!value || *value == 0)
      break;
    extents.push_back(*value);
    begin = end + 1;
  }
  if (extents.empty() || extents.size() > 3 || begin != text.size() + 1)
    return fail(
        ErrorCode::usage,
        fmt::format("'{}' is not an extent: one to three positive integers, as in 8,4", text));
  extents.resize(3, 1);
  return extents;
}

} // namespace kernevo

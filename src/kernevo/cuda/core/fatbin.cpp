#include "kernevo/cuda/core/fatbin.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

namespace kernevo::cuda {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243B1;
constexpr std::uint32_t kImageMagic = 0xBA55ED50;
constexpr std::uint16_t kPtxKind = 1;
constexpr const char* kFix =
    "compile with nvcc -no-compress -gencode arch=compute_80,code=compute_80";

struct Wrapper {
  std::uint32_t magic = 0;
  std::uint32_t version = 0;
  const char* image = nullptr;
  const void* rest = nullptr;
};

struct ImageHeader {
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  std::uint16_t header_bytes = 0;
  std::uint64_t entries_bytes = 0;
};

// The start of an entry's header, as far as it is needed here.
struct Entry {
  std::uint16_t kind = 0;
  std::uint16_t version = 0;
  std::uint32_t header_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint32_t compressed_bytes = 0;
  std::uint32_t unused = 0;
  std::uint16_t minor = 0;
  std::uint16_t major = 0;
  std::uint32_t architecture = 0;
};

template <class T> T read(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

constexpr const char* kJoined = "//kernevo linked modules ";

// The texts that join_modules() put one after the other, each behind its length.
std::vector<std::string> split_modules(const char* at) {
  std::vector<std::string> texts;
  char* end = nullptr;
  auto count = std::strtoull(at + std::strlen(kJoined), &end, 10);
  for (; count > 0; --count) {
    const auto bytes = std::strtoull(end + 1, &end, 10);
    texts.emplace_back(end + 1, bytes);
    end += bytes;
  }
  return texts;
}

// The newest PTX of a fat binary.
Result<std::string> ptx_of_entries(const char* start) {
  const auto image = read<ImageHeader>(start);
  if (image.magic != kImageMagic)
    return fail(ErrorCode::input, "the program's device code is in an unknown container");
  const char* at = start + image.header_bytes;
  const char* end = at + image.entries_bytes;
  std::string best;
  std::uint32_t best_architecture = 0;
  bool compressed = false;
  while (at + sizeof(Entry) <= end) {
    const auto entry = read<Entry>(at);
    if (entry.header_bytes < sizeof(Entry) || entry.header_bytes + entry.bytes == 0)
      break;
    if (entry.kind == kPtxKind && entry.compressed_bytes != 0)
      compressed = true;
    else if (entry.kind == kPtxKind && entry.architecture >= best_architecture) {
      best.assign(at + entry.header_bytes, entry.bytes);
      best.resize(std::strlen(best.c_str())); // padded with zeros
      best_architecture = entry.architecture;
    }
    at += entry.header_bytes + entry.bytes;
  }
  if (best.empty())
    return fail(ErrorCode::input,
                compressed ? "the program's PTX is compressed"
                           : "the program has machine code only, no PTX",
                std::nullopt, kFix);
  return best;
}

} // namespace

Result<std::string> ptx_of_fat_binary(const void* wrapper) {
  if (wrapper == nullptr)
    return fail(ErrorCode::input, "the program registered no device code");
  const auto outer = read<Wrapper>(static_cast<const char*>(wrapper));
  if (outer.magic != kWrapperMagic || outer.image == nullptr)
    return fail(ErrorCode::input, "the program's device code is in an unknown container");
  return ptx_of_entries(outer.image);
}

Result<std::vector<std::string>> ptx_of_image(const void* image) {
  if (image == nullptr)
    return fail(ErrorCode::input, "there is no module to load");
  const auto* const text = static_cast<const char*>(image);
  if (std::strncmp(text, kJoined, std::strlen(kJoined)) == 0)
    return split_modules(text);
  if (std::memcmp(text,
                  "\x7f"
                  "ELF",
                  4) == 0)
    return fail(ErrorCode::input, "the module is machine code, no PTX", std::nullopt,
                "compile to PTX or to a fat binary with PTX");
  const auto magic = read<std::uint32_t>(text);
  if (magic != kWrapperMagic && magic != kImageMagic)
    return std::vector<std::string>{text};
  KERNEVO_TRY(ptx, magic == kWrapperMagic ? ptx_of_fat_binary(image) : ptx_of_entries(text));
  return std::vector<std::string>{std::move(ptx)};
}

std::string join_modules(const std::vector<std::string>& texts) {
  std::string joined = fmt::format("{}{}\n", kJoined, texts.size());
  for (const std::string& text : texts)
    joined += fmt::format("{}\n{}", text.size(), text);
  return joined;
}

} // namespace kernevo::cuda

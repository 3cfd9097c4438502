#include "kernevo/cuda/core/fatbin.h"

#include "kernevo/cuda/core/unpack.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <utility>

namespace kernevo::cuda {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243B1;
constexpr std::uint32_t kImageMagic = 0xBA55ED50;
constexpr std::uint16_t kPtxKind = 1;
constexpr std::uint64_t kPackedWithLz4 = 0x2000;
constexpr std::uint64_t kPackedWithZstd = 0x8000;
constexpr std::uint64_t kForOneGpu = 0x100000;    // compute_90a
constexpr std::uint64_t kForItsFamily = 0x200000; // compute_100f
constexpr std::uint32_t kListsLinkedImages = 2;   // a wrapper's version
constexpr std::size_t kMostLinked = 100'000;
constexpr const char* kFix = "compile with nvcc -gencode arch=compute_80,code=compute_80";

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
  std::uint32_t packed_bytes = 0; // the rest of `bytes` is padding; 0: it is not packed
  std::uint32_t options = 0;
  std::uint16_t minor = 0;
  std::uint16_t major = 0;
  std::uint32_t architecture = 0;
  std::uint64_t name = 0;
  std::uint64_t flags = 0;
  std::uint64_t reserved = 0;
  std::uint64_t unpacked_bytes = 0;
};
static_assert(sizeof(Entry) == 64);

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

bool may_run(const Entry& entry, int capability) {
  if (capability == kAnyGpu)
    return true;
  const auto gpu = static_cast<std::uint32_t>(capability);
  if ((entry.flags & kForOneGpu) != 0)
    return entry.architecture == gpu;
  if ((entry.flags & kForItsFamily) != 0 && entry.architecture / 10 != gpu / 10)
    return false;
  return entry.architecture <= gpu;
}

Result<std::string> text_of(const Entry& entry, std::string_view bytes) {
  std::string text(bytes);
  if (entry.packed_bytes != 0) {
    const bool lz4 = (entry.flags & kPackedWithLz4) != 0;
    if (!lz4 && (entry.flags & kPackedWithZstd) == 0)
      return fail(ErrorCode::input, "the program's PTX is packed in a way that is not known",
                  std::nullopt, "compile with nvcc -no-compress");
    if (entry.packed_bytes > bytes.size())
      return fail(ErrorCode::input, "the program's packed PTX is damaged");
    KERNEVO_TRY(unpacked, unpack(lz4 ? Packing::lz4 : Packing::zstd,
                                 bytes.substr(0, entry.packed_bytes), entry.unpacked_bytes));
    text = std::move(unpacked);
  }
  text.resize(std::strlen(text.c_str())); // padded with zeros
  return text;
}

// Nothing where there is machine code alone. PTX for newer GPUs only is given, too: who loads it
// says what it is for.
Result<std::optional<std::string>> ptx_of_entries(const char* start, int capability,
                                                  std::size_t available) {
  if (available < sizeof(ImageHeader) || read<ImageHeader>(start).magic != kImageMagic)
    return fail(ErrorCode::input, "the program's device code is in an unknown container");
  const auto image = read<ImageHeader>(start);
  if (image.header_bytes > available || image.entries_bytes > available - image.header_bytes)
    return fail(ErrorCode::input, "the program's device code is cut off");
  const char* at = start + image.header_bytes;
  const char* const end = at + image.entries_bytes;
  std::optional<Entry> best;
  std::string_view best_bytes;
  const auto rank = [&](const Entry& entry) {
    return std::pair(may_run(entry, capability),
                     std::pair(entry.architecture, entry.flags & (kForOneGpu | kForItsFamily)));
  };
  while (static_cast<std::size_t>(end - at) >= sizeof(Entry)) {
    const auto entry = read<Entry>(at);
    const auto left = static_cast<std::size_t>(end - at);
    if (entry.header_bytes < sizeof(Entry) || entry.header_bytes > left ||
        entry.bytes > left - entry.header_bytes)
      return fail(ErrorCode::input, "the program's device code is damaged");
    if (entry.kind == kPtxKind && (!best || rank(entry) >= rank(*best))) {
      best = entry;
      best_bytes = {at + entry.header_bytes, entry.bytes};
    }
    at += entry.header_bytes + entry.bytes;
  }
  if (!best)
    return std::nullopt;
  KERNEVO_TRY(text, text_of(*best, best_bytes));
  return std::move(text);
}

tl::unexpected<Error> no_ptx() {
  return fail(ErrorCode::input, "the program has machine code only, no PTX", std::nullopt, kFix);
}

// The virtual GPU has the device runtime's functions; their definitions in libcudadevrt end in
// calls that only NVIDIA's GPUs know.
bool is_device_runtime(const std::string& text) {
  return text.find("__cuda_syscall_cnp") != std::string::npos;
}

// Those a program was linked from, without the device runtime.
Result<std::vector<std::string>> ptx_of_linked(const void* list, int capability) {
  std::vector<std::string> texts;
  const auto* const images = static_cast<const char* const*>(list);
  for (std::size_t i = 0; images[i] != nullptr; ++i) {
    if (i == kMostLinked)
      return fail(ErrorCode::input, "the program's list of device code has no end");
    KERNEVO_TRY(text,
                ptx_of_entries(images[i], capability, std::numeric_limits<std::size_t>::max()));
    if (text && !is_device_runtime(*text))
      texts.push_back(std::move(*text));
  }
  if (texts.empty())
    return no_ptx();
  return texts;
}

} // namespace

Result<std::vector<std::string>> ptx_of_fat_binary(const void* wrapper, int capability) {
  if (wrapper == nullptr)
    return fail(ErrorCode::input, "the program registered no device code");
  const auto outer = read<Wrapper>(static_cast<const char*>(wrapper));
  if (outer.magic != kWrapperMagic || outer.image == nullptr)
    return fail(ErrorCode::input, "the program's device code is in an unknown container");
  if (outer.version == kListsLinkedImages && outer.rest != nullptr)
    return ptx_of_linked(outer.rest, capability);
  KERNEVO_TRY(text,
              ptx_of_entries(outer.image, capability, std::numeric_limits<std::size_t>::max()));
  if (!text)
    return no_ptx();
  return std::vector<std::string>{std::move(*text)};
}

Result<std::vector<std::string>> ptx_of_image(const void* image, int capability,
                                              std::size_t bytes) {
  if (image == nullptr)
    return fail(ErrorCode::input, "there is no module to load");
  const auto* const text = static_cast<const char*>(image);
  if (std::strncmp(text, kJoined, std::strlen(kJoined)) == 0)
    return split_modules(text);
  // What is shorter has a zero among its first bytes.
  if (std::strncmp(text,
                   "\x7f"
                   "ELF",
                   4) == 0)
    return fail(ErrorCode::input, "the module is machine code, no PTX", std::nullopt,
                "compile to PTX or to a fat binary with PTX");
  const auto magic = std::strlen(text) < 4 ? 0 : read<std::uint32_t>(text);
  if (magic == kWrapperMagic)
    return ptx_of_fat_binary(image, capability);
  if (magic != kImageMagic)
    return std::vector<std::string>{text};
  KERNEVO_TRY(ptx, ptx_of_entries(text, capability, bytes));
  if (!ptx)
    return no_ptx();
  return std::vector<std::string>{std::move(*ptx)};
}

std::string join_modules(const std::vector<std::string>& texts) {
  std::string joined = fmt::format("{}{}\n", kJoined, texts.size());
  for (const std::string& text : texts)
    joined += fmt::format("{}\n{}", text.size(), text);
  return joined;
}

} // namespace kernevo::cuda

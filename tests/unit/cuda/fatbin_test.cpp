// What nvcc embeds, written by hand and packed by the libraries nvcc uses.
#include "kernevo/cuda/core/fatbin.h"
#include "kernevo/cuda/core/unpack.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <string>
#include <vector>
#include <zstd.h>

namespace {
using kernevo::cuda::kAnyGpu;
using kernevo::cuda::ptx_of_fat_binary;
using kernevo::cuda::ptx_of_image;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kLz4 = 0x2000;
constexpr std::uint64_t kZstd = 0x8000;
constexpr std::uint64_t kForOneGpu = 0x100000;
constexpr std::uint64_t kForItsFamily = 0x200000;

struct Part {
  std::string bytes;
  std::uint32_t architecture = 80;
  std::uint64_t flags = 0;
  std::uint32_t packed_bytes = 0;
  std::uint64_t unpacked_bytes = 0;
  std::uint16_t kind = 1; // PTX
};

template <class T> void append(std::string& to, T value) {
  const auto at = to.size();
  to.resize(at + sizeof value);
  std::memcpy(to.data() + at, &value, sizeof value);
}

std::string image_of(const std::vector<Part>& parts) {
  std::string entries;
  for (const Part& part : parts) {
    const std::size_t padded = (part.bytes.size() + 8) / 8 * 8;
    append<std::uint16_t>(entries, part.kind);
    append<std::uint16_t>(entries, 0x101);
    append<std::uint32_t>(entries, 64);
    append<std::uint64_t>(entries, padded);
    append<std::uint32_t>(entries, part.packed_bytes);
    append<std::uint32_t>(entries, 0);
    append<std::uint32_t>(entries, 0);
    append<std::uint32_t>(entries, part.architecture);
    append<std::uint64_t>(entries, 0);
    append<std::uint64_t>(entries, part.flags);
    append<std::uint64_t>(entries, 0);
    append<std::uint64_t>(entries, part.unpacked_bytes);
    entries += part.bytes + std::string(padded - part.bytes.size(), '\0');
  }
  std::string image;
  append<std::uint32_t>(image, 0xBA55ED50);
  append<std::uint16_t>(image, 1);
  append<std::uint16_t>(image, 16);
  append<std::uint64_t>(image, entries.size());
  return image + entries;
}

std::string ptx_for(const std::string& target) {
  return ".version 8.0\n.target " + target + "\n" + std::string(300, ' ') + "// " + target + "\n";
}

Part packed_with_zstd(const std::string& text, std::uint32_t architecture) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  const auto bytes = static_cast<std::uint32_t>(packed.size());
  return {packed, architecture, kZstd, bytes, text.size()};
}

Part packed_with_lz4(const std::string& text, std::uint32_t architecture) {
  std::string packed(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size()))),
                     '\0');
  packed.resize(static_cast<std::size_t>(LZ4_compress_default(
      text.data(), packed.data(), static_cast<int>(text.size()), static_cast<int>(packed.size()))));
  const auto bytes = static_cast<std::uint32_t>(packed.size());
  return {packed, architecture, kLz4, bytes, text.size()};
}

TEST(FatBinary, PackedPtxIsUnpacked) {
  const std::string text = ptx_for("sm_80");
  for (const Part& part : {packed_with_zstd(text, 80), packed_with_lz4(text, 80)}) {
    ASSERT_LT(part.bytes.size(), text.size());
    const auto read = ptx_of_image(image_of({part}).data(), 80);
    ASSERT_TRUE(read);
    EXPECT_THAT(*read, ElementsAre(text));
  }
}

TEST(FatBinary, OfSeveralTextsTheNewestThatTheGpuRunsIsTaken) {
  Part mine{ptx_for("sm_90a"), 90, kForOneGpu};
  Part family{ptx_for("sm_100f"), 100, kForItsFamily};
  const std::string image = image_of({{ptx_for("sm_75"), 75},
                                      mine,
                                      packed_with_zstd(ptx_for("sm_90"), 90),
                                      family,
                                      {"not PTX", 120, 0, 0, 0, 2}});
  const auto chosen = [&](int capability) {
    const auto read = ptx_of_image(image.data(), capability);
    EXPECT_TRUE(read && read->size() == 1);
    return read ? read->front().substr(read->front().rfind("// ") + 3) : "";
  };
  EXPECT_EQ(chosen(80), "sm_75\n");
  EXPECT_EQ(chosen(90), "sm_90a\n");
  EXPECT_EQ(chosen(103), "sm_100f\n");
  EXPECT_EQ(chosen(120), "sm_90\n");
  EXPECT_EQ(chosen(70), "sm_100f\n"); // whoever loads it says that it is too new
  EXPECT_EQ(chosen(kAnyGpu), "sm_100f\n");
}

struct Wrapper {
  std::uint32_t magic = 0x466243B1;
  std::uint32_t version = 1;
  const char* image = nullptr;
  const void* rest = nullptr;
};

TEST(FatBinary, WhatWasLinkedIsReadFromItsParts) {
  const std::string first = image_of({packed_with_zstd(ptx_for("sm_80"), 80)});
  const std::string second = image_of({{ptx_for("sm_75"), 75}});
  const std::string device_runtime = image_of({{"machine code", 80, 0, 0, 0, 2}});
  const std::string syscalls = image_of({{ptx_for("sm_80") + "call __cuda_syscall_cnpv2X;", 80}});
  const std::array<const char*, 5> parts = {first.data(), second.data(), device_runtime.data(),
                                            syscalls.data(), nullptr};
  const Wrapper linked{.version = 2, .image = device_runtime.data(), .rest = parts.data()};
  const auto read = ptx_of_fat_binary(&linked, 80);
  ASSERT_TRUE(read);
  EXPECT_THAT(*read, ElementsAre(ptx_for("sm_80"), ptx_for("sm_75")));
  const Wrapper machine_code{.image = device_runtime.data()};
  const auto refused = ptx_of_fat_binary(&machine_code, 80);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("machine code only"));
}

void expect_refused(const std::string& image, const char* why) {
  const auto read = ptx_of_image(image.data(), 80, image.size());
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr(why));
}

TEST(FatBinary, WhatIsDamagedIsRefused) {
  const std::string text = ptx_for("sm_80");
  for (const Part& good : {packed_with_zstd(text, 80), packed_with_lz4(text, 80)}) {
    Part part = good;
    part.unpacked_bytes = std::uint64_t{1} << 62U;
    expect_refused(image_of({part}), "claims");
    part.unpacked_bytes = 0;
    expect_refused(image_of({part}), "claims");
    part.unpacked_bytes = good.unpacked_bytes + 1;
    expect_refused(image_of({part}), "damaged");
    part.unpacked_bytes = good.unpacked_bytes - 1;
    expect_refused(image_of({part}), "damaged");
    part = good;
    part.packed_bytes = 0x7fffffff;
    expect_refused(image_of({part}), "damaged");
    part = good;
    part.bytes[4] = static_cast<char>(~part.bytes[4]);
    part.bytes[0] = static_cast<char>(~part.bytes[0]);
    expect_refused(image_of({part}), "damaged");
    part.flags = 0;
    expect_refused(image_of({part}), "not known");
  }
  const std::string whole = image_of({{text}});
  expect_refused(whole.substr(0, whole.size() - 16), "cut off");
  expect_refused(whole.substr(0, 12), "unknown container");
  std::string lies = whole;
  lies[16 + 8 + 7] = 0x7f; // an entry far larger than the image
  expect_refused(lies, "damaged");
}

} // namespace

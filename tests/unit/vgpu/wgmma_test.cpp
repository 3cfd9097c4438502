// wgmma against plain loops. The test lays the operands out in shared memory by the pictures of the
// PTX manual (rows of 16-byte units, exchanged inside a pattern), not by the code under test, and
// uses small whole numbers, so that every result is exact.
#include "hopper_harness.h"
#include "kernevo/base/small_floats.h"

#include <fmt/format.h>
#include <functional>
#include <random>

namespace kernevo::vgpu::testing {
namespace {

struct Case {
  std::string types = ".f32.f16.f16";
  std::string element = "f16"; // of A and B
  int n = 8;
  int k = 16;
  int bits = 16;
  int swizzle = 0; // bytes
  bool a_transposed = false;
  bool b_transposed = false;
  bool a_in_registers = false;
  bool half_sums = false;
  bool accumulate = true;
  int scale_a = 1;
  int scale_b = 1;
  std::string suffix = ""; // modifiers after the shape
  int k_offset = 0;        // the start address points this many elements into a row
};

std::uint32_t encode(const std::string& element, int value) {
  const auto magnitude = static_cast<std::uint32_t>(std::abs(value));
  const std::uint32_t sign = value < 0 ? 1 : 0;
  if (element == "f16")
    return double_to_half(value);
  if (element == "bf16")
    return double_to_bfloat(value);
  if (element == "tf32")
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (element == "e4m3") {
    constexpr std::uint32_t codes[] = {0x00, 0x38, 0x40, 0x44, 0x48};
    return codes[magnitude] | sign << 7U;
  }
  if (element == "e5m2") {
    constexpr std::uint32_t codes[] = {0x00, 0x3C, 0x40, 0x42, 0x44};
    return codes[magnitude] | sign << 7U;
  }
  if (element == "b1")
    return static_cast<std::uint32_t>(value) & 1U;
  return static_cast<std::uint32_t>(value) & 0xFFU;
}

// One operand of `rows` (M or N) by `depth` (K) elements in shared memory.
struct Placed {
  std::vector<std::uint8_t> bytes;
  std::uint64_t descriptor = 0; // without the start address
};

std::uint64_t descriptor(int leading, int stride, int swizzle) {
  const std::uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  return static_cast<std::uint64_t>(leading / 16) << 16U |
         static_cast<std::uint64_t>(stride / 16) << 32U | mode << 62U;
}

void put(std::vector<std::uint8_t>& bytes, int bit, int bits, std::uint32_t value) {
  const auto need = static_cast<std::size_t>((bit + bits + 7) / 8);
  if (bytes.size() < need)
    bytes.resize((need + 15) / 16 * 16, 0);
  for (int i = 0; i < bits; ++i)
    if ((value >> i & 1U) != 0)
      bytes[static_cast<std::size_t>(bit + i) / 8] |=
          static_cast<std::uint8_t>(1U << static_cast<unsigned>((bit + i) % 8));
}

// K-major. With a swizzle a row of the pattern is as wide as the swizzle, eight rows make a group,
// and the 16-byte unit u of row r stands where unit u ^ (r mod 8), cut to the width, would.
Placed place_k_major(const Case& c, int rows, int depth,
                     const std::function<std::uint32_t(int, int)>& at) {
  Placed placed;
  const int unit_elements = 128 / c.bits;
  const int width = c.swizzle == 0 ? 16 : c.swizzle;
  const int group = width * 8;
  // Without a swizzle: 8x16-byte blocks, first all groups of rows, then the next unit of k.
  const int leading = c.swizzle == 0 ? group * ((rows + 7) / 8) : 16;
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < depth; ++k) {
      const int unit = k / unit_elements;
      int base = 0;
      if (c.swizzle == 0) {
        base = r / 8 * group + unit * leading + r % 8 * 16;
      } else {
        // The exchange of a pattern narrower than 128 bytes goes by 128-byte lines.
        const int line = (r % 8) * width / 128;
        base = r / 8 * group + r % 8 * width + (unit ^ (line & (width / 16 - 1))) * 16;
      }
      put(placed.bytes, base * 8 + k % unit_elements * c.bits, c.bits, at(r, k));
    }
  placed.descriptor = descriptor(leading, group, c.swizzle);
  return placed;
}

// MN-major: a unit holds eight rows (of 16 bits) of one k.
Placed place_mn_major(const Case& c, int rows, int depth,
                      const std::function<std::uint32_t(int, int)>& at) {
  Placed placed;
  const int width = c.swizzle == 0 ? 16 : c.swizzle;
  const int per_width = width / 2;
  const int block = width * 8; // eight k
  const int widths = (rows + per_width - 1) / per_width;
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < depth; ++k) {
      const int line = (k % 8) * width / 128;
      const int unit = r % per_width / 8;
      const int shuffled = c.swizzle == 0 ? unit : unit ^ (line & (width / 16 - 1));
      const int base = r / per_width * block + k / 8 * block * widths + k % 8 * width +
                       shuffled * 16 + r % 8 * 2;
      put(placed.bytes, base * 8, 16, at(r, k));
    }
  // With a swizzle the leading offset leads to the next rows, the stride to the next eight k.
  placed.descriptor = c.swizzle == 0 ? descriptor(block * widths, block, 0)
                                     : descriptor(block, block * widths, c.swizzle);
  return placed;
}

std::string kernel(const Case& c, std::size_t registers) {
  std::string list;
  std::string loads;
  std::string stores;
  for (std::size_t i = 0; i < registers; ++i) {
    list += fmt::format("{}%d{}", i == 0 ? "" : ", ", i);
    loads += fmt::format("  ld.global.b32 %d{}, [%rd1+{}];\n", i, i * 4);
    stores += fmt::format("  st.global.b32 [%rd1+{}], %d{};\n", i * 4, i);
  }
  std::string tail =
      c.types.starts_with(".s32") ? "" : fmt::format(", {}, {}", c.scale_a, c.scale_b);
  if (c.bits == 16)
    tail += fmt::format("{}, {}", c.a_in_registers ? "" : fmt::format(", {}", int{c.a_transposed}),
                        int{c.b_transposed});
  return hopper_header() + fmt::format(R"(.extern .shared .align 1024 .b8 tile[];
.visible .entry k(.param .u64 image, .param .u32 words, .param .u64 a, .param .u64 b,
                  .param .u64 d, .param .u64 fragments, .param .u32 scale)
{{
  .reg .pred %p<4>;
  .reg .b32 %r<12>, %a<4>, %d<{0}>;
  .reg .b64 %rd<12>;
  mov.u32 %r0, %tid.x;
  ld.param.u64 %rd0, [image];
  ld.param.u32 %r1, [words];
  mov.u32 %r2, %r0;
  mov.u32 %r5, tile;
loop:
  setp.ge.u32 %p0, %r2, %r1;
  @%p0 bra copied;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd2, %rd0, %rd2;
  ld.global.u32 %r3, [%rd2];
  shl.b32 %r4, %r2, 2;
  add.u32 %r4, %r4, %r5;
  st.shared.u32 [%r4], %r3;
  add.u32 %r2, %r2, 128;
  bra loop;
copied:
  bar.sync 0;
  fence.proxy.async;
  ld.param.u64 %rd1, [d];
  mul.wide.u32 %rd3, %r0, {1};
  add.u64 %rd1, %rd1, %rd3;
{2}  ld.param.u64 %rd4, [fragments];
  mul.wide.u32 %rd5, %r0, 16;
  add.u64 %rd4, %rd4, %rd5;
  ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%rd4];
  ld.param.u64 %rd6, [a];
  ld.param.u64 %rd7, [b];
  ld.param.u32 %r6, [scale];
  setp.ne.u32 %p1, %r6, 0;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n{3}k{4}{5}{6} {{{7}}}, {8}, %rd7, %p1{9};
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
{10}  ret;
}}
)",
                                       registers, registers * 4, loads, c.n, c.k, c.suffix, c.types,
                                       list, c.a_in_registers ? "{%a0, %a1, %a2, %a3}" : "%rd6",
                                       tail, stores);
}

struct Position {
  int row = 0;
  int column = 0;
};
// Element i of a thread's accumulator.
Position accumulator_position(int thread, int i) {
  const int lane = thread % 32;
  return {thread / 32 * 16 + lane / 4 + (i / 2 % 2) * 8, i / 4 * 8 + lane % 4 * 2 + i % 2};
}

void check(const Case& c, bool sanitize = false) {
  SCOPED_TRACE(fmt::format("m64n{}k{}{} swizzle {}", c.n, c.k, c.types, c.swizzle));
  std::mt19937 random(static_cast<unsigned>(c.n * 1000 + c.k + c.swizzle));
  const bool is_unsigned = c.types.find("u8") != std::string::npos || c.element == "b1";
  const auto number = [&] {
    const int value = static_cast<int>(random() % 9) - 4;
    return c.element == "b1" ? std::abs(value) % 2 : is_unsigned ? std::abs(value) : value;
  };
  const int depth = c.k + c.k_offset;
  std::vector<int> a(static_cast<std::size_t>(64 * depth));
  std::vector<int> b(static_cast<std::size_t>(c.n * depth));
  for (int& value : a)
    value = number();
  for (int& value : b)
    value = number();
  const auto a_at = [&](int row, int k) { return a[static_cast<std::size_t>(row * depth + k)]; };
  const auto b_at = [&](int column, int k) {
    return b[static_cast<std::size_t>(column * depth + k)];
  };
  const auto a_bits = [&](int row, int k) { return encode(c.element, a_at(row, k)); };
  const auto b_bits = [&](int column, int k) { return encode(c.element, b_at(column, k)); };
  Placed in_a =
      c.a_transposed ? place_mn_major(c, 64, depth, a_bits) : place_k_major(c, 64, depth, a_bits);
  Placed in_b =
      c.b_transposed ? place_mn_major(c, c.n, depth, b_bits) : place_k_major(c, c.n, depth, b_bits);
  std::vector<std::uint8_t> image = in_a.bytes;
  image.resize((image.size() + 1023) / 1024 * 1024);
  const std::size_t b_start = image.size();
  image.insert(image.end(), in_b.bytes.begin(), in_b.bytes.end());
  image.resize((image.size() + 15) / 16 * 16);
  const auto shift = static_cast<std::uint64_t>(c.k_offset * c.bits / 8);
  const std::uint64_t descriptor_a = in_a.descriptor | shift >> 4U;
  const std::uint64_t descriptor_b = in_b.descriptor | (b_start + shift) >> 4U;

  const int elements = c.n / 2; // of a thread
  const std::size_t registers = static_cast<std::size_t>(c.half_sums ? elements / 2 : elements);
  const bool integers = c.types.starts_with(".s32");
  std::vector<std::uint32_t> d(128 * registers);
  std::vector<int> start(static_cast<std::size_t>(64 * c.n));
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < elements; ++i) {
      const Position at = accumulator_position(thread, i);
      const int value = static_cast<int>(random() % 21) - 10;
      start[static_cast<std::size_t>(at.row * c.n + at.column)] = value;
      auto& word = d[static_cast<std::size_t>(thread) * registers +
                     static_cast<std::size_t>(c.half_sums ? i / 2 : i)];
      if (c.half_sums)
        word |= static_cast<std::uint32_t>(double_to_half(value)) << (i % 2 * 16);
      else
        word = integers ? static_cast<std::uint32_t>(value)
                        : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
  // A in registers: register r of a lane holds 32 bits of row l / 4 (+ 8 if r is odd), those at
  // k = 4 (r / 2) + l % 4 counted in registers.
  std::vector<std::uint32_t> fragments(std::size_t{128} * 4);
  const int per_register = 32 / c.bits;
  for (int thread = 0; thread < 128 && c.a_in_registers; ++thread)
    for (int r = 0; r < 4; ++r)
      for (int i = 0; i < per_register; ++i) {
        const int lane = thread % 32;
        const int row = thread / 32 * 16 + lane / 4 + r % 2 * 8;
        const int k = (r / 2 * 4 + lane % 4) * per_register + i;
        fragments[static_cast<std::size_t>(thread * 4 + r)] |= a_bits(row, k) << (i * c.bits);
      }

  HopperBench bench(kernel(c, registers), sanitize);
  const auto pd = bench.buffer("d", d);
  const auto parameters = Parameters()
                              .add(bench.buffer("image", image))
                              .add(static_cast<std::uint32_t>(image.size() / 4))
                              .add(descriptor_a)
                              .add(descriptor_b)
                              .add(pd)
                              .add(bench.buffer("fragments", fragments))
                              .add(std::uint32_t{c.accumulate});
  ASSERT_RUNS(bench.launch(128, parameters, static_cast<std::uint32_t>(image.size())));
  const auto result = bench.content<std::uint32_t>(pd);
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < elements; ++i) {
      const Position at = accumulator_position(thread, i);
      int expected = c.accumulate ? start[static_cast<std::size_t>(at.row * c.n + at.column)] : 0;
      for (int k = c.k_offset; k < depth; ++k)
        expected += c.scale_a * a_at(at.row, k) * c.scale_b * b_at(at.column, k);
      const std::uint32_t word = result[static_cast<std::size_t>(thread) * registers +
                                        static_cast<std::size_t>(c.half_sums ? i / 2 : i)];
      const double actual = c.half_sums
                                ? half_to_float(static_cast<std::uint16_t>(word >> (i % 2 * 16)))
                            : integers ? static_cast<double>(static_cast<std::int32_t>(word))
                                       : static_cast<double>(std::bit_cast<float>(word));
      ASSERT_EQ(actual, expected) << "row " << at.row << " column " << at.column;
    }
}

TEST(Wgmma, EveryShapeOfHalves) {
  for (int n = 8; n <= 256; n += 8)
    check({.types = ".f32.f16.f16", .element = "f16", .n = n});
}

TEST(Wgmma, EverySwizzleAlongK) {
  for (const int swizzle : {0, 32, 64, 128}) {
    check({.types = ".f32.f16.f16", .element = "f16", .n = 24, .swizzle = swizzle});
    check({.types = ".f32.bf16.bf16", .element = "bf16", .n = 64, .swizzle = swizzle});
    check({.types = ".f32.tf32.tf32",
           .element = "tf32",
           .n = 16,
           .k = 8,
           .bits = 32,
           .swizzle = swizzle});
    check(
        {.types = ".s32.s8.s8", .element = "s8", .n = 32, .k = 32, .bits = 8, .swizzle = swizzle});
  }
}

TEST(Wgmma, EverySwizzleAlongRowsAndColumns) {
  for (const int swizzle : {0, 32, 64, 128})
    for (const bool a : {false, true})
      for (const bool b : {false, true})
        check({.types = ".f32.f16.f16",
               .element = "f16",
               .n = 128,
               .swizzle = swizzle,
               .a_transposed = a,
               .b_transposed = b});
}

TEST(Wgmma, StartsInTheMiddleOfASwizzledRow) {
  for (const int offset : {16, 32, 48})
    check({.types = ".f32.f16.f16", .element = "f16", .n = 64, .swizzle = 128, .k_offset = offset});
  check({.types = ".f32.bf16.bf16", .element = "bf16", .n = 64, .swizzle = 64, .k_offset = 16});
}

TEST(Wgmma, SmallFloats) {
  for (const char* a : {"e4m3", "e5m2"})
    check({.types = fmt::format(".f32.{0}.{0}", a),
           .element = a,
           .n = 40,
           .k = 32,
           .bits = 8,
           .swizzle = 64});
  check({.types = ".f16.e4m3.e4m3",
         .element = "e4m3",
         .n = 32,
         .k = 32,
         .bits = 8,
         .half_sums = true});
}

TEST(Wgmma, IntegersAndBits) {
  check({.types = ".s32.u8.u8", .element = "u8", .n = 48, .k = 32, .bits = 8});
  check({.types = ".s32.s8.s8",
         .element = "s8",
         .n = 256,
         .k = 32,
         .bits = 8,
         .swizzle = 32,
         .suffix = ".satfinite"});
  check({.types = ".s32.b1.b1.and.popc", .element = "b1", .n = 16, .k = 256, .bits = 1});
}

TEST(Wgmma, AFromRegisters) {
  check(
      {.types = ".f32.f16.f16", .element = "f16", .n = 64, .swizzle = 128, .a_in_registers = true});
  check({.types = ".f32.tf32.tf32",
         .element = "tf32",
         .n = 8,
         .k = 8,
         .bits = 32,
         .a_in_registers = true});
  check({.types = ".f32.e5m2.e5m2",
         .element = "e5m2",
         .n = 16,
         .k = 32,
         .bits = 8,
         .a_in_registers = true});
  check({.types = ".f16.f16.f16",
         .element = "f16",
         .n = 16,
         .b_transposed = true,
         .a_in_registers = true,
         .half_sums = true});
}

TEST(Wgmma, ScalesAndSignsOfTheProduct) {
  check({.types = ".f32.f16.f16", .element = "f16", .n = 16, .accumulate = false});
  check({.types = ".f32.f16.f16", .element = "f16", .n = 16, .scale_a = -1});
  check({.types = ".f32.f16.f16", .element = "f16", .n = 16, .scale_b = -1});
  check({.types = ".f32.f16.f16", .element = "f16", .n = 16, .scale_a = -1, .scale_b = -1});
}

TEST(Wgmma, SanitizerSeesItsReads) {
  check({.types = ".f32.f16.f16", .element = "f16", .n = 32, .swizzle = 128}, true);
  // The same without the barrier: warps multiply what other warps still write.
  const Case c{.types = ".f32.f16.f16", .element = "f16", .n = 8};
  std::string text = kernel(c, 4);
  text.replace(text.find("bar.sync 0;"), 11, "");
  HopperBench bench(text, true);
  const std::vector<std::uint32_t> words(4096, 1);
  const auto parameters = Parameters()
                              .add(bench.buffer("image", words))
                              .add(std::uint32_t{4096})
                              .add(descriptor(1024, 128, 0))
                              .add(descriptor(128, 128, 0) | 128)
                              .add(bench.buffer("d", words))
                              .add(bench.buffer("fragments", words))
                              .add(std::uint32_t{1});
  EXPECT_FAULT(bench.launch(128, parameters, 16384), shared_race);
}

TEST(Wgmma, DescriptorOutsideSharedMemoryIsAFault) {
  const Case c{.types = ".f32.f16.f16", .element = "f16", .n = 8};
  HopperBench bench(kernel(c, 4));
  const std::vector<std::uint32_t> words(1024, 0);
  const auto parameters = Parameters()
                              .add(bench.buffer("image", words))
                              .add(std::uint32_t{0})
                              .add(descriptor(1024, 128, 0) | 0x3FFF)
                              .add(descriptor(128, 128, 0))
                              .add(bench.buffer("d", words))
                              .add(bench.buffer("fragments", words))
                              .add(std::uint32_t{1});
  EXPECT_FAULT(bench.launch(128, parameters, 4096), out_of_bounds);
}

TEST(Wgmma, RefusesWhatPtxDoesNotDefine) {
  const auto message = [](const std::string& ptx) {
    auto loaded = load_program(ptx, "test.ptx");
    return loaded ? std::string("loaded") : format_error(loaded.error());
  };
  const Case good{.types = ".f32.f16.f16", .element = "f16", .n = 16};
  EXPECT_NE(message(kernel(good, 7)).find("takes 8 registers, not 7"), std::string::npos);
  EXPECT_NE(
      message(kernel({.types = ".s32.s8.s8", .element = "s8", .n = 40, .k = 32, .bits = 8}, 20))
          .find("multiple of 16"),
      std::string::npos);
  Case bad = good;
  bad.n = 12;
  EXPECT_NE(message(kernel(bad, 8)).find("m64n12k16"), std::string::npos);
  bad = good;
  bad.scale_a = 2;
  EXPECT_NE(message(kernel(bad, 8)).find("imm-scale"), std::string::npos);
}

} // namespace
} // namespace kernevo::vgpu::testing

// Tensor maps and cp.async.bulk.tensor against plain loops over coordinates.
#include "hopper_harness.h"
#include "kernevo/vgpu/memory/tensor_map.h"

#include <fmt/format.h>
#include <functional>
#include <numeric>

namespace kernevo::vgpu::testing {
namespace {

constexpr std::uint32_t kTileBytes = 16384;

struct Arguments {
  TensorMap map;
  DevicePointer memory = 0;
  std::array<std::int32_t, 5> coordinates{};
  std::array<std::uint32_t, 2> offsets{};
};

Parameters parameters(const Arguments& arguments) {
  Parameters made;
  made.add(arguments.map).add(arguments.memory);
  for (const std::int32_t coordinate : arguments.coordinates)
    made.add(coordinate);
  for (const std::uint32_t offset : arguments.offsets)
    made.add(offset);
  return made;
}

// %r1 tile, %r2 barrier, %c0.. the coordinates, %h0 %h1 the offsets, %rd0 the map, %rd1 memory of
// kTileBytes that the tile is dumped to (load) or filled from (store).
std::string kernel(const std::string& before, const std::string& issue, const std::string& after) {
  return hopper_header() + fmt::format(R"(
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 memory, .param .u32 c0,
                  .param .u32 c1, .param .u32 c2, .param .u32 c3, .param .u32 c4, .param .u32 o0,
                  .param .u32 o1)
{{
  .shared .align 1024 .b8 tile[{}];
  .shared .align 8 .b64 barrier;
  .reg .pred %p<4>;
  .reg .b16 %h<4>;
  .reg .b32 %r<20>, %c<5>;
  .reg .b64 %rd<12>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  mov.u32 %r2, barrier;
  mov.b64 %rd2, map;
  cvta.param.u64 %rd0, %rd2;
  ld.param.u64 %rd1, [memory];
  ld.param.u32 %c0, [c0];
  ld.param.u32 %c1, [c1];
  ld.param.u32 %c2, [c2];
  ld.param.u32 %c3, [c3];
  ld.param.u32 %c4, [c4];
  ld.param.u16 %h0, [o0];
  ld.param.u16 %h1, [o1];
  setp.ne.u32 %p0, %r0, 0;
{}
  @%p0 bra issued;
  prefetch.tensormap [%rd0];
{}
issued:
  bar.sync 0;
{}
  ret;
}}
)",
                                       kTileBytes, before, issue, after);
}

// A loop over the words of the tile; %r6 is the word's address, %rd4 its place in memory.
std::string words(const std::string& label, const std::string& body) {
  return fmt::format(R"(
  mov.u32 %r3, %r0;
{0}:
  shl.b32 %r5, %r3, 2;
  add.u32 %r6, %r1, %r5;
  cvt.u64.u32 %rd3, %r5;
  add.u64 %rd4, %rd1, %rd3;
{1}
  mov.u32 %r10, %ntid.x;
  add.u32 %r3, %r3, %r10;
  setp.lt.u32 %p2, %r3, {2};
  @%p2 bra {0};)",
                     label, body, kTileBytes / 4);
}

// The tile is filled with 0xA5 first: what the copy does not touch stays recognisable.
std::string load_kernel(const std::string& instruction, std::uint32_t bytes) {
  return kernel(words("fill", "  st.shared.u32 [%r6], 0xA5A5A5A5;") + "\n  bar.sync 0;",
                fmt::format(R"(
  mbarrier.init.shared.b64 [%r2], 1;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], {};
  {};)",
                            bytes, instruction),
                R"(
waiting:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
  @!%p1 bra waiting;)" +
                    words("dump", R"(
  ld.shared.u32 %r7, [%r6];
  st.global.u32 [%rd4], %r7;)"));
}

std::string coordinate_list(std::size_t count) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i)
    list += fmt::format("{}%c{}", i == 0 ? "" : ", ", i);
  return list;
}

std::string tile_load(std::uint32_t rank) {
  return fmt::format("cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes [%r1], [%rd0, {{{}}}], [%r2]",
                     rank, coordinate_list(rank));
}

// A tensor whose element number i (counted over dimensions without gaps) is i + 1.
struct Tensor {
  TiledTensor description;
  std::vector<std::uint8_t> bytes;

  Tensor(TensorType type, std::vector<std::uint64_t> dimensions, std::vector<std::uint32_t> box) {
    description.type = type;
    description.rank = static_cast<std::uint32_t>(dimensions.size());
    const std::uint64_t size = bytes_of(type);
    std::uint64_t pitch = (dimensions[0] * size + 15) / 16 * 16;
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      description.dimensions[i] = dimensions[i];
      description.box[i] = box[i];
      if (i > 0) {
        description.strides[i - 1] = pitch;
        pitch *= dimensions[i];
      }
    }
    bytes.resize(pitch, 0xEE);
    std::uint64_t number = 0;
    each_element(std::vector<std::int64_t>(dimensions.size()),
                 [&](const std::vector<std::int64_t>& at) { set(at, ++number); });
  }

  void each_element(std::vector<std::int64_t> at,
                    const std::function<void(const std::vector<std::int64_t>&)>& action) const {
    for (;;) {
      action(at);
      std::size_t i = 0;
      while (i < at.size() && ++at[i] == static_cast<std::int64_t>(description.dimensions[i]))
        at[i++] = 0;
      if (i == at.size())
        return;
    }
  }

  bool contains(const std::vector<std::int64_t>& at) const {
    for (std::size_t i = 0; i < at.size(); ++i)
      if (at[i] < 0 || at[i] >= static_cast<std::int64_t>(description.dimensions[i]))
        return false;
    return true;
  }
  std::size_t offset(const std::vector<std::int64_t>& at) const {
    std::size_t place = static_cast<std::size_t>(at[0]) * bytes_of(description.type);
    for (std::size_t i = 1; i < at.size(); ++i)
      place += static_cast<std::size_t>(at[i]) * description.strides[i - 1];
    return place;
  }
  void set(const std::vector<std::int64_t>& at, std::uint64_t value) {
    std::memcpy(bytes.data() + offset(at), &value, bytes_of(description.type));
  }
  std::uint64_t get(const std::vector<std::int64_t>& at) const {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + offset(at), bytes_of(description.type));
    return value;
  }
};

// Where byte `linear` of a tile stands: 16-byte units are exchanged inside each 128-byte line.
std::size_t swizzled(std::size_t linear, TensorSwizzle swizzle) {
  const std::size_t line = linear / 128;
  const std::size_t unit = linear % 128 / 16;
  switch (swizzle) {
  case TensorSwizzle::none: return linear;
  case TensorSwizzle::bytes32: return line * 128 + (unit ^ (line % 2)) * 16 + linear % 16;
  case TensorSwizzle::bytes64: return line * 128 + (unit ^ (line % 4)) * 16 + linear % 16;
  case TensorSwizzle::bytes128: return line * 128 + (unit ^ (line % 8)) * 16 + linear % 16;
  }
  return linear;
}

// The tile a copy of the box at these coordinates must leave.
std::vector<std::uint8_t> expected_tile(const Tensor& tensor,
                                        const std::vector<std::int64_t>& first,
                                        std::uint64_t fill = 0) {
  std::vector<std::uint8_t> tile(kTileBytes, 0xA5);
  const TiledTensor& d = tensor.description;
  const std::size_t size = bytes_of(d.type);
  std::vector<std::int64_t> at(d.rank);
  std::size_t linear = 0;
  for (;;) {
    std::vector<std::int64_t> place(d.rank);
    for (std::size_t i = 0; i < d.rank; ++i)
      place[i] = first[i] + at[i];
    const std::uint64_t value = tensor.contains(place) ? tensor.get(place) : fill;
    for (std::size_t byte = 0; byte < size; ++byte)
      tile[swizzled(linear + byte, d.swizzle)] = static_cast<std::uint8_t>(value >> (8 * byte));
    linear += size;
    std::size_t i = 0;
    for (; i < d.rank; ++i) {
      at[i] += i == 0 ? 1 : d.element_strides[i];
      if (at[i] < d.box[i])
        break;
      at[i] = 0;
    }
    if (i == d.rank)
      return tile;
  }
}

std::uint32_t tile_bytes(const TiledTensor& d) {
  std::uint32_t bytes = d.box[0] * bytes_of(d.type);
  for (std::size_t i = 1; i < d.rank; ++i)
    bytes *= (d.box[i] + d.element_strides[i] - 1) / d.element_strides[i];
  return bytes;
}

void check_load(Tensor tensor, const std::vector<std::int64_t>& first, std::uint64_t fill = 0,
                bool sanitize = false) {
  SCOPED_TRACE(fmt::format("rank {} type {} swizzle {} at {}", tensor.description.rank,
                           static_cast<int>(tensor.description.type),
                           static_cast<int>(tensor.description.swizzle), first[0]));
  HopperBench bench(load_kernel(tile_load(tensor.description.rank), tile_bytes(tensor.description)),
                    sanitize);
  tensor.description.global_address = bench.buffer("tensor", tensor.bytes);
  const auto map = encode_tiled(tensor.description);
  ASSERT_TRUE(map.has_value()) << format_error(map.error());
  Arguments arguments{*map, bench.buffer("memory", std::vector<std::uint8_t>(kTileBytes)), {}, {}};
  for (std::size_t i = 0; i < first.size(); ++i)
    arguments.coordinates[i] = static_cast<std::int32_t>(first[i]);
  ASSERT_RUNS(bench.launch(64, parameters(arguments)));
  EXPECT_EQ(bench.content<std::uint8_t>(arguments.memory), expected_tile(tensor, first, fill));
}

TEST(TensorCopy, BoxesOfEveryRank) {
  check_load(Tensor(TensorType::u32, {100}, {64}), {20});
  check_load(Tensor(TensorType::f16, {80, 70}, {64, 32}), {8, 16});
  check_load(Tensor(TensorType::f32, {20, 10, 8}, {8, 4, 2}), {4, 3, 2});
  check_load(Tensor(TensorType::f64, {8, 5, 4, 3}, {4, 3, 2, 2}), {2, 1, 1, 0});
  check_load(Tensor(TensorType::u8, {32, 4, 3, 3, 3}, {16, 2, 2, 2, 2}), {3, 1, 1, 0, 1});
}

TEST(TensorCopy, EverySwizzle) {
  using enum TensorSwizzle;
  for (const TensorSwizzle swizzle : {none, bytes32, bytes64, bytes128}) {
    const std::uint32_t width = swizzle == none ? 128 : span_of(swizzle);
    Tensor halves(TensorType::bf16, {256, 64}, {width / 2, 40});
    halves.description.swizzle = swizzle;
    check_load(halves, {16, 5});
    Tensor words(TensorType::u32, {64, 40}, {width / 4, 24});
    words.description.swizzle = swizzle;
    check_load(words, {0, 0}, 0, true);
  }
}

TEST(TensorCopy, OutsideTheTensorIsFilled) {
  for (const std::vector<std::int64_t>& at :
       {std::vector<std::int64_t>{-3, -2}, {15, 9}, {-100, 0}, {0, 100}, {19, 9}}) {
    Tensor tensor(TensorType::f32, {20, 10}, {8, 4});
    check_load(tensor, at);
    tensor.description.fill = TensorFill::nan;
    check_load(tensor, at, 0x7FFFFFFF);
  }
}

TEST(TensorCopy, ElementStridesSkipRows) {
  Tensor tensor(TensorType::u16, {64, 40, 6}, {16, 9, 4});
  tensor.description.element_strides = {1, 2, 3, 1, 1};
  check_load(tensor, {8, 1, 0});
}

std::string store_kernel(const std::string& instruction) {
  return kernel(words("fill", R"(
  ld.global.u32 %r7, [%rd4];
  st.shared.u32 [%r6], %r7;)") +
                    "\n  fence.proxy.async.shared::cta;\n  bar.sync 0;",
                instruction + R"(;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;)",
                "");
}

TEST(TensorCopy, StoresAreClipped) {
  for (const TensorSwizzle swizzle : {TensorSwizzle::none, TensorSwizzle::bytes64})
    for (const std::vector<std::int64_t>& first :
         {std::vector<std::int64_t>{4, 3}, {-5, -2}, {17, 8}, {40, 0}})
      for (const bool sanitize : {false, true}) {
        Tensor tensor(TensorType::u32, {20, 10}, {16, 4});
        tensor.description.swizzle = swizzle;
        HopperBench bench(store_kernel("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                                       "[%rd0, {%c0, %c1}], [%r1]"),
                          sanitize);
        tensor.description.global_address = bench.buffer("tensor", tensor.bytes);
        const auto map = encode_tiled(tensor.description);
        ASSERT_TRUE(map.has_value());
        std::vector<std::uint32_t> tile(kTileBytes / 4);
        std::iota(tile.begin(), tile.end(), 1000U);
        Arguments arguments{*map, bench.buffer("memory", tile), {}, {}};
        arguments.coordinates = {static_cast<std::int32_t>(first[0]),
                                 static_cast<std::int32_t>(first[1]), 0, 0, 0};
        ASSERT_RUNS(bench.launch(64, parameters(arguments)));
        for (std::int64_t y = 0; y < 4; ++y)
          for (std::int64_t x = 0; x < 16; ++x) {
            const std::vector<std::int64_t> at = {first[0] + x, first[1] + y};
            const std::size_t place =
                swizzled(static_cast<std::size_t>(y * 16 + x) * 4, swizzle) / 4;
            if (tensor.contains(at))
              tensor.set(at, tile[place]);
          }
        EXPECT_EQ(bench.content<std::uint8_t>(tensor.description.global_address), tensor.bytes);
      }
}

TEST(TensorCopy, ReductionsOnTheTensor) {
  const auto run = [](const std::string& operation, TensorType type, std::uint32_t value) {
    Tensor tensor(type, {8, 4}, {4, 2});
    HopperBench bench(store_kernel(fmt::format("cp.reduce.async.bulk.tensor.2d.global.shared::cta.{"
                                               "}.tile.bulk_group [%rd0, {{%c0, %c1}}], [%r1]",
                                               operation)));
    tensor.description.global_address = bench.buffer("tensor", tensor.bytes);
    const std::vector<std::uint32_t> tile(kTileBytes / 4, value);
    Arguments arguments{*encode_tiled(tensor.description), bench.buffer("memory", tile), {}, {}};
    arguments.coordinates = {6, 1, 0, 0, 0};
    const auto result = bench.launch(64, parameters(arguments));
    EXPECT_FALSE(result.fault.has_value()) << fault_text(result);
    return bench.content<std::uint32_t>(tensor.description.global_address);
  };
  // Elements 15, 16 and 23, 24 of the tensor are inside the box.
  const auto sums = run("add", TensorType::u32, 100);
  EXPECT_EQ(sums[14], 115U);
  EXPECT_EQ(sums[15], 116U);
  EXPECT_EQ(sums[16], 17U);
  EXPECT_EQ(sums[22], 123U);
  EXPECT_EQ(run("min", TensorType::s32, 0xFFFFFFFF)[14], 0xFFFFFFFFU);
  EXPECT_EQ(run("min", TensorType::u32, 0xFFFFFFFF)[14], 15U);
  EXPECT_EQ(run("xor", TensorType::u32, 1)[14], 14U);
}

// An 8x8 picture of 16 channels, two of them; a column of 20 pixels of a 3x3 filter without border.
TEST(TensorCopy, Im2colWalksThePixels) {
  constexpr std::int64_t kSize = 8;
  Im2colTensor description;
  description.type = TensorType::u16;
  description.rank = 4;
  description.dimensions = {16, kSize, kSize, 2, 0};
  description.strides = {32, 32 * kSize, 32 * kSize * kSize, 0};
  description.lower_corner = {-1, -1, 0};
  description.upper_corner = {-1, -1, 0};
  description.channels_per_pixel = 8;
  description.pixels_per_column = 20;
  const Tensor tensor(TensorType::u16, {16, kSize, kSize, 2}, {8, 1, 1, 1});
  HopperBench bench(load_kernel(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%r1], [%rd0, {%c0, %c1, %c2, %c3}], [%r2], {%h0, %h1}",
      20 * 16));
  description.global_address = bench.buffer("tensor", tensor.bytes);
  const auto map = encode_im2col(description);
  ASSERT_TRUE(map.has_value()) << format_error(map.error());
  Arguments arguments{*map, bench.buffer("memory", std::vector<std::uint8_t>(kTileBytes)), {}, {}};
  arguments.coordinates = {8, 4, 5, 0, 0};
  arguments.offsets = {2, 1};
  ASSERT_RUNS(bench.launch(64, parameters(arguments)));
  const auto tile = bench.content<std::uint16_t>(arguments.memory);
  // Pixels of the output run over -1 .. 6 in both directions.
  std::int64_t w = 4;
  std::int64_t h = 5;
  std::int64_t n = 0;
  for (std::size_t pixel = 0; pixel < 20; ++pixel) {
    for (std::int64_t channel = 0; channel < 8; ++channel) {
      const std::vector<std::int64_t> at = {8 + channel, w + 2, h + 1, n};
      const std::uint64_t expected = tensor.contains(at) ? tensor.get(at) : 0;
      ASSERT_EQ(tile[pixel * 8 + static_cast<std::size_t>(channel)], expected)
          << "pixel " << pixel << " channel " << channel;
    }
    if (++w == 7) {
      w = -1;
      if (++h == 7) {
        h = -1;
        ++n;
      }
    }
  }
}

// A map made by the kernel itself, field by field, in shared memory, then copied to global memory.
TEST(TensorCopy, MapsMadeByTheKernel) {
  Tensor tensor(TensorType::f32, {20, 10}, {8, 4});
  const std::string make = R"(
  mov.u32 %r8, map_here;
  setp.lt.u32 %p3, %r0, 32;
  shl.b32 %r9, %r0, 2;
  add.u32 %r9, %r9, %r8;
  @%p3 st.shared.u32 [%r9], 0;
  bar.sync 0;
  ld.param.u64 %rd5, [tensor];
  mov.b64 %rd6, 80;
  @%p0 bra made;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r8], %rd5;
  tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r8], 1;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r8], 0, 8;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r8], 1, 4;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r8], 0, 20;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r8], 1, 10;
  tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r8], 0, %rd6;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r8], 0, 1;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r8], 1, 1;
  tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r8], 7;
  tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r8], 0;
  tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r8], 0;
  tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r8], 1;
made:
  bar.sync 0;
  ld.param.u64 %rd0, [scratch];
  @!%p3 bra copied;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd0], [%r8], 128;
copied:
  bar.sync 0;
  fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;
)";
  std::string text = load_kernel(tile_load(2), 128);
  text.replace(text.find(".param .u32 o1)"), 15,
               ".param .u32 o1, .param .u64 tensor, .param .u64 scratch)");
  text.replace(text.find("  .shared .align 8"), 0, "  .shared .align 128 .b8 map_here[128];\n");
  text.replace(text.find("  @%p0 bra issued;"), 0, make);
  HopperBench bench(text, true);
  Arguments arguments;
  arguments.memory = bench.buffer("memory", std::vector<std::uint8_t>(kTileBytes));
  arguments.coordinates = {16, 8, 0, 0, 0};
  Parameters all = parameters(arguments);
  all.add(bench.buffer("tensor", tensor.bytes));
  all.add(bench.buffer("scratch", std::vector<std::uint64_t>(16)));
  ASSERT_RUNS(bench.launch(64, all));
  EXPECT_EQ(bench.content<std::uint8_t>(arguments.memory),
            expected_tile(tensor, {16, 8}, 0x7FFFFFFF));
}

TEST(TensorCopy, BadMapsAreFaults) {
  const auto launch = [](const std::function<void(TensorFields&)>& spoil, std::uint32_t rank = 2) {
    Tensor tensor(TensorType::f32, {20, 10}, {8, 4});
    HopperBench bench(load_kernel(tile_load(rank), 128));
    tensor.description.global_address = bench.buffer("tensor", tensor.bytes);
    TensorFields fields = TensorFields::decode(*encode_tiled(tensor.description));
    spoil(fields);
    const Arguments arguments{
        fields.encode(), bench.buffer("memory", std::vector<std::uint8_t>(kTileBytes)), {}, {}};
    return bench.launch(64, parameters(arguments));
  };
  EXPECT_FAULT(launch([](TensorFields&) {}, 3), bad_argument);
  EXPECT_FAULT(launch([](TensorFields& f) { f = {}; }), bad_argument);
  EXPECT_FAULT(launch([](TensorFields& f) { f.box[1] = 0; }), bad_argument);
  EXPECT_FAULT(launch([](TensorFields& f) { f.type = 99; }), bad_argument);
  EXPECT_FAULT(launch([](TensorFields& f) { f.mode = TensorMode::im2col; }), bad_argument);
  EXPECT_FAULT(launch([](TensorFields& f) { f.address = 4096; }), out_of_bounds);
  EXPECT_FAULT(launch([](TensorFields& f) {
                 f.dimensions[1] = 1000;
                 f.strides[0] = 1 << 20;
               }),
               out_of_bounds);
}

TEST(TensorMap, EncodingRefusesWhatTheDriverRefuses) {
  TiledTensor good;
  good.rank = 2;
  good.global_address = 4096;
  good.dimensions = {20, 10, 0, 0, 0};
  good.strides = {80, 0, 0, 0};
  good.box = {8, 4, 0, 0, 0};
  EXPECT_TRUE(encode_tiled(good).has_value());
  const auto refused = [&](const std::function<void(TiledTensor&)>& spoil) {
    TiledTensor bad = good;
    spoil(bad);
    return !encode_tiled(bad).has_value();
  };
  EXPECT_TRUE(refused([](TiledTensor& t) { t.rank = 0; }));
  EXPECT_TRUE(refused([](TiledTensor& t) { t.rank = 6; }));
  EXPECT_TRUE(refused([](TiledTensor& t) { t.global_address = 4100; }));
  EXPECT_TRUE(refused([](TiledTensor& t) { t.dimensions[1] = 0; }));
  EXPECT_TRUE(refused([](TiledTensor& t) { t.strides[0] = 88; }));
  EXPECT_TRUE(refused([](TiledTensor& t) { t.box[0] = 6; }));
  EXPECT_TRUE(refused([](TiledTensor& t) { t.box[1] = 257; }));
  EXPECT_TRUE(refused([](TiledTensor& t) { t.element_strides[1] = 9; }));
  EXPECT_TRUE(refused([](TiledTensor& t) { t.interleave = 1; }));
  EXPECT_TRUE(refused([](TiledTensor& t) {
    t.box[0] = 16;
    t.swizzle = TensorSwizzle::bytes32;
  }));
  EXPECT_TRUE(refused([](TiledTensor& t) {
    t.type = TensorType::u32;
    t.fill = TensorFill::nan;
  }));
  EXPECT_EQ(*tensor_type_of_driver(9), TensorType::bf16);
  EXPECT_FALSE(tensor_type_of_driver(13).has_value());
}

} // namespace
} // namespace kernevo::vgpu::testing

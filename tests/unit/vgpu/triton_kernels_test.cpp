// Kernels as Triton compiles them (fixtures/triton_kernels.py), executed and compared with double
// precision on the host.
#include "hopper_harness.h"
#include "kernevo/base/small_floats.h"
#include "kernevo/vgpu/memory/tensor_map.h"
#include "places.h"

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

namespace kernevo::vgpu::testing {
namespace {

using Halves = std::vector<std::uint16_t>;

std::string fixture(const std::string& name) {
  std::ifstream file(test_folder("unit/vgpu") + "/fixtures/triton_" + name + ".ptx");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Halves random_halves(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Halves values(count);
  for (std::uint16_t& value : values)
    value = double_to_half(static_cast<double>(random() % 2000) / 1000.0 - 1.0);
  return values;
}

double number(const Halves& values, std::size_t i) {
  return half_to_float(values[i]);
}

// A parameter buffer with the alignment each parameter asks for.
class Packed {
public:
  template <class T> Packed& add(const T& value, std::size_t alignment = sizeof(T)) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    const auto* from = reinterpret_cast<const std::byte*>(&value); // NOLINT
    bytes_.insert(bytes_.end(), from, from + sizeof(T));
    return *this;
  }
  // The two scratch buffers every Triton kernel ends with.
  std::vector<std::byte> finish(DevicePointer scratch = 0) {
    add(scratch).add(DevicePointer{0});
    return bytes_;
  }

private:
  std::vector<std::byte> bytes_;
};

LaunchResult launch(HopperBench& bench, const std::string& kernel,
                    std::array<std::uint32_t, 3> grid, std::uint32_t shared,
                    std::vector<std::byte> parameters) {
  LaunchConfig config;
  config.kernel = kernel;
  config.grid = grid;
  config.block = {128, 1, 1};
  config.dynamic_shared = shared;
  config.parameters = std::move(parameters);
  return bench.program ? bench.machine.launch(*bench.program, config) : LaunchResult{};
}

TEST(TritonKernels, Softmax) {
  constexpr std::size_t kColumns = 400;
  for (const bool sanitize : {false, true}) {
    HopperBench bench(fixture("softmax_sm80"), sanitize);
    std::mt19937 random(3);
    std::vector<float> x(3 * kColumns);
    for (float& value : x)
      value = static_cast<float>(random() % 1000) / 100.0F;
    const auto in = bench.buffer("x", x);
    const auto out = bench.buffer("out", std::vector<float>(x.size()));
    const std::int32_t n = kColumns;
    ASSERT_RUNS(
        launch(bench, "softmax", {3, 1, 1}, 16, Packed().add(out).add(in).add(n).add(n).finish()));
    const auto result = bench.content<float>(out);
    for (std::size_t row = 0; row < 3; ++row) {
      double sum = 0;
      for (std::size_t i = 0; i < kColumns; ++i)
        sum += std::exp(double{x[row * kColumns + i]} - 10);
      for (std::size_t i = 0; i < kColumns; ++i)
        ASSERT_NEAR(result[row * kColumns + i], std::exp(double{x[row * kColumns + i]} - 10) / sum,
                    1e-7);
    }
  }
}

// c = a (m x k) times b, where b_at says how b is stored.
template <class At>
void expect_product(const Halves& a, const Halves& c, std::size_t m, std::size_t n, std::size_t k,
                    const At& b_at) {
  for (std::size_t row = 0; row < m; ++row)
    for (std::size_t column = 0; column < n; ++column) {
      double expected = 0;
      for (std::size_t i = 0; i < k; ++i)
        expected += number(a, row * k + i) * b_at(i, column);
      ASSERT_NEAR(number(c, row * n + column), expected, 1e-3 * (1 + std::abs(expected)))
          << row << "," << column;
    }
}

TEST(TritonKernels, Matmul) {
  constexpr std::size_t kM = 100;
  constexpr std::size_t kN = 80;
  constexpr std::size_t kK = 80;
  for (const auto& [name, shared] : {std::pair{"matmul_sm80", 8192U}, {"matmul_sm90", 16384U}})
    for (const bool sanitize : {false, true}) {
      SCOPED_TRACE(name);
      HopperBench bench(fixture(name), sanitize);
      // Rows past the end are read, as the kernel masks only k.
      Halves a = random_halves(std::size_t{128} * kK, 1);
      Halves b = random_halves((kK + 1) * kN, 2);
      const auto c = bench.buffer("c", Halves(kM * kN));
      ASSERT_RUNS(launch(bench, "matmul", {2, 2, 1}, shared,
                         Packed()
                             .add(bench.buffer("a", a))
                             .add(bench.buffer("b", b))
                             .add(c)
                             .add(std::int32_t{kM})
                             .add(std::int32_t{kN})
                             .add(std::int32_t{kK})
                             .finish()));
      expect_product(a, bench.content<std::uint16_t>(c), kM, kN, kK,
                     [&](std::size_t i, std::size_t column) { return number(b, i * kN + column); });
    }
}

TEST(TritonKernels, Attention) {
  constexpr std::size_t kLength = 128;
  constexpr std::size_t kWidth = 32;
  constexpr float kScale = 0.5F;
  const Halves q = random_halves(kLength * kWidth, 4);
  const Halves k = random_halves(kLength * kWidth, 5);
  const Halves v = random_halves(kLength * kWidth, 6);
  for (const auto& [name, shared] :
       {std::pair{"attention_sm80", 8192U}, {"attention_sm90", 12288U}})
    for (const bool sanitize : {false, true}) {
      SCOPED_TRACE(name);
      HopperBench bench(fixture(name), sanitize);
      const auto out = bench.buffer("out", Halves(q.size()));
      ASSERT_RUNS(launch(bench, "attention", {2, 1, 1}, shared,
                         Packed()
                             .add(bench.buffer("q", q))
                             .add(bench.buffer("k", k))
                             .add(bench.buffer("v", v))
                             .add(out)
                             .add(kScale)
                             .add(std::int32_t{kLength})
                             .finish()));
      const auto result = bench.content<std::uint16_t>(out);
      for (std::size_t row = 0; row < kLength; ++row) {
        std::vector<double> weight(kLength);
        double sum = 0;
        for (std::size_t i = 0; i < kLength; ++i) {
          double score = 0;
          for (std::size_t d = 0; d < kWidth; ++d)
            score += number(q, row * kWidth + d) * number(k, i * kWidth + d);
          weight[i] = std::exp(score * kScale);
          sum += weight[i];
        }
        for (std::size_t d = 0; d < kWidth; ++d) {
          double expected = 0;
          for (std::size_t i = 0; i < kLength; ++i)
            expected += weight[i] / sum * number(v, i * kWidth + d);
          ASSERT_NEAR(number(result, row * kWidth + d), expected, 2e-3) << row << "," << d;
        }
      }
    }
}

void add_tensor(Packed& parameters, DevicePointer address, std::size_t rows, std::size_t columns) {
  TiledTensor tensor;
  tensor.type = TensorType::f16;
  tensor.rank = 2;
  tensor.global_address = address;
  tensor.dimensions = {columns, rows, 0, 0, 0};
  tensor.strides = {columns * 2, 0, 0, 0};
  tensor.box = {64, 64, 0, 0, 0};
  tensor.swizzle = TensorSwizzle::bytes128;
  const auto map = encode_tiled(tensor);
  ASSERT_TRUE(map.has_value()) << format_error(map.error());
  parameters.add(*map, 64)
      .add(static_cast<std::int32_t>(rows))
      .add(static_cast<std::int32_t>(columns))
      .add(std::int64_t(columns))
      .add(std::int64_t{1});
}

constexpr std::size_t kM = 100;
constexpr std::size_t kN = 120;
constexpr std::size_t kK = 144;

TEST(TritonKernels, MatmulWithTensorMapsFromTheHost) {
  for (const bool sanitize : {false, true}) {
    HopperBench bench(fixture("matmul_tma_sm90"), sanitize);
    const Halves a = random_halves(kM * kK, 7);
    const Halves b = random_halves(kN * kK, 8);
    const auto c = bench.buffer("c", Halves(kM * kN));
    Packed parameters;
    add_tensor(parameters, bench.buffer("a", a), kM, kK);
    add_tensor(parameters, bench.buffer("b", b), kN, kK);
    add_tensor(parameters, c, kM, kN);
    ASSERT_RUNS(
        launch(bench, "matmul_tma", {2, 2, 1}, 32784, parameters.add(std::int32_t{kK}).finish()));
    expect_product(a, bench.content<std::uint16_t>(c), kM, kN, kK,
                   [&](std::size_t i, std::size_t column) { return number(b, column * kK + i); });
  }
}

TEST(TritonKernels, MatmulThatMakesItsOwnTensorMaps) {
  for (const bool sanitize : {false, true}) {
    HopperBench bench(fixture("matmul_own_maps_sm90"), sanitize);
    const Halves a = random_halves(kM * kK, 9);
    const Halves b = random_halves(kN * kK, 10);
    const auto c = bench.buffer("c", Halves(kM * kN));
    const auto scratch = bench.buffer("scratch", std::vector<std::uint8_t>(384 * 4));
    ASSERT_RUNS(launch(bench, "matmul_own_maps", {2, 2, 1}, 32784,
                       Packed()
                           .add(bench.buffer("a", a))
                           .add(bench.buffer("b", b))
                           .add(c)
                           .add(std::int32_t{kM})
                           .add(std::int32_t{kN})
                           .add(std::int32_t{kK})
                           .finish(scratch)));
    expect_product(a, bench.content<std::uint16_t>(c), kM, kN, kK,
                   [&](std::size_t i, std::size_t column) { return number(b, column * kK + i); });
  }
}

} // namespace
} // namespace kernevo::vgpu::testing

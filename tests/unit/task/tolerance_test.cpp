// Plays honest and dishonest kernels on the CPU: the first must pass, the second must not.
#include "harness.h"
#include "kernevo/base/small_floats.h"

#include <bit>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

constexpr int kSeeds = 6;

float to_half(float value) {
  return half_to_float(double_to_half(value));
}
float to_tf32(float value) {
  const std::uint32_t bits = (std::bit_cast<std::uint32_t>(value) + 0x1000U) & ~0x1FFFU;
  return std::bit_cast<float>(bits);
}

float serial(const std::vector<float>& terms) {
  float sum = 0;
  for (const float term : terms)
    sum += term;
  return sum;
}

float tree(std::vector<float> terms) {
  while (terms.size() > 1) {
    const std::size_t half = (terms.size() + 1) / 2;
    for (std::size_t i = 0; i + half < terms.size(); ++i)
      terms[i] += terms[i + half];
    terms.resize(half);
  }
  return terms.empty() ? 0.0F : terms[0];
}

// 32 lanes with a stride, then a shuffle reduction.
float strided(const std::vector<float>& terms) {
  std::vector<float> lanes(32, 0.0F);
  for (std::size_t i = 0; i < terms.size(); ++i)
    lanes[i % 32] += terms[i];
  return tree(lanes);
}

float half_accumulator(const std::vector<float>& terms) {
  float sum = 0;
  for (const float term : terms)
    sum = to_half(sum + to_half(term));
  return sum;
}

// ex2.approx as the manual bounds it: the argument rounded, two units in the last place off.
float fast_exp(float x) {
  const float scaled = x * 1.4426950408889634F;
  return static_cast<float>(std::exp2(static_cast<double>(scaled)) * (1.0 + 0x1p-22));
}

using Reduce = std::function<float(const std::vector<float>&)>;
using Round = std::function<float(float)>;

std::vector<float> matmul(const Harness& h, const Reduce& reduce, const Round& operand,
                          std::int64_t skip = -1) {
  const auto a = h.floats("A");
  const auto b = h.floats("B");
  const auto m = static_cast<std::size_t>(h.problem.dims.at("M"));
  const auto n = static_cast<std::size_t>(h.problem.dims.at("N"));
  const auto k = static_cast<std::size_t>(h.problem.dims.at("K"));
  std::vector<float> c(m * n);
  std::vector<float> terms;
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      terms.clear();
      for (std::size_t l = 0; l < k; ++l)
        if (static_cast<std::int64_t>(l) != skip)
          terms.push_back(operand(a[i * k + l]) * operand(b[l * n + j]));
      c[i * n + j] = reduce(terms);
    }
  return c;
}

float same(float value) {
  return value;
}

float fused(const Harness& h, std::size_t i, std::size_t j) {
  const auto n = h.problem.dims.at("N");
  const auto k = h.problem.dims.at("K");
  float sum = 0;
  for (std::int64_t l = 0; l < k; ++l)
    sum = std::fma(static_cast<float>(h.get("A", static_cast<std::int64_t>(i) * k + l)),
                   static_cast<float>(h.get("B", l * n + static_cast<std::int64_t>(j))), sum);
  return sum;
}

Harness product(DType dtype, std::int64_t k, std::int64_t m = 8, std::int64_t n = 8) {
  return {"matmul", dtype, {{"M", m}, {"N", n}, {"K", k}}};
}

TEST(Tolerance, AcceptsEveryHonestOrderOfSummation) {
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16})
    for (const std::int64_t k : {1, 3, 33, 256, 1000, 4096}) {
      Harness h = product(dtype, k);
      for (const InputSet set : h.all_sets())
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
          h.fill(set, seed);
          for (const Reduce& reduce : {Reduce(serial), Reduce(tree), Reduce(strided)})
            EXPECT_LE(h.worst(matmul(h, reduce, same)), 1.0)
                << name_of(dtype) << " K=" << k << " " << name_of(set) << " seed " << seed;
          std::vector<float> c(64);
          for (std::size_t i = 0; i < 64; ++i)
            c[i] = fused(h, i / 8, i % 8);
          EXPECT_LE(h.worst(c), 1.0) << "fma " << name_of(dtype) << " K=" << k;
        }
    }
}

TEST(Tolerance, RejectsHalfAccumulators) {
  for (const DType dtype : {DType::float16, DType::float32})
    for (const std::int64_t k : {256, 1024, 4096}) {
      Harness h = product(dtype, k);
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        h.fill(InputSet::nominal, seed);
        EXPECT_GT(h.worst(matmul(h, half_accumulator, same)), 1.0)
            << name_of(dtype) << " K=" << k << " seed " << seed;
      }
    }
}

TEST(Tolerance, RejectsTf32UnlessTheTaskAllowsIt) {
  for (const std::int64_t k : {8, 32, 64, 128, 512, 4096}) {
    Harness h = product(DType::float32, k);
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      h.problem.allow_tf32 = false;
      h.fill(InputSet::nominal, seed);
      const auto c = matmul(h, serial, to_tf32);
      EXPECT_GT(h.worst(c), 1.0) << "K=" << k << " seed " << seed;
      h.problem.allow_tf32 = true;
      EXPECT_LE(h.worst(c), 1.0) << "K=" << k << " seed " << seed;
    }
  }
}

TEST(Tolerance, RejectsHalfOperandsInFloat32) {
  Harness h = product(DType::float32, 128);
  h.fill(InputSet::nominal, 1);
  EXPECT_GT(h.worst(matmul(h, serial, to_half)), 1.0);
}

TEST(Tolerance, RejectsAMissingTerm) {
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16})
    for (const std::int64_t k : {2, 64, 1024, 4096}) {
      Harness h = product(dtype, k);
      h.fill(InputSet::nominal, 3);
      EXPECT_GT(h.worst(matmul(h, serial, same, k - 1)), 1.0) << name_of(dtype) << " K=" << k;
    }
}

TEST(Tolerance, RejectsAMissingBias) {
  for (const char* op : {"matmul_bias", "matmul_bias_relu", "matmul_bias_gelu"}) {
    Harness h(op, DType::float16, {{"M", 8}, {"N", 8}, {"K", 256}});
    h.fill(InputSet::nominal, 5);
    auto c = matmul(h, serial, same);
    auto with_bias = c;
    const auto bias = h.floats("bias");
    const auto activate = [&](float v) {
      if (h.task.operation == "matmul_bias_relu")
        return std::max(v, 0.0F);
      return h.task.operation == "matmul_bias" ? v : 0.5F * v * (1.0F + std::erf(v * 0.70710678F));
    };
    for (std::size_t i = 0; i < c.size(); ++i) {
      with_bias[i] = activate(c[i] + bias[i % 8]);
      c[i] = activate(c[i]);
    }
    EXPECT_LE(h.worst(with_bias), 1.0) << op;
    EXPECT_GT(h.worst(c), 1.0) << op;
  }
}

TEST(Tolerance, ReductionsAcceptAnyOrderAndCatchAMissingElement) {
  for (const char* op : {"reduce_sum", "reduce_mean"})
    for (const std::int64_t length : {1, 31, 257, 4099, 100'000})
      for (const DType dtype : {DType::float32, DType::float16}) {
        Harness h(op, dtype, {{"OUTER", 4}, {"R", length}, {"INNER", 1}});
        for (const InputSet set : h.all_sets()) {
          h.fill(set, 11);
          const auto x = h.floats("x");
          const float divisor =
              op == std::string("reduce_mean") ? static_cast<float>(length) : 1.0F;
          for (const Reduce& reduce : {Reduce(serial), Reduce(tree), Reduce(strided)}) {
            std::vector<float> y;
            for (std::int64_t row = 0; row < 4; ++row)
              y.push_back(reduce({x.begin() + row * length, x.begin() + (row + 1) * length}) /
                          divisor);
            EXPECT_LE(h.worst(y), 1.0) << op << " " << length << " " << name_of(set);
          }
        }
        if (length < 31 || length > 10'000)
          continue;
        h.fill(InputSet::nominal, 12);
        const auto x = h.floats("x");
        std::vector<float> y;
        for (std::int64_t row = 0; row < 4; ++row)
          y.push_back(serial({x.begin() + row * length, x.begin() + (row + 1) * length - 1}) /
                      (op == std::string("reduce_mean") ? static_cast<float>(length) : 1.0F));
        if (dtype == DType::float32 || op == std::string("reduce_sum")) {
          EXPECT_GT(h.worst(y), 1.0) << op << " " << length << " " << name_of(dtype);
        }
      }
}

std::vector<float> softmax(const Harness& h, bool subtract, const Round& exponential) {
  const auto x = h.floats("x");
  const auto n = static_cast<std::size_t>(h.problem.dims.at("N"));
  std::vector<float> y(x.size());
  for (std::size_t row = 0; row < x.size() / n; ++row) {
    const float* in = x.data() + row * n;
    float largest = in[0];
    for (std::size_t i = 1; i < n; ++i)
      largest = std::max(largest, in[i]);
    if (!subtract)
      largest = 0;
    float sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      sum += exponential(in[i] - largest);
    for (std::size_t i = 0; i < n; ++i)
      y[row * n + i] = exponential(in[i] - largest) / sum;
  }
  return y;
}

TEST(Tolerance, SoftmaxAcceptsFastExponentialsAndWantsTheMaximumSubtracted) {
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16})
    for (const std::int64_t n : {1, 33, 1025}) {
      Harness h("softmax", dtype, {{"M", 5}, {"N", n}});
      for (const InputSet set : h.all_sets())
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
          h.fill(set, seed);
          EXPECT_LE(h.worst(softmax(h, true, [](float v) { return std::exp(v); })), 1.0)
              << name_of(set) << " N=" << n;
          EXPECT_LE(h.worst(softmax(h, true, fast_exp)), 1.0) << name_of(set) << " N=" << n;
        }
      h.fill(InputSet::wide_range, 1);
      if (n > 1) {
        EXPECT_GT(h.worst(softmax(h, false, [](float v) { return std::exp(v); })), 1.0);
      }
    }
  Harness h("softmax", DType::float32, {{"M", 5}, {"N", 65}});
  h.fill(InputSet::nominal, 1);
  EXPECT_GT(h.worst(softmax(h, true, [](float v) { return to_half(std::exp(v)); })), 1.0)
      << "half precision exponentials";
}

std::vector<float> layer_norm(const Harness& h, bool one_pass, float divisor_change = 0) {
  const auto x = h.floats("x");
  const auto gamma = h.floats("gamma");
  const auto beta = h.floats("beta");
  const auto n = static_cast<std::size_t>(h.problem.dims.at("N"));
  const auto count = static_cast<float>(n);
  std::vector<float> y(x.size());
  for (std::size_t row = 0; row < x.size() / n; ++row) {
    const float* in = x.data() + row * n;
    float sum = 0;
    float squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += in[i];
      squares += in[i] * in[i];
    }
    const float mean = sum / count;
    float variance = std::max(0.0F, squares / count - mean * mean);
    if (!one_pass) {
      variance = 0;
      for (std::size_t i = 0; i < n; ++i)
        variance += (in[i] - mean) * (in[i] - mean);
      variance /= count + divisor_change;
    }
    const float scale = 1.0F / std::sqrt(variance + 1e-5F);
    for (std::size_t i = 0; i < n; ++i)
      y[row * n + i] = (in[i] - mean) * scale * gamma[i] + beta[i];
  }
  return y;
}

TEST(Tolerance, LayerNormAcceptsBothVarianceFormsAndCatchesTheWrongDivisor) {
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16})
    for (const std::int64_t n : {1, 31, 1025}) {
      Harness h("layer_norm", dtype, {{"M", 4}, {"N", n}});
      for (const InputSet set : h.all_sets())
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
          h.fill(set, seed);
          EXPECT_LE(h.worst(layer_norm(h, false)), 1.0) << name_of(set) << " N=" << n;
          EXPECT_LE(h.worst(layer_norm(h, true)), 1.0) << name_of(set) << " N=" << n;
        }
    }
  Harness h("layer_norm", DType::float32, {{"M", 4}, {"N", 1025}});
  h.fill(InputSet::nominal, 1);
  EXPECT_GT(h.worst(layer_norm(h, false, -1.0F)), 1.0);
}

struct Function {
  const char* name;
  float (*honest)(float);
  float (*fast)(float);
};

TEST(Tolerance, ActivationsAcceptPlainAndFastFormulas) {
  const Function functions[] = {
      {"exp", [](float v) { return std::exp(v); }, fast_exp},
      {"sigmoid", [](float v) { return 1.0F / (1.0F + std::exp(-v)); },
       [](float v) { return 1.0F / (1.0F + fast_exp(-v)); }},
      {"silu", [](float v) { return v / (1.0F + std::exp(-v)); },
       [](float v) { return v * (1.0F / (1.0F + fast_exp(-v))); }},
      {"tanh", [](float v) { return std::tanh(v); },
       [](float v) { return 1.0F - 2.0F / (fast_exp(2.0F * v) + 1.0F); }},
      {"gelu", [](float v) { return 0.5F * v * (1.0F + std::erf(v * 0.70710678F)); },
       [](float v) { return v * 0.5F * std::erfc(-v * 0.70710678F); }},
      {"gelu_tanh",
       [](float v) {
         return 0.5F * v * (1.0F + std::tanh(0.7978845608F * (v + 0.044715F * v * v * v)));
       },
       [](float v) {
         const float z = 0.7978845608F * (v + 0.044715F * v * v * v);
         return 0.5F * v * (2.0F - 2.0F / (fast_exp(2.0F * z) + 1.0F));
       }},
      {"softplus", [](float v) { return std::log1p(std::exp(v)); },
       [](float v) { return std::log(1.0F + fast_exp(v)); }},
      {"mish", [](float v) { return v * std::tanh(std::log1p(std::exp(v))); },
       [](float v) {
         const float s = std::log(1.0F + fast_exp(v));
         return v * (1.0F - 2.0F / (fast_exp(2.0F * s) + 1.0F));
       }},
      {"elu", [](float v) { return v > 0 ? v : std::expm1(v); },
       [](float v) { return v > 0 ? v : fast_exp(v) - 1.0F; }},
      {"hardswish", [](float v) { return v * std::min(std::max(v + 3.0F, 0.0F), 6.0F) / 6.0F; },
       [](float v) { return v * (std::min(std::max(v + 3.0F, 0.0F), 6.0F) * (1.0F / 6.0F)); }},
      {"log", [](float v) { return std::log(v); },
       [](float v) { return std::log2(v) * 0.69314718F; }},
      {"rsqrt", [](float v) { return 1.0F / std::sqrt(v); },
       [](float v) { return static_cast<float>(1.0 / std::sqrt(double{v}) * (1.0 + 0x1p-22)); }},
  };
  for (const Function& f : functions)
    for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
      Harness h(f.name, dtype, {{"N", 4099}});
      for (const InputSet set : h.all_sets())
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
          h.fill(set, seed);
          auto y = h.floats("x");
          auto quick = y;
          for (float& v : y)
            v = f.honest(v);
          for (float& v : quick)
            v = f.fast(v);
          EXPECT_LE(h.worst(y), 1.0) << f.name << " " << name_of(dtype) << " " << name_of(set);
          EXPECT_LE(h.worst(quick), 1.0)
              << "fast " << f.name << " " << name_of(dtype) << " " << name_of(set);
          if (dtype == DType::float32 && set == InputSet::nominal) {
            for (float& v : y)
              v = to_half(v);
            EXPECT_GT(h.worst(y), 1.0) << f.name << " in half precision";
          }
        }
    }
}

TEST(Tolerance, ExactOperationsForgiveNothing) {
  for (const char* op : {"relu", "copy", "abs", "neg"}) {
    Harness h(op, DType::float32, {{"N", 100}});
    h.fill(InputSet::nominal, 1);
    auto y = h.floats("x");
    for (float& v : y)
      v = op == std::string("relu")  ? std::max(v, 0.0F)
          : op == std::string("abs") ? std::abs(v)
          : op == std::string("neg") ? -v
                                     : v;
    EXPECT_EQ(h.worst(y), 0.0) << op;
    for (float& v : y)
      v = std::nextafter(v, 10.0F);
    EXPECT_GT(h.worst(y), 1.0) << op;
  }
}

std::vector<float> attention(const Harness& h, const Round& weight_type, bool scaled) {
  const auto q = h.floats("q");
  const auto k = h.floats("k");
  const auto v = h.floats("v");
  const auto length = static_cast<std::size_t>(h.problem.dims.at("L"));
  const auto head = static_cast<std::size_t>(h.problem.dims.at("D"));
  const float scale = scaled ? 1.0F / std::sqrt(static_cast<float>(head)) : 1.0F;
  std::vector<float> o(q.size());
  std::vector<float> score(length);
  for (std::size_t l = 0; l < length; ++l) {
    float largest = -1e30F;
    for (std::size_t j = 0; j < length; ++j) {
      score[j] = 0;
      for (std::size_t d = 0; d < head; ++d)
        score[j] += q[l * head + d] * k[j * head + d];
      score[j] *= scale;
      largest = std::max(largest, score[j]);
    }
    float sum = 0;
    for (float& s : score) {
      s = fast_exp(s - largest);
      sum += s;
    }
    for (std::size_t d = 0; d < head; ++d) {
      float total = 0;
      for (std::size_t j = 0; j < length; ++j)
        total += weight_type(score[j]) * v[j * head + d];
      o[l * head + d] = total / sum;
    }
  }
  return o;
}

TEST(Tolerance, AttentionAcceptsWeightsInItsOwnTypeOnly) {
  for (const DType dtype : {DType::float32, DType::float16}) {
    Harness h("attention", dtype, {{"B", 1}, {"H", 1}, {"L", 65}, {"D", 32}});
    for (const InputSet set : h.all_sets())
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        h.fill(set, seed);
        EXPECT_LE(h.worst(attention(h, dtype == DType::float16 ? to_half : same, true)), 1.0)
            << name_of(dtype) << " " << name_of(set);
      }
    h.fill(InputSet::nominal, 1);
    EXPECT_GT(h.worst(attention(h, same, false)), 1.0) << "no scale";
    if (dtype == DType::float32) {
      EXPECT_GT(h.worst(attention(h, to_half, true)), 1.0);
    }
  }
}

} // namespace
} // namespace kernevo

// f16 and bf16 in thorough code, bit for bit what the interpreter gives: every form on random and
// special numbers, varying and uniform, on its own and fed with its own result, for processors with
// and without the instructions that help.
#include "harness.h"
#include "kernevo/jit/compiler.h"
#include "kernevo/jit/host.h"
#include "kernevo/vgpu/tier/plugin.h"

#include <bit>
#include <fmt/format.h>
#include <random>

namespace kernevo::jit {
namespace {

using vgpu::testing::Bench;
using vgpu::testing::Parameters;

constexpr std::uint32_t kThreads = 128;
constexpr std::uint32_t kBlocks = 64;
constexpr std::uint32_t kCount = kThreads * kBlocks;

class Optimising final : public vgpu::Compiler {
public:
  Optimising(std::unique_ptr<vgpu::Compiler> compiler, bool optimise)
      : compiler_(std::move(compiler)), optimise_(optimise) {}

  Result<std::unique_ptr<vgpu::CompiledFunction>> compile(const vgpu::CompileJob& job,
                                                          vgpu::CompileReport* report) override {
    vgpu::CompileJob chosen = job;
    chosen.optimise = optimise_;
    chosen.store = nullptr;
    return compiler_->compile(chosen, report);
  }

private:
  std::unique_ptr<vgpu::Compiler> compiler_;
  bool optimise_;
};

// Numbers that meet at ties, at the ends of the range and among the subnormals.
class Numbers {
public:
  explicit Numbers(std::uint32_t infinity) : infinity_(infinity) {}

  std::uint32_t half() {
    const std::array<std::uint32_t, 16> special = {
        0,         0x8000,        1,      0x8001,        0x7FFF,         0xFFFF,
        infinity_, infinity_ + 1, 0xFE12, infinity_ - 1, infinity_ >> 1, infinity_ | 0x8000,
        0x3C00,    0xBC00,        0x3F80, 0xBF80};
    const std::uint32_t mantissa = (infinity_ & 0x7F) == 0 && infinity_ != 0x7C00 ? 7 : 10;
    switch (random_() % 8) {
    case 0: return special[random_() % special.size()];
    case 1: return random_() & 0xFFFFU;
    case 2: return random_() & 0x83FFU; // small
    case 3: return (infinity_ - (random_() & 0x3FFU)) | sign();
    default: { // few bits, near one: sums and products that end at a tie or beside it
      const std::uint32_t exponent = (infinity_ >> 1U >> mantissa) + random_() % 24 - 12;
      const std::uint32_t few = (1U << random_() % mantissa) | (random_() % 2 << (mantissa - 1));
      return sign() | exponent << mantissa | few | random_() % 3;
    }
    }
  }
  std::uint32_t f32() {
    const std::uint32_t exact =
        infinity_ == 0x7C00
            ? (half() & 0x8000U) << 16 | (random_() % 60 + 90) << 23 | (half() & 0x3FFU) << 13
            : half() << 16;
    switch (random_() % 4) {
    case 0: return exact;
    case 1: return exact + (infinity_ == 0x7C00 ? 0x1000U : 0x8000U) + random_() % 3 - 1; // ties
    case 2: return random_();
    default: return half() << 16 | random_() % 2;
    }
  }

private:
  std::uint32_t sign() { return (random_() & 1U) << 15; }

  std::uint32_t infinity_;
  std::mt19937 random_{20261118};
};

struct Form {
  std::string text; // of the mnemonic
  int operands;
  std::string result;  // register files: h, r, f
  std::string operand; // p is a predicate
};

std::string kernel_of(const std::vector<Form>& forms) {
  std::string body = ".version 8.6\n.target sm_90\n.address_size 64\n"
                     ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                     ".reg .pred %p<4>;\n.reg .b16 %h<24>;\n.reg .b32 %r<40>;\n.reg .f32 %f<24>;\n"
                     ".reg .b64 %rd<20>;\n"
                     "ld.param.u64 %rd0, [in];\nld.param.u64 %rd1, [out];\n"
                     "mov.u32 %r30, %tid.x;\nmov.u32 %r31, %ctaid.x;\nmov.u32 %r32, %ntid.x;\n"
                     "mad.lo.u32 %r33, %r31, %r32, %r30;\nmul.wide.u32 %rd2, %r33, 4;\n"
                     "add.u64 %rd3, %rd0, %rd2;\nadd.u64 %rd4, %rd1, %rd2;\n"
                     "mul.wide.u32 %rd5, %r31, 4;\nadd.u64 %rd6, %rd0, %rd5;\n";
  // 0 to 2: of the thread; 3 to 5: of the block.
  for (int i = 0; i < 6; ++i)
    body += fmt::format("ld.global.b32 %r{0}, [%rd{1}+{2}];\ncvt.u16.u32 %h{0}, %r{0};\n"
                        "mov.b32 %f{0}, %r{0};\n",
                        i, i < 3 ? 3 : 6, 4 * kCount * static_cast<unsigned>(i % 3));
  unsigned row = 0;
  auto store = [&](const std::string& file) {
    if (file == "h")
      body += "cvt.u32.u16 %r20, %h10;\n";
    else if (file == "f")
      body += "mov.b32 %r20, %f10;\n";
    else if (file == "p")
      body += "selp.u32 %r20, 1, 0, %p1;\n";
    else
      body += "mov.b32 %r20, %r10;\n";
    body += fmt::format("st.global.b32 [%rd4+{}], %r20;\n", 4 * kCount * row++);
  };
  for (const Form& form : forms) {
    auto line = [&](const std::string& first, int from) {
      std::string text =
          fmt::format("{} %{}{}", form.text, form.result, form.result == "p" ? 1 : 10);
      for (int i = 0; i < form.operands; ++i)
        text += i == 0 && !first.empty() ? ", " + first
                                         : fmt::format(", %{}{}", form.operand, from + i);
      return text + ";\n";
    };
    body += line("", 0);
    store(form.result);
    if (form.result == form.operand) {
      body += line("%" + form.result + "10", 0);
      store(form.result);
    }
    body += line("", 3);
    store(form.result);
    // One operand uniform, the others not.
    body += line("%" + form.operand + "3", 0);
    store(form.result);
  }
  return body + "ret;\n}\n";
}

class HalfTest : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    const Host host = find_host();
    if (GetParam() > host.runtime_level || host.runtime_level == "generic")
      GTEST_SKIP() << "this processor has not all of " << GetParam();
  }
  void TearDown() override { vgpu::set_compiler(nullptr); }

  static std::vector<std::uint32_t> run(const std::string& text, const std::vector<Form>& forms,
                                        const std::vector<std::uint32_t>& input, vgpu::Tier tier) {
    vgpu::MachineOptions options;
    options.tier = tier;
    Bench bench(text);
    Gpu gpu = vgpu::testing::small_gpu();
    gpu.compute_capability = 90;
    bench.machine = vgpu::Machine(gpu, options);
    const auto in = bench.buffer("in", input);
    const auto out = bench.buffer("out", std::vector<std::uint32_t>(4 * forms.size() * kCount));
    const auto result =
        bench.launch("k", {kBlocks, 1, 1}, {kThreads, 1, 1}, Parameters().add(in).add(out));
    EXPECT_FALSE(result.fault) << vgpu::testing::fault_text(result);
    if (tier == vgpu::Tier::compiled) {
      EXPECT_GT(result.statistics.compiled_instructions, 0U);
    }
    return bench.content<std::uint32_t>(out);
  }

  static void expect_same(const std::vector<Form>& forms, std::uint32_t infinity) {
    constexpr std::size_t together = 6; // large kernels take long to compile
    for (std::size_t i = 0; i < forms.size() && !HasFatalFailure(); i += together)
      expect_same_few(
          {forms.begin() + static_cast<std::ptrdiff_t>(i),
           forms.begin() + static_cast<std::ptrdiff_t>(std::min(forms.size(), i + together))},
          infinity);
  }
  static void expect_same_few(const std::vector<Form>& forms, std::uint32_t infinity) {
    Numbers numbers(infinity);
    const bool floats = forms.front().operand == "f";
    std::vector<std::uint32_t> input(3 * kCount);
    for (std::uint32_t& word : input)
      word = floats ? numbers.f32() : numbers.half() << 16 | numbers.half();
    const std::string text = kernel_of(forms);
    const auto expected = run(text, forms, input, vgpu::Tier::interpreter);
    for (const bool optimise : {true, false}) {
      auto made = create_compiler(limited_to(find_host(), GetParam()));
      ASSERT_TRUE(made) << made.error().message;
      Optimising compiler(std::move(*made), optimise);
      vgpu::set_compiler(&compiler);
      const auto got = run(text, forms, input, vgpu::Tier::compiled);
      vgpu::set_compiler(nullptr);
      ASSERT_EQ(expected.size(), got.size());
      std::size_t row = 0;
      for (const Form& form : forms) {
        const std::size_t rows = form.result == form.operand ? 4 : 3;
        for (std::size_t i = 0; i < rows * kCount; ++i) {
          const std::size_t at = row * kCount + i;
          ASSERT_EQ(expected[at], got[at])
              << fmt::format("{} ({}), use {} of it, thread {}: 0x{:08x} but 0x{:08x}; operands "
                             "{:08x} {:08x} {:08x}",
                             form.text, optimise ? "thorough" : "quick", i / kCount, i % kCount,
                             expected[at], got[at], input[i % kCount], input[kCount + i % kCount],
                             input[2 * kCount + i % kCount]);
        }
        row += rows;
      }
    }
  }
};

// Both f16 and f16x2 of the same operations.
std::vector<Form> single_and_pairs(const std::vector<std::pair<std::string, int>>& operations,
                                   const std::string& type) {
  std::vector<Form> forms;
  for (const auto& [operation, operands] : operations) {
    forms.push_back({operation + "." + type, operands, "h", "h"});
    forms.push_back({operation + "." + type + "x2", operands, "r", "r"});
  }
  return forms;
}

TEST_P(HalfTest, f16_sums_and_products) {
  std::vector<std::pair<std::string, int>> operations;
  for (const std::string name : {"add", "sub", "mul"})
    for (const std::string mode : {"", ".rn", ".ftz", ".sat", ".ftz.sat"})
      operations.emplace_back(name + mode, 2);
  expect_same(single_and_pairs(operations, "f16"), 0x7C00);
}

TEST_P(HalfTest, f16_fma) {
  std::vector<std::pair<std::string, int>> operations;
  for (const std::string mode : {"", ".ftz", ".sat", ".ftz.sat", ".relu", ".ftz.relu"})
    operations.emplace_back("fma.rn" + mode, 3);
  expect_same(single_and_pairs(operations, "f16"), 0x7C00);
}

TEST_P(HalfTest, f16_signs_and_extrema) {
  std::vector<std::pair<std::string, int>> operations = {
      {"neg", 1}, {"neg.ftz", 1}, {"abs", 1}, {"abs.ftz", 1}};
  for (const std::string name : {"min", "max"})
    for (const std::string ftz : {"", ".ftz"})
      for (const std::string mode : {"", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"})
        operations.emplace_back(name + ftz + mode, 2);
  expect_same(single_and_pairs(operations, "f16"), 0x7C00);
}

TEST_P(HalfTest, bf16_arithmetic) {
  std::vector<std::pair<std::string, int>> operations = {
      {"add", 2},         {"sub", 2}, {"mul", 2}, {"fma.rn", 3},
      {"fma.rn.relu", 3}, {"neg", 1}, {"abs", 1}};
  for (const std::string name : {"min", "max"})
    for (const std::string mode : {"", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"})
      operations.emplace_back(name + mode, 2);
  expect_same(single_and_pairs(operations, "bf16"), 0x7F80);
}

TEST_P(HalfTest, comparisons) {
  for (const std::string type : {"f16", "bf16"}) {
    std::vector<Form> forms;
    for (const char* order : {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu",
                              "geu", "num", "nan"}) {
      forms.push_back({fmt::format("setp.{}.{}", order, type), 2, "p", "h"});
      if (type == "f16")
        forms.push_back({fmt::format("setp.{}.ftz.f16", order), 2, "p", "h"});
    }
    expect_same(forms, type == "f16" ? 0x7C00 : 0x7F80);
  }
}

TEST_P(HalfTest, conversions_to_f32) {
  expect_same({{"cvt.f32.f16", 1, "f", "h"},
               {"cvt.ftz.f32.f16", 1, "f", "h"},
               {"cvt.sat.f32.f16", 1, "f", "h"}},
              0x7C00);
  expect_same({{"cvt.f32.bf16", 1, "f", "h"}, {"cvt.ftz.f32.bf16", 1, "f", "h"}}, 0x7F80);
}

TEST_P(HalfTest, conversions_from_f32) {
  for (const std::string type : {"f16", "bf16"}) {
    std::vector<Form> forms;
    for (const std::string mode : {".rn", ".rz", ".rn.relu", ".rz.relu", ".rn.satfinite",
                                   ".rn.satfinite.relu", ".rz.satfinite"}) {
      forms.push_back({"cvt" + mode + "." + type + ".f32", 1, "h", "f"});
      forms.push_back({"cvt" + mode + "." + type + "x2.f32", 2, "r", "f"});
    }
    if (type == "f16")
      for (const std::string mode : {".rn.ftz", ".rn.sat", ".rn.ftz.sat", ".rm", ".rp"})
        forms.push_back({"cvt" + mode + ".f16.f32", 1, "h", "f"});
    expect_same(forms, type == "f16" ? 0x7C00 : 0x7F80);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, HalfTest, testing::Values("x86-64-v2", "x86-64-v3", "x86-64-v4"),
                         [](const auto& level) {
                           return "v" + level.param.substr(level.param.size() - 1);
                         });

} // namespace
} // namespace kernevo::jit

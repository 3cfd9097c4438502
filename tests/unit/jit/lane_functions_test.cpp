// Every function of the runtime library, as the build compiled it to bitcode, against the
// interpreter: one kernel of one instruction each, bits equal.
#include "kernevo/jit/lane_functions.h"

#include "../vgpu/harness.h"
#include "kernevo/jit/runtime/lane_types.h"
#include "kernevo/ptx/parse.h"
#include "kernevo/vgpu/execute/machine.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// The functions themselves.
namespace kernevo::jit::runtime {
extern "C" {
#define KERNEVO_LANE1(name, D, A, ...)                                                             \
  D kv_##name(A);                                                                                  \
  void kv_##name##_x32(D*, const A*);
#define KERNEVO_LANE2(name, D, A, B, ...)                                                          \
  D kv_##name(A, B);                                                                               \
  void kv_##name##_x32(D*, const A*, const B*);
#define KERNEVO_LANE3(name, D, A, B, C, ...)                                                       \
  D kv_##name(A, B, C);                                                                            \
  void kv_##name##_x32(D*, const A*, const B*, const C*);
#define KERNEVO_LANE4(name, D, A, B, C, E, ...)                                                    \
  D kv_##name(A, B, C, E);                                                                         \
  void kv_##name##_x32(D*, const A*, const B*, const C*, const E*);
#define KERNEVO_PAIR1(name, T, ...) KERNEVO_LANE1(name, T, T)
#define KERNEVO_PAIR2(name, T, ...) KERNEVO_LANE2(name, T, T, T)
#define KERNEVO_PAIR3(name, T, ...) KERNEVO_LANE3(name, T, T, T, T)
#include "kernevo/jit/runtime/convert_float.def"
#include "kernevo/jit/runtime/convert_integer.def"
#include "kernevo/jit/runtime/f32.def"
#include "kernevo/jit/runtime/half.def"
#include "kernevo/jit/runtime/integer.def"
#include "kernevo/jit/runtime/simple.def"
#undef KERNEVO_LANE1
#undef KERNEVO_LANE2
#undef KERNEVO_LANE3
#undef KERNEVO_LANE4
} // extern "C"
} // namespace kernevo::jit::runtime

namespace kernevo::jit {
namespace {

using ptx::Type;
using runtime::kLanes;

constexpr std::size_t kTuples = 4096;
using Bytes = std::vector<std::byte>;

using Pointers = std::array<const std::byte*, 4>; // to an operand's lanes each
using Erased = void (*)();

template <class T> T load(const std::byte* bytes, std::size_t lane) {
  T value;
  std::memcpy(&value, bytes + lane * sizeof(T), sizeof(T));
  return value;
}

int differences_in_place = 0;

// One instance for each signature: there are far fewer of them than functions.
template <class D, class... A> struct Calls {
  static void one(Erased function, std::byte* result, const Pointers& operands) {
    one(function, result, operands, std::index_sequence_for<A...>());
  }
  static void all(Erased function, std::byte* result, const Pointers& operands) {
    all(function, result, operands, std::index_sequence_for<A...>());
  }

private:
  template <std::size_t... I>
  static void one(Erased function, std::byte* result, const Pointers& operands,
                  std::index_sequence<I...>) {
    const auto typed = reinterpret_cast<D (*)(A...)>(function);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const D value = typed(load<A>(operands[I], lane)...);
      std::memcpy(result + lane * sizeof(D), &value, sizeof(D));
    }
  }
  template <std::size_t... I>
  static void all(Erased function, std::byte* result, const Pointers& operands,
                  std::index_sequence<I...>) {
    const auto typed = reinterpret_cast<void (*)(D*, const A*...)>(function);
    std::tuple<std::array<A, kLanes>...> values;
    (std::memcpy(std::get<I>(values).data(), operands[I], sizeof(A) * kLanes), ...);
    std::array<D, kLanes> out{};
    typed(out.data(), std::get<I>(values).data()...);
    std::memcpy(result, out.data(), sizeof(out));
    (in_place<I>(typed, values, out, std::index_sequence<I...>()), ...);
  }
  // The result over an operand, as light code has it for `add %r1, %r1, %r2`.
  template <std::size_t Over, class Values, std::size_t... I>
  static void in_place(void (*typed)(D*, const A*...), Values values,
                       const std::array<D, kLanes>& expected, std::index_sequence<I...>) {
    auto& over = std::get<Over>(values);
    if constexpr (sizeof(over) == sizeof(expected)) {
      typed(reinterpret_cast<D*>(over.data()), std::get<I>(values).data()...);
      if (std::memcmp(over.data(), expected.data(), sizeof(expected)) != 0)
        ++differences_in_place;
    }
  }
};

using Caller = void (*)(Erased function, std::byte* result, const Pointers& operands);

struct Row {
  std::string name;
  Type result = Type::none;
  std::vector<Type> operands;
  Erased one = nullptr;
  Erased all = nullptr;
  Caller call_one = nullptr;
  Caller call_all = nullptr;
};

template <class D, class... A>
Row make_row(const char* name, Type result, std::initializer_list<Type> operands, D (*one)(A...),
             void (*all)(D*, const A*...)) {
  return {name,
          result,
          operands,
          reinterpret_cast<Erased>(one),
          reinterpret_cast<Erased>(all),
          &Calls<D, A...>::one,
          &Calls<D, A...>::all};
}

std::vector<Row> make_rows() {
  std::vector<Row> table;
#define KERNEVO_ROW(name, d, ...)                                                                  \
  table.push_back(                                                                                 \
      make_row(#name, Type::d, {__VA_ARGS__}, &runtime::kv_##name, &runtime::kv_##name##_x32));
#define KERNEVO_LANE1(name, d, a, ...) KERNEVO_ROW(name, d, Type::a)
#define KERNEVO_LANE2(name, d, a, b, ...) KERNEVO_ROW(name, d, Type::a, Type::b)
#define KERNEVO_LANE3(name, d, a, b, c, ...) KERNEVO_ROW(name, d, Type::a, Type::b, Type::c)
#define KERNEVO_LANE4(name, d, a, b, c, e, ...)                                                    \
  KERNEVO_ROW(name, d, Type::a, Type::b, Type::c, Type::e)
#include "kernevo/jit/runtime/convert_float.def"
#include "kernevo/jit/runtime/convert_integer.def"
#include "kernevo/jit/runtime/f32.def"
#include "kernevo/jit/runtime/half.def"
#include "kernevo/jit/runtime/integer.def"
#include "kernevo/jit/runtime/simple.def"
  return table;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> table = make_rows();
  return table;
}

// Operands: special values, numbers near the limits of small formats, small integers, any bits.
class Operands {
public:
  std::uint64_t next(Type type) {
    switch (type) {
    case Type::f32:
    case Type::tf32: return f32();
    case Type::f64: return f64();
    case Type::f16:
    case Type::e4m3x2:
    case Type::e5m2x2:
    case Type::ue8m0x2: return half(0x7C00);
    case Type::bf16: return half(0x7F80);
    case Type::f16x2: return half(0x7C00) << 16 | half(0x7C00);
    case Type::bf16x2: return half(0x7F80) << 16 | half(0x7F80);
    case Type::s16x2:
    case Type::u16x2: return (integer() & 0xFFFFU) << 16 | (integer() & 0xFFFFU);
    default: return integer();
    }
  }

private:
  std::uint64_t f32() {
    constexpr std::array<std::uint32_t, 20> special = {
        0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000,
        0xBF800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001,
        0x7F800001, 0x477FE000, 0x477FF000, 0x33000000, 0x43E80000, 0x4F000000};
    const auto bits = static_cast<std::uint32_t>(random_());
    switch (random_() % 6) {
    case 0: return special[random_() % special.size()];
    case 1: return (bits & 0x807FFFFFU) | near_one();
    case 2: return (bits & 0x807FE000U) | near_one(); // ties of f16
    case 3: return (bits & 0x807F0000U) | near_one(); // and of bf16
    case 4:
      return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<int>(bits % 4000) - 2000) /
                                          4);
    default: return bits;
    }
  }
  std::uint32_t near_one() { return static_cast<std::uint32_t>(random_() % 40 + 107) << 23; }
  std::uint64_t f64() {
    switch (random_() % 3) {
    case 0: return random_();
    case 1: return static_cast<std::uint64_t>(wide(f32())) + random_() % 3 - 1; // beside ties
    default: return wide(f32());
    }
  }
  static std::uint64_t wide(std::uint64_t bits) {
    return std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  }
  std::uint64_t half(std::uint32_t infinity) {
    const std::array<std::uint32_t, 10> special = {
        0,           0x8000, 1, 0x8001, 0x7FFF, infinity, infinity + 1, 0xFFFF, infinity | 0x8000U,
        infinity - 1};
    return random_() % 4 == 0 ? special[random_() % special.size()] : random_() & 0xFFFFU;
  }
  std::uint64_t integer() {
    const std::uint64_t bits = random_();
    switch (random_() % 6) {
    case 0: return bits % 34;
    case 1: return 0 - bits % 34;
    case 2: return std::uint64_t{1} << bits % 64;
    case 3: return (std::uint64_t{1} << bits % 64) - 1;
    case 4: return bits >> 32;
    default: return bits;
    }
  }

  std::mt19937_64 random_{20260117};
};

std::size_t size_of(Type type) {
  return static_cast<std::size_t>(ptx::bytes_of(type));
}

std::string register_type(Type type) {
  if (type == Type::f32 || type == Type::f64)
    return std::string(ptx::name_of(type));
  return "b" + std::to_string(std::max(16, ptx::bits_of(type)));
}

std::string mnemonic_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '.');
  return name;
}

constexpr const char* kHeader = ".version 8.8\n.target sm_100f\n.address_size 64\n";

// k(d, a, b, ...): one instruction for every thread. `literal` stands in the last operand's place.
std::string kernel_of(const Row& row, const std::string& literal) {
  std::string parameters = ".param .u64 d";
  std::string registers =
      ".reg .b32 %t<4>;\n.reg .b64 %rd<20>;\n.reg ." + register_type(row.result) + " %d;\n";
  std::string body = "mov.u32 %t0, %ctaid.x;\nmov.u32 %t1, %ntid.x;\nmov.u32 %t2, %tid.x;\n"
                     "mad.lo.u32 %t3, %t0, %t1, %t2;\n";
  const auto address = [&](const std::string& parameter, Type type, const std::string& target) {
    body += "ld.param.u64 %rd0, [" + parameter + "];\nmul.wide.u32 %rd1, %t3, " +
            std::to_string(size_of(type)) + ";\nadd.u64 " + target + ", %rd0, %rd1;\n";
  };
  std::string operands;
  for (std::size_t i = 0; i < row.operands.size(); ++i) {
    if (i + 1 == row.operands.size() && !literal.empty()) {
      operands += ", " + literal;
      break;
    }
    const std::string name = "a" + std::to_string(i);
    parameters += ", .param .u64 " + name;
    registers += ".reg ." + register_type(row.operands[i]) + " %" + name + ";\n";
    address(name, row.operands[i], "%rd2");
    body +=
        "ld.global.b" + std::to_string(8 * size_of(row.operands[i])) + " %" + name + ", [%rd2];\n";
    operands += ", %" + name;
  }
  address("d", row.result, "%rd3");
  body += mnemonic_of(row.name) + " %d" + operands + ";\n";
  body += "st.global.b" + std::to_string(8 * size_of(row.result)) + " [%rd3], %d;\nret;\n";
  return kHeader + (".visible .entry k(" + parameters + ")\n{\n" + registers + body) + "}\n";
}

vgpu::Machine machine() {
  Gpu gpu = vgpu::testing::small_gpu();
  gpu.compute_capability = 100;
  vgpu::MachineOptions options;
  options.tier = vgpu::Tier::interpreter;
  options.cores = 1;
  return {gpu, options};
}

Bytes interpret(const std::string& ptx, const Row& row, const std::vector<Bytes>& operands) {
  auto program = vgpu::load_program(ptx, row.name);
  if (!program) {
    ADD_FAILURE() << format_error(program.error()) << "\n" << ptx;
    return {};
  }
  vgpu::Machine gpu = machine();
  std::vector<std::uint64_t> pointers;
  pointers.push_back(gpu.allocate(kTuples * size_of(row.result), "d").value_or(0));
  for (const Bytes& operand : operands) {
    pointers.push_back(gpu.allocate(operand.size(), "operand").value_or(0));
    std::memcpy(gpu.bytes(pointers.back()).data(), operand.data(), operand.size());
  }
  vgpu::LaunchConfig config;
  config.kernel = "k";
  config.block = {128, 1, 1};
  config.grid = {kTuples / 128, 1, 1};
  config.parameters.resize(8 * pointers.size());
  std::memcpy(config.parameters.data(), pointers.data(), config.parameters.size());
  const vgpu::LaunchResult result = gpu.launch(**program, config);
  EXPECT_FALSE(result.fault.has_value()) << result.fault->message;
  const auto bytes = gpu.bytes(pointers.front());
  return {bytes.begin(), bytes.end()};
}

Bytes call(Caller caller, Erased function, const Row& row, const std::vector<Bytes>& operands) {
  Bytes result(kTuples * size_of(row.result));
  for (std::size_t first = 0; first < kTuples; first += kLanes) {
    Pointers at{};
    for (std::size_t i = 0; i < operands.size(); ++i)
      at[i] = operands[i].data() + first * size_of(row.operands[i]);
    caller(function, result.data() + first * size_of(row.result), at);
  }
  return result;
}

std::string hex(const Bytes& bytes, std::size_t index, std::size_t size) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + index * size, size);
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

void expect_equal(const Row& row, const char* form, const std::vector<Bytes>& operands,
                  const Bytes& expected, const Bytes& actual) {
  const std::size_t size = size_of(row.result);
  std::size_t different = 0;
  std::string first;
  for (std::size_t i = 0; i < kTuples; ++i) {
    if (std::memcmp(expected.data() + i * size, actual.data() + i * size, size) == 0)
      continue;
    if (different++ == 0) {
      for (std::size_t k = 0; k < operands.size(); ++k)
        first += hex(operands[k], i, size_of(row.operands[k])) + " ";
      first += "-> " + hex(actual, i, size) + ", interpreter " + hex(expected, i, size);
    }
  }
  EXPECT_EQ(different, 0U) << row.name << form << ": " << first;
}

void check(const Row& row, Operands& random, const std::string& literal = "") {
  std::vector<Bytes> operands;
  for (const Type type : row.operands) {
    const std::size_t size = size_of(type);
    Bytes bytes(kTuples * size);
    const bool fixed = !literal.empty() && operands.size() + 1 == row.operands.size();
    for (std::size_t i = 0; i < kTuples; ++i) {
      const std::uint64_t value = fixed ? std::stoull(literal) : random.next(type);
      std::memcpy(bytes.data() + i * size, &value, size);
    }
    operands.push_back(std::move(bytes));
  }
  std::vector<Bytes> in_memory = operands;
  if (!literal.empty())
    in_memory.pop_back();
  const Bytes expected = interpret(kernel_of(row, literal), row, in_memory);
  if (expected.empty())
    return;
  expect_equal(row, "", operands, expected, call(row.call_one, row.one, row, operands));
  differences_in_place = 0;
  expect_equal(row, "_x32", operands, expected, call(row.call_all, row.all, row, operands));
  EXPECT_EQ(differences_in_place, 0) << row.name;
}

bool host_has_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports(KERNEVO_LEVEL) != 0;
#else
  return true;
#endif
}

#define KERNEVO_JOIN2(a, b) a##b
#define KERNEVO_JOIN(a, b) KERNEVO_JOIN2(a, b)
#define LEVEL_TEST(name) TEST(KERNEVO_JOIN(LaneFunctions, KERNEVO_LEVEL_NAME), name)

LEVEL_TEST(GiveTheBitsOfTheInterpreter) {
  if (!host_has_level())
    GTEST_SKIP() << "this processor is below " << KERNEVO_LEVEL;
  Operands random;
  for (const Row& row : rows()) {
    if (row.name != "lop3_b32") {
      check(row, random);
      continue;
    }
    for (const char* table : {"0", "150", "232", "254", "27", "255"})
      check(row, random, table);
  }
}

ptx::Instruction instruction_of(const std::string& text) {
  const std::string kernel =
      std::string(kHeader) +
      ".visible .entry k()\n{\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<6>;\n"
      ".reg .b64 %l<4>;\n.reg .f32 %f<4>;\n.reg .f64 %g<4>;\n" +
      text + "\nret;\n}\n";
  auto module = ptx::parse(kernel);
  if (!module) {
    ADD_FAILURE() << format_error(module.error());
    return {};
  }
  return module->functions.front().instructions.front();
}

// The table's names are found from the text of the instruction, with the types that it has.
LEVEL_TEST(AreFoundByTheirInstruction) {
  for (const Row& row : rows()) {
    const bool literal = row.name == "lop3_b32";
    auto module = ptx::parse(kernel_of(row, literal ? "150" : ""));
    ASSERT_TRUE(module.has_value()) << format_error(module.error());
    const auto& instructions = module->functions.front().instructions;
    const auto function = lane_function(instructions[instructions.size() - 3]);
    ASSERT_TRUE(function.has_value()) << row.name;
    EXPECT_EQ(function->name, "kv_" + row.name);
    EXPECT_EQ(function->result, row.result) << row.name;
    EXPECT_EQ(function->operands, row.operands) << row.name;
  }
}

LEVEL_TEST(OneNameForFormsThatAreTheSame) {
  const std::vector<std::pair<std::string, std::string>> forms = {
      {"add.f32 %f0, %f1, %f2;", "kv_add_rn_f32"},
      {"mad.rn.ftz.f32 %f0, %f1, %f2, %f3;", "kv_fma_rn_ftz_f32"},
      {"sub.sat.f16 %h0, %h1, %h2;", "kv_sub_rn_sat_f16"},
      {"cvt.rzi.ftz.sat.s32.f32 %r0, %f1;", "kv_cvt_rzi_s32_f32"},
      {"cvt.rpi.ftz.u64.f32 %l0, %f1;", "kv_cvt_rpi_ftz_u64_f32"},
      {"cvt.rz.f64.s32 %g0, %r1;", "kv_cvt_rn_f64_s32"},
      {"cvt.rz.f32.s32 %f0, %r1;", "kv_cvt_rz_f32_s32"},
      {"cvt.rp.f16.u8 %h0, %h1;", "kv_cvt_rn_f16_u8"},
      {"cvt.ftz.f32.f16 %f0, %h1;", "kv_cvt_f32_f16"},
      {"cvt.rn.bf16.f16 %h0, %h1;", "kv_cvt_rn_bf16_f16"},
      {"cvt.rn.relu.satfinite.f16x2.f32 %r0, %f1, %f2;", "kv_cvt_rn_satfinite_relu_f16x2_f32"},
  };
  for (const auto& [text, name] : forms) {
    const auto function = lane_function(instruction_of(text));
    ASSERT_TRUE(function.has_value()) << text;
    EXPECT_EQ(function->name, name) << text;
  }
}

LEVEL_TEST(LeaveOtherInstructionsAlone) {
  for (const char* text :
       {"add.cc.u32 %r0, %r1, %r2;", "add.rz.f64 %g0, %g1, %g2;", "max.f32 %f0, %f1, %f2, %f3;",
        "lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x96, %p1;", "fma.rn.oob.f16 %h0, %h1, %h2, %h3;",
        "cvt.rn.sat.f32.s32 %f0, %r1;", "setp.lt.f32 %p0, %f1, %f2;", "mov.b32 %r0, %r1;"})
    EXPECT_FALSE(lane_function(instruction_of(text)).has_value()) << text;
}

} // namespace
} // namespace kernevo::jit

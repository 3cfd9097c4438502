// mma.sync and wmma.mma: fragments to row-major arrays, one product, and back.
#include "kernevo/vgpu/ops/matrix_families.h"
#include "kernevo/vgpu/semantics/matrix_multiply.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace kernevo::vgpu::ops {

namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

// Value: what elements become; Sum: what accumulates.
template <class Value, class Sum> struct Product : Detail {
  using GatherElements = void (*)(const MatrixShape&, matrix::RegisterFile, Value*);
  using GatherSum = void (*)(const MatrixShape&, matrix::RegisterFile, Sum*);
  using ScatterSum = void (*)(const MatrixShape&, const Sum*, matrix::RegisterFile);
  using Multiply = void (*)(const MatrixShape&, const Value*, const Value*, Sum*);

  MatrixShape shape;
  Slots a, b, c, d;
  GatherElements gather_a = nullptr;
  GatherElements gather_b = nullptr;
  GatherSum gather_c = nullptr;
  ScatterSum scatter_d = nullptr;
  Multiply multiply = nullptr;
};
using FloatProduct = Product<double, double>;
using IntegerProduct = Product<std::int32_t, std::int64_t>;

// Most registers one operand has: 8 of wmma f16, s32, f32, m16n8k16 f64.
constexpr std::size_t kMaxRegisters = 16;
using SlotPointers = std::array<std::byte*, kMaxRegisters>;

matrix::RegisterFile pointers(const Warp& warp, const Slots& slots, SlotPointers& out) {
  for (std::size_t i = 0; i < slots.size(); ++i)
    out[i] = warp.frame + slots[i];
  return out.data();
}

template <class Value, class Sum> void run_product(const Op& op, Warp& warp, LaneMask active) {
  if (!whole_warp(op, warp, active))
    return;
  const auto& product = static_cast<const Product<Value, Sum>&>(*op.detail);
  alignas(64) std::array<Value, matrix::kMaxA> a;
  alignas(64) std::array<Value, matrix::kMaxB> b;
  alignas(64) std::array<Sum, matrix::kMaxC> sum;
  SlotPointers registers;
  product.gather_a(product.shape, pointers(warp, product.a, registers), a.data());
  product.gather_b(product.shape, pointers(warp, product.b, registers), b.data());
  product.gather_c(product.shape, pointers(warp, product.c, registers), sum.data());
  product.multiply(product.shape, a.data(), b.data(), sum.data());
  product.scatter_d(product.shape, sum.data(), pointers(warp, product.d, registers));
}

struct FloatElement {
  FloatProduct::GatherElements a = nullptr;
  FloatProduct::GatherElements b = nullptr;
};
struct IntegerElement {
  IntegerProduct::GatherElements a = nullptr;
  IntegerProduct::GatherElements b = nullptr;
};

template <class Element> FloatElement float_element() {
  return {matrix::gather_a<Element>, matrix::gather_b<Element>};
}
template <class Element> IntegerElement integer_element() {
  return {matrix::gather_a<Element>, matrix::gather_b<Element>};
}

std::optional<FloatElement> float_element_of(Type type) {
  switch (type) {
  case Type::f16: return float_element<matrix::F16>();
  case Type::bf16: return float_element<matrix::Bf16>();
  case Type::tf32: return float_element<matrix::Tf32>();
  case Type::e4m3: return float_element<matrix::E4m3>();
  case Type::e5m2: return float_element<matrix::E5m2>();
  case Type::f64: return float_element<matrix::F64>();
  default: return std::nullopt;
  }
}

std::optional<IntegerElement> integer_element_of(Type type) {
  switch (type) {
  case Type::s8: return integer_element<matrix::Byte<std::int8_t>>();
  case Type::u8: return integer_element<matrix::Byte<std::uint8_t>>();
  case Type::s4: return integer_element<matrix::Nibble<true>>();
  case Type::u4: return integer_element<matrix::Nibble<false>>();
  case Type::b1: return integer_element<matrix::Bits>();
  default: return std::nullopt;
  }
}

bool one_of(const MatrixShape& shape, std::initializer_list<MatrixShape> shapes) {
  for (const MatrixShape& candidate : shapes)
    if (candidate == shape)
      return true;
  return false;
}

// The shapes PTX defines for elements of this type.
bool shape_allowed(Opcode opcode, Type element, const MatrixShape& shape) {
  if (opcode == Opcode::wmma_mma) {
    switch (element) {
    case Type::f16:
    case Type::bf16:
    case Type::s8:
    case Type::u8: return one_of(shape, {{16, 16, 16}, {8, 32, 16}, {32, 8, 16}});
    case Type::tf32: return one_of(shape, {{16, 16, 8}});
    case Type::f64: return one_of(shape, {{8, 8, 4}});
    case Type::s4:
    case Type::u4: return one_of(shape, {{8, 8, 32}});
    case Type::b1: return one_of(shape, {{8, 8, 128}});
    default: return false;
    }
  }
  switch (element) {
  case Type::f16:
  case Type::bf16: return one_of(shape, {{16, 8, 8}, {16, 8, 16}});
  case Type::tf32: return one_of(shape, {{16, 8, 4}, {16, 8, 8}});
  case Type::e4m3:
  case Type::e5m2: return one_of(shape, {{16, 8, 16}, {16, 8, 32}});
  case Type::f64: return one_of(shape, {{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}});
  case Type::s8:
  case Type::u8: return one_of(shape, {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}});
  case Type::s4:
  case Type::u4: return one_of(shape, {{8, 8, 32}, {16, 8, 32}, {16, 8, 64}});
  case Type::b1: return one_of(shape, {{8, 8, 128}, {16, 8, 128}, {16, 8, 256}});
  default: return false;
  }
}

struct Types {
  Type d = Type::none;
  Type a = Type::none;
  Type b = Type::none;
  Type c = Type::none;
};

int per_register(Type element) {
  const int bits = ptx::bits_of(element);
  return bits >= 32 || element == Type::b1 || element == Type::tf32 ? 1 : 32 / bits;
}

// An f16 accumulator packs two elements per register.
std::size_t accumulator_registers(const MatrixShape& shape, Type type) {
  const auto elements = static_cast<std::size_t>(elements_of_c(shape));
  return type == Type::f16 ? elements / 2 : elements;
}

template <class P>
Result<void> fill_operands(Lowering& lowering, const ptx::Instruction& instruction,
                           const Types& types, P& product) {
  const bool wide = types.a == Type::f64;
  const Type element = wide ? Type::f64 : Type::b32;
  const auto accumulator = [](Type type) { return type == Type::f16 ? Type::b32 : type; };
  KERNEVO_TRY(a, matrix_sources(lowering, instruction, instruction.operands[1], element));
  KERNEVO_TRY(b, matrix_sources(lowering, instruction, instruction.operands[2], element));
  KERNEVO_TRY(c,
              matrix_sources(lowering, instruction, instruction.operands[3], accumulator(types.c)));
  KERNEVO_TRY(
      d, matrix_destinations(lowering, instruction, instruction.operands[0], accumulator(types.d)));
  // wmma keeps its f16 fragments of A and B in 8 registers whatever the shape: the rest is unused.
  const bool padded = instruction.opcode == Opcode::wmma_mma && types.a == Type::f16;
  const int per = per_register(types.a);
  const auto wanted = [&](int count) {
    return padded ? std::size_t{8} : static_cast<std::size_t>(count);
  };
  const auto wrong = [&](const char* name, std::size_t want, std::size_t have) {
    return tl::unexpected<Error>(lowering.unsupported(
        instruction, std::string("fragment ") + name + " takes " + std::to_string(want) +
                         " registers, not " + std::to_string(have)));
  };
  if (const auto want = wanted(registers_of_a(product.shape, per)); a.size() != want)
    return wrong("a", want, a.size());
  if (const auto want = wanted(registers_of_b(product.shape, per)); b.size() != want)
    return wrong("b", want, b.size());
  if (const auto want = accumulator_registers(product.shape, types.c); c.size() != want)
    return wrong("c", want, c.size());
  if (const auto want = accumulator_registers(product.shape, types.d); d.size() != want)
    return wrong("d", want, d.size());
  product.a = std::move(a);
  product.b = std::move(b);
  product.c = std::move(c);
  product.d = std::move(d);
  return {};
}

tl::unexpected<Error> no_such_form(const Lowering& lowering, const ptx::Instruction& instruction) {
  return tl::unexpected<Error>(lowering.unsupported(
      instruction, "this combination of shape and types is not supported; dense f16, bf16, tf32, "
                   "f64, e4m3, e5m2, s8, u8, s4, u4 and b1 forms of sm_70 to sm_90 are"));
}

Result<void> lower_float(Lowering& lowering, const ptx::Instruction& instruction,
                         const Types& types, const MatrixShape& shape) {
  const auto a = float_element_of(types.a);
  const auto b = float_element_of(types.b);
  auto product = std::make_unique<FloatProduct>();
  product->shape = shape;
  product->multiply = types.a == Type::f64 ? matrix::multiply_fused : matrix::multiply_sum;
  product->gather_a = a->a;
  product->gather_b = b->b;
  switch (types.c) {
  case Type::f16: product->gather_c = matrix::gather_c<matrix::AccumulatorF16>; break;
  case Type::f32: product->gather_c = matrix::gather_c<matrix::AccumulatorF32>; break;
  case Type::f64: product->gather_c = matrix::gather_c<matrix::AccumulatorF64>; break;
  default: return no_such_form(lowering, instruction);
  }
  switch (types.d) {
  case Type::f16: product->scatter_d = matrix::scatter_d<matrix::AccumulatorF16>; break;
  case Type::f32: product->scatter_d = matrix::scatter_d<matrix::AccumulatorF32>; break;
  case Type::f64: product->scatter_d = matrix::scatter_d<matrix::AccumulatorF64>; break;
  default: return no_such_form(lowering, instruction);
  }
  const bool is_double = types.a == Type::f64;
  if (is_double != (types.c == Type::f64) || is_double != (types.d == Type::f64))
    return no_such_form(lowering, instruction);
  if (instruction.has(Mod::rz) || instruction.has(Mod::rm) || instruction.has(Mod::rp))
    return tl::unexpected<Error>(
        lowering.unsupported(instruction, "only .rn rounding is supported for matrices"));
  if (instruction.has(Mod::satfinite))
    return tl::unexpected<Error>(
        lowering.unsupported(instruction, "only integer products can saturate"));
  KERNEVO_CHECK(fill_operands(lowering, instruction, types, *product));
  lowering.emit(run_product<double, double>, OpKind::warp_sync).detail =
      lowering.keep(std::move(product));
  return {};
}

Result<void> lower_integer(Lowering& lowering, const ptx::Instruction& instruction,
                           const Types& types, MatrixShape shape) {
  const auto a = integer_element_of(types.a);
  const auto b = integer_element_of(types.b);
  if (types.c != Type::s32 || types.d != Type::s32)
    return no_such_form(lowering, instruction);
  auto product = std::make_unique<IntegerProduct>();
  product->gather_a = a->a;
  product->gather_b = b->b;
  product->gather_c = matrix::gather_c<matrix::AccumulatorS32>;
  product->scatter_d = instruction.has(Mod::satfinite)
                           ? matrix::scatter_d<matrix::AccumulatorS32Saturated>
                           : matrix::scatter_d<matrix::AccumulatorS32>;
  if (types.a == Type::b1) {
    shape.k /= 32;
    product->multiply =
        instruction.has(Mod::xor_) ? matrix::multiply_bits<true> : matrix::multiply_bits<false>;
  } else {
    product->multiply = matrix::multiply_integers;
  }
  product->shape = shape;
  KERNEVO_CHECK(fill_operands(lowering, instruction, types, *product));
  lowering.emit(run_product<std::int32_t, std::int64_t>, OpKind::warp_sync).detail =
      lowering.keep(std::move(product));
  return {};
}

} // namespace

Result<void> lower_mma(Lowering& lowering, const ptx::Instruction& instruction) {
  if (instruction.has(Mod::sp))
    return tl::unexpected<Error>(
        lowering.unsupported(instruction, "sparse matrix products are not supported"));
  const auto shape = matrix_shape(instruction);
  Types types;
  if (instruction.types.size() == 4)
    types = {instruction.types[0], instruction.types[1], instruction.types[2],
             instruction.types[3]};
  else if (instruction.types.size() == 2) // wmma.mma with f16 inputs names only d and c
    types = {instruction.types[0], Type::f16, Type::f16, instruction.types[1]};
  if (!shape || types.a == Type::none || instruction.operands.size() != 4)
    return no_such_form(lowering, instruction);
  if (instruction.opcode == Opcode::mma && types.a == Type::f16 && *shape == MatrixShape{8, 8, 4})
    return lower_quad_mma(lowering, instruction);
  if (!shape_allowed(instruction.opcode, types.a, *shape) ||
      ptx::bits_of(types.a) != ptx::bits_of(types.b) ||
      (types.a != types.b && ptx::bits_of(types.a) > 8))
    return no_such_form(lowering, instruction);
  if (float_element_of(types.a) && float_element_of(types.b))
    return lower_float(lowering, instruction, types, *shape);
  if (integer_element_of(types.a) && integer_element_of(types.b))
    return lower_integer(lowering, instruction, types, *shape);
  return no_such_form(lowering, instruction);
}

} // namespace kernevo::vgpu::ops

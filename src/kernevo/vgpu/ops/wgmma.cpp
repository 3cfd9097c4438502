// wgmma: the product of a warp group. Each of the four warps owns 16 of the 64 rows of D and
// computes them by itself when it issues the instruction: operands are read from registers and
// shared memory at that moment and D is written at once, although the program may use it only after
// wgmma.wait_group. Nothing else of the group is shared, so commit_group and wait_group have
// nothing left to wait for. Warps that overwrite shared memory another warp has yet to multiply are
// found as a race.
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/address_windows.h"
#include "kernevo/vgpu/memory/resolve.h"
#include "kernevo/vgpu/ops/matrix_families.h"
#include "kernevo/vgpu/semantics/matrix_descriptor.h"
#include "kernevo/vgpu/semantics/matrix_multiply.h"

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace kernevo::vgpu::ops {

namespace {

using ptx::Mod;
using ptx::Type;
using semantics::MatrixDescriptor;

constexpr int kRows = 16; // of a warp
constexpr int kMaxColumns = 256;
constexpr int kMaxDepth = 32;
constexpr std::uint32_t kUnitBytes = 16;
constexpr std::uint32_t kGroupWarps = 4;

template <class Value> using UnpackUnit = void (*)(const std::byte* unit, Value* to, int step);

// Value: what elements become; Sum: what accumulates.
template <class Value, class Sum> struct GroupProduct : Detail {
  MatrixShape shape; // 16 x n x k
  Slots a;           // four registers, or the slot of a descriptor
  std::uint32_t b = kNone;
  Slots d;
  bool a_in_registers = false;
  bool a_transposed = false; // MN-major
  bool b_transposed = false;
  std::uint32_t scale_d = kNone;
  bool negate = false; // exactly one of A and B is negated
  int per_unit = 8;    // elements in 16 bytes
  UnpackUnit<Value> unpack_a = nullptr;
  UnpackUnit<Value> unpack_b = nullptr;
  void (*gather_a)(const MatrixShape&, matrix::RegisterFile, Value*) = nullptr;
  void (*gather_d)(const MatrixShape&, matrix::RegisterFile, Sum*) = nullptr;
  void (*scatter_d)(const MatrixShape&, const Sum*, matrix::RegisterFile) = nullptr;
  void (*multiply)(const MatrixShape&, const Value*, const Value*, Sum*) = nullptr;
};
using FloatProduct = GroupProduct<double, double>;
using IntegerProduct = GroupProduct<std::int32_t, std::int64_t>;

template <class Element> void unpack(const std::byte* unit, typename Element::Value* to, int step) {
  constexpr int count = Element::kPerRegister * 4;
  for (int i = 0; i < count; ++i)
    to[i * step] = Element::at(unit, i);
}

// Units of one matrix in the block's own shared memory.
class MatrixReader {
public:
  MatrixReader(Warp& warp, const Op& op, std::uint64_t descriptor)
      : warp_(warp), op_(op), descriptor_(MatrixDescriptor::decode(descriptor)) {}

  const MatrixDescriptor& at() const { return descriptor_; }

  // Null after a fault.
  const std::byte* unit(std::uint64_t address) {
    const BlockState& block = *warp_.block;
    if (!state_of(warp_).launch->sanitize && address + kUnitBytes <= block.shared_bytes)
      return block.shared + address;
    const Access access{ptx::Space::shared, AccessKind::load, false, kUnitBytes};
    return resolve(warp_, op_, 0, address, access);
  }

private:
  Warp& warp_;
  const Op& op_;
  MatrixDescriptor descriptor_;
};

// Rows first..first+rows-1 of a matrix as to[row * row_step + k * k_step].
template <class Value>
bool read_matrix(MatrixReader reader, bool mn_major, std::uint32_t first, int rows, int depth,
                 int per_unit, UnpackUnit<Value> unpack_unit, Value* to, int row_step, int k_step) {
  if (mn_major) {
    const auto first_unit = first / static_cast<std::uint32_t>(per_unit);
    for (int k = 0; k < depth; ++k)
      for (int unit = 0; unit < rows / per_unit; ++unit) {
        const std::byte* bytes = reader.unit(reader.at().mn_major(
            first_unit + static_cast<std::uint32_t>(unit), static_cast<std::uint32_t>(k)));
        if (bytes == nullptr)
          return false;
        unpack_unit(bytes, to + unit * per_unit * row_step + k * k_step, row_step);
      }
    return true;
  }
  for (int row = 0; row < rows; ++row)
    for (int unit = 0; unit < depth / per_unit; ++unit) {
      const std::byte* bytes = reader.unit(reader.at().k_major(
          first + static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(unit)));
      if (bytes == nullptr)
        return false;
      unpack_unit(bytes, to + row * row_step + unit * per_unit * k_step, k_step);
    }
  return true;
}

template <class Value, class Sum> struct Scratch {
  alignas(64) std::array<Value, kRows * kMaxDepth> a;
  alignas(64) std::array<Value, kMaxDepth * kMaxColumns> b;
  alignas(64) std::array<Sum, kRows * kMaxColumns> sum;
};

// One value for the whole warp: PTX asks for it.
std::uint64_t uniform(Warp& warp, std::uint32_t slot) {
  return warp.lanes<std::uint64_t>(slot)[0];
}

template <class Value, class Sum>
void run_group_product(const Op& op, Warp& warp, LaneMask active) {
  if (!whole_warp(op, warp, active))
    return;
  const auto& product = static_cast<const GroupProduct<Value, Sum>&>(*op.detail);
  const MatrixShape& shape = product.shape;
  thread_local Scratch<Value, Sum> scratch;
  std::array<std::byte*, kMaxColumns / 2> registers;
  const auto pointers = [&](const Slots& slots) {
    for (std::size_t i = 0; i < slots.size(); ++i)
      registers[i] = warp.frame + slots[i];
    return registers.data();
  };
  if (product.a_in_registers) {
    product.gather_a(shape, pointers(product.a), scratch.a.data());
  } else {
    const auto first = static_cast<std::uint32_t>(warp.index) % kGroupWarps * kRows;
    if (!read_matrix(MatrixReader(warp, op, uniform(warp, product.a[0])), product.a_transposed,
                     first, kRows, shape.k, product.per_unit, product.unpack_a, scratch.a.data(),
                     shape.k, 1))
      return;
  }
  if (!read_matrix(MatrixReader(warp, op, uniform(warp, product.b)), product.b_transposed, 0,
                   shape.n, shape.k, product.per_unit, product.unpack_b, scratch.b.data(), 1,
                   shape.n))
    return;
  if (product.negate)
    for (int i = 0; i < shape.m * shape.k; ++i)
      scratch.a[static_cast<std::size_t>(i)] = -scratch.a[static_cast<std::size_t>(i)];
  const matrix::RegisterFile d = pointers(product.d);
  if ((warp.predicate(product.scale_d) & 1U) != 0)
    product.gather_d(shape, d, scratch.sum.data());
  else
    std::fill_n(scratch.sum.begin(), shape.m * shape.n, Sum{0});
  product.multiply(shape, scratch.a.data(), scratch.b.data(), scratch.sum.data());
  product.scatter_d(shape, scratch.sum.data(), d);
}

// Group bookkeeping: what it would wait for has happened already.
void run_nothing(const Op& op, Warp& warp, LaneMask active) {
  whole_warp(op, warp, active);
}

template <class Element, class P> void use_a(P& product) {
  product.unpack_a = unpack<Element>;
  product.gather_a = matrix::gather_a<Element>;
  product.per_unit = Element::kPerRegister * 4;
}

bool choose_elements(FloatProduct& product, Type a, Type b) {
  switch (a) {
  case Type::f16: use_a<matrix::F16>(product); break;
  case Type::bf16: use_a<matrix::Bf16>(product); break;
  case Type::tf32: use_a<matrix::Tf32>(product); break;
  case Type::e4m3: use_a<matrix::E4m3>(product); break;
  case Type::e5m2: use_a<matrix::E5m2>(product); break;
  default: return false;
  }
  switch (b) {
  case Type::f16: product.unpack_b = unpack<matrix::F16>; return true;
  case Type::bf16: product.unpack_b = unpack<matrix::Bf16>; return true;
  case Type::tf32: product.unpack_b = unpack<matrix::Tf32>; return true;
  case Type::e4m3: product.unpack_b = unpack<matrix::E4m3>; return true;
  case Type::e5m2: product.unpack_b = unpack<matrix::E5m2>; return true;
  default: return false;
  }
}

bool choose_elements(IntegerProduct& product, Type a, Type b) {
  switch (a) {
  case Type::s8: use_a<matrix::Byte<std::int8_t>>(product); break;
  case Type::u8: use_a<matrix::Byte<std::uint8_t>>(product); break;
  case Type::b1: use_a<matrix::Bits>(product); break;
  default: return false;
  }
  switch (b) {
  case Type::s8: product.unpack_b = unpack<matrix::Byte<std::int8_t>>; return true;
  case Type::u8: product.unpack_b = unpack<matrix::Byte<std::uint8_t>>; return true;
  case Type::b1: product.unpack_b = unpack<matrix::Bits>; return true;
  default: return false;
  }
}

void choose_accumulator(FloatProduct& product, const ptx::Instruction& instruction) {
  product.multiply = matrix::multiply_sum;
  if (instruction.type() == Type::f16) {
    product.gather_d = matrix::gather_c<matrix::AccumulatorF16>;
    product.scatter_d = matrix::scatter_d<matrix::AccumulatorF16>;
  } else {
    product.gather_d = matrix::gather_c<matrix::AccumulatorF32>;
    product.scatter_d = matrix::scatter_d<matrix::AccumulatorF32>;
  }
}

void choose_accumulator(IntegerProduct& product, const ptx::Instruction& instruction) {
  product.multiply = matrix::multiply_integers;
  if (instruction.types[1] == Type::b1) {
    product.multiply = matrix::multiply_bits<false>;
    product.shape.k /= 32; // words
  }
  product.gather_d = matrix::gather_c<matrix::AccumulatorS32>;
  product.scatter_d = instruction.has(Mod::satfinite)
                          ? matrix::scatter_d<matrix::AccumulatorS32Saturated>
                          : matrix::scatter_d<matrix::AccumulatorS32>;
}

int depth_of(const ptx::Instruction& instruction) {
  return instruction.has(Mod::m64k8)    ? 8
         : instruction.has(Mod::m64k16) ? 16
         : instruction.has(Mod::m64k32) ? 32
                                        : 256;
}

tl::unexpected<Error> wrong(const Lowering& lowering, const ptx::Instruction& instruction,
                            std::string message) {
  return tl::unexpected<Error>(lowering.unsupported(instruction, std::move(message)));
}

// scale-d, then imm-scale-a, imm-scale-b and, for 16-bit elements, imm-trans-a (when A is in
// shared memory) and imm-trans-b.
template <class P>
Result<void> lower_scales(Lowering& lowering, const ptx::Instruction& instruction, P& product) {
  const auto& operands = instruction.operands;
  KERNEVO_TRY(scale_d, lowering.source(instruction, operands.at(3), Type::pred));
  product.scale_d = scale_d;
  const auto literal = [&](std::size_t index) {
    return static_cast<std::int64_t>(operands[index].bits);
  };
  if (operands.size() > 5) {
    for (const std::size_t index : {std::size_t{4}, std::size_t{5}}) {
      if (literal(index) != 1 && literal(index) != -1)
        return wrong(lowering, instruction, "imm-scale must be 1 or -1");
      product.negate = product.negate != (literal(index) == -1);
    }
  }
  for (std::size_t index = 6; index < operands.size(); ++index) {
    if (literal(index) != 0 && literal(index) != 1)
      return wrong(lowering, instruction, "imm-trans must be 0 or 1");
    const bool is_b = index + 1 == operands.size();
    (is_b ? product.b_transposed : product.a_transposed) = literal(index) == 1;
  }
  return {};
}

template <class P>
Result<void> lower_product(Lowering& lowering, const ptx::Instruction& instruction,
                           Handler handler) {
  const auto& operands = instruction.operands;
  auto product = std::make_unique<P>();
  product->shape = {kRows, instruction.matrix_columns, depth_of(instruction)};
  if (instruction.types.size() != 3 ||
      !choose_elements(*product, instruction.types[1], instruction.types[2]))
    return wrong(lowering, instruction, "no such combination of types");
  choose_accumulator(*product, instruction);
  product->a_in_registers = operands.at(1).kind == ptx::Operand::Kind::vector;
  const bool packed = instruction.type() == Type::f16;
  const Type accumulator = packed ? Type::b32 : instruction.type();
  KERNEVO_TRY(a, matrix_sources(lowering, instruction, operands[1],
                                product->a_in_registers ? Type::b32 : Type::b64));
  KERNEVO_TRY(b, lowering.source(instruction, operands.at(2), Type::b64));
  KERNEVO_TRY(d, matrix_destinations(lowering, instruction, operands[0], accumulator));
  const auto wanted = static_cast<std::size_t>(product->shape.n / (packed ? 4 : 2));
  if (d.size() != wanted)
    return wrong(lowering, instruction,
                 "the accumulator takes " + std::to_string(wanted) + " registers, not " +
                     std::to_string(d.size()));
  product->a = std::move(a);
  product->b = b;
  product->d = std::move(d);
  KERNEVO_CHECK(lower_scales(lowering, instruction, *product));
  lowering.emit(handler, OpKind::warp_sync).detail = lowering.keep(std::move(product));
  return {};
}

} // namespace

Result<void> lower_wgmma(Lowering& lowering, const ptx::Instruction& instruction) {
  const bool integers = instruction.type() == Type::s32;
  // Integer shapes skip the odd multiples of 8 above 24.
  if (integers && instruction.matrix_columns > 24 && instruction.matrix_columns % 16 != 0)
    return wrong(lowering, instruction,
                 "N is 8, 16, 24, 32 or a further multiple of 16 up to 256 for integers");
  if (integers)
    return lower_product<IntegerProduct>(lowering, instruction,
                                         run_group_product<std::int32_t, std::int64_t>);
  return lower_product<FloatProduct>(lowering, instruction, run_group_product<double, double>);
}

Result<void> lower_wgmma_group(Lowering& lowering, const ptx::Instruction&) {
  lowering.emit(run_nothing, OpKind::warp_sync);
  return {};
}

} // namespace kernevo::vgpu::ops

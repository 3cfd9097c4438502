// mma.m8n8k4 with f16 inputs: four products at once, one per quad pair of lanes (sm_70).
#include "kernevo/vgpu/ops/matrix_families.h"
#include "kernevo/vgpu/semantics/matrix_multiply.h"

#include <array>
#include <memory>
#include <utility>

namespace kernevo::vgpu::ops {

namespace {

using ptx::Mod;
using ptx::Type;

constexpr MatrixShape kShape = {8, 8, 4};

struct QuadProduct : Detail {
  bool a_row = true;
  bool b_row = false;
  bool c_is_f32 = false;
  bool d_is_f32 = false;
  Slots a, b, c, d;
};

std::size_t flat(const MatrixPosition& at, int width) {
  const int index = at.row * width + at.column;
  return static_cast<std::size_t>(index);
}

// Element i of a lane in registers that pack two halves each.
std::uint16_t& half_at(Warp& warp, const Slots& slots, int lane, int i) {
  return warp.lanes<std::uint16_t>(slots[static_cast<std::size_t>(i) / 2])[2 * lane + i % 2];
}
float& float_at(Warp& warp, const Slots& slots, int lane, int i) {
  return warp.lanes<float>(slots[static_cast<std::size_t>(i)])[lane];
}

void run_quad(const Op& op, Warp& warp, LaneMask active) {
  if (!whole_warp(op, warp, active))
    return;
  const auto& product = static_cast<const QuadProduct&>(*op.detail);
  std::array<std::array<double, 32>, 4> a{};
  std::array<std::array<double, 32>, 4> b{};
  std::array<std::array<double, 64>, 4> sum{};
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const auto quad = static_cast<std::size_t>(quad_pair_of(lane));
    for (int i = 0; i < 4; ++i) {
      const MatrixPosition in_a = quad_position_in_a(product.a_row, lane, i);
      const MatrixPosition in_b = quad_position_in_b(product.b_row, lane, i);
      a[quad][flat(in_a, 4)] = half_to_float(half_at(warp, product.a, lane, i));
      b[quad][flat(in_b, 8)] = half_to_float(half_at(warp, product.b, lane, i));
    }
    for (int i = 0; i < 8; ++i) {
      const MatrixPosition at = quad_position_in_c(product.c_is_f32, lane, i);
      sum[quad][flat(at, 8)] = product.c_is_f32
                                   ? static_cast<double>(float_at(warp, product.c, lane, i))
                                   : half_to_float(half_at(warp, product.c, lane, i));
    }
  }
  for (std::size_t quad = 0; quad < 4; ++quad)
    matrix::multiply_sum(kShape, a[quad].data(), b[quad].data(), sum[quad].data());
  for (int lane = 0; lane < kWarpSize; ++lane)
    for (int i = 0; i < 8; ++i) {
      const MatrixPosition at = quad_position_in_c(product.d_is_f32, lane, i);
      const double value = sum[static_cast<std::size_t>(quad_pair_of(lane))][flat(at, 8)];
      if (product.d_is_f32)
        float_at(warp, product.d, lane, i) = matrix::AccumulatorF32::encode(value);
      else
        half_at(warp, product.d, lane, i) = matrix::AccumulatorF16::encode(value);
    }
}

} // namespace

Result<void> lower_quad_mma(Lowering& lowering, const ptx::Instruction& instruction) {
  auto product = std::make_unique<QuadProduct>();
  // .alayout.blayout, in that order.
  int layouts = 0;
  for (const Mod modifier : instruction.modifiers)
    if (modifier == Mod::row || modifier == Mod::col)
      (layouts++ == 0 ? product->a_row : product->b_row) = modifier == Mod::row;
  product->d_is_f32 = instruction.types[0] == Type::f32;
  product->c_is_f32 = instruction.types[3] == Type::f32;
  const auto type = [](bool is_f32) { return is_f32 ? Type::f32 : Type::b32; };
  KERNEVO_TRY(a, matrix_sources(lowering, instruction, instruction.operands[1], Type::b32));
  KERNEVO_TRY(b, matrix_sources(lowering, instruction, instruction.operands[2], Type::b32));
  KERNEVO_TRY(
      c, matrix_sources(lowering, instruction, instruction.operands[3], type(product->c_is_f32)));
  KERNEVO_TRY(d, matrix_destinations(lowering, instruction, instruction.operands[0],
                                     type(product->d_is_f32)));
  if (a.size() != 2 || b.size() != 2 || c.size() != (product->c_is_f32 ? 8U : 4U) ||
      d.size() != (product->d_is_f32 ? 8U : 4U))
    return tl::unexpected<Error>(lowering.unsupported(
        instruction, "m8n8k4 takes 2 registers for a and b, 8 (f32) or 4 (f16) for c and d"));
  product->a = std::move(a);
  product->b = std::move(b);
  product->c = std::move(c);
  product->d = std::move(d);
  lowering.emit(run_quad, OpKind::warp_sync).detail = lowering.keep(std::move(product));
  return {};
}

} // namespace kernevo::vgpu::ops

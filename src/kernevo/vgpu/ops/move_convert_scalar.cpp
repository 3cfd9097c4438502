// The table of cvt between single numbers: types and rounding become template arguments.
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/lanes.h"
#include "kernevo/vgpu/ops/move.h"
#include "kernevo/vgpu/semantics/convert.h"

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Type;
namespace sem = semantics;

template <class F> Handler with_any_integer(Type type, F&& f) {
  switch (type) {
  case Type::s8: return f(TypeTag<std::int8_t>{});
  case Type::u8:
  case Type::b8: return f(TypeTag<std::uint8_t>{});
  default: return with_integer(type, f);
  }
}

template <class F> Handler with_float(Type type, F&& f) {
  switch (type) {
  case Type::f16: return f(TypeTag<sem::F16>{});
  case Type::bf16: return f(TypeTag<sem::Bf16>{});
  case Type::f32: return f(TypeTag<sem::F32>{});
  case Type::f64: return f(TypeTag<sem::F64>{});
  default: return nullptr;
  }
}

Handler integer_to_integer(Type to, Type from, bool sat) {
  return with_any_integer(to, [&](auto d) -> Handler {
    return with_any_integer(from, [&](auto s) -> Handler {
      using D = typename decltype(d)::Type;
      using S = typename decltype(s)::Type;
      return sat ? lanes_of<&sem::resize_sat<D, S>>() : lanes_of<&sem::resize<D, S>>();
    });
  });
}

Handler integer_to_float(Type to, Type from, sem::Rounding rounding) {
  return with_float(to, [&](auto d) -> Handler {
    return with_any_integer(from, [&](auto s) -> Handler {
      return with_rounding_mode(rounding, [](auto mode) -> Handler {
        return lanes_of<&sem::integer_to_float<
            typename decltype(d)::Type, typename decltype(s)::Type, decltype(mode)::value>>();
      });
    });
  });
}

Handler float_to_integer(Type to, Type from, sem::Rounding rounding) {
  return with_any_integer(to, [&](auto d) -> Handler {
    return with_float(from, [&](auto s) -> Handler {
      return with_rounding_mode(rounding, [](auto mode) -> Handler {
        return lanes_of<&sem::float_to_integer<
            typename decltype(s)::Type, typename decltype(d)::Type, decltype(mode)::value>>();
      });
    });
  });
}

bool rounds_to_integer(const Instruction& instruction) {
  return instruction.has(Mod::rni) || instruction.has(Mod::rzi) || instruction.has(Mod::rmi) ||
         instruction.has(Mod::rpi);
}

// .relu and .satfinite: f32 to f16 or bf16 only.
template <class Format> Handler narrowing(const Instruction& instruction) {
  return with_rounding_mode(rounding_of(instruction), [&](auto mode) -> Handler {
    return with_flag(instruction.has(Mod::relu), [&](auto relu) -> Handler {
      constexpr sem::Rounding rounding = decltype(mode)::value;
      constexpr bool with_relu = decltype(relu)::value;
      return instruction.has(Mod::satfinite)
                 ? lanes_of<&sem::narrow_f32<Format, sem::NarrowMode{rounding, with_relu, true}>>()
                 : lanes_of<
                       &sem::narrow_f32<Format, sem::NarrowMode{rounding, with_relu, false}>>();
    });
  });
}

Handler float_to_float(const Instruction& instruction, Type to, Type from) {
  const sem::Rounding rounding = rounding_of(instruction);
  if (instruction.has(Mod::relu) || instruction.has(Mod::satfinite)) {
    if (from != Type::f32)
      return nullptr;
    return to == Type::f16    ? narrowing<sem::Half>(instruction)
           : to == Type::bf16 ? narrowing<sem::Bfloat>(instruction)
                              : nullptr;
  }
  if (rounds_to_integer(instruction)) {
    if (to != from)
      return nullptr;
    return with_float(to, [&](auto format) -> Handler {
      return with_rounding_mode(rounding, [](auto mode) -> Handler {
        return lanes_of<
            &sem::float_to_integral<typename decltype(format)::Type, decltype(mode)::value>>();
      });
    });
  }
  return with_float(to, [&](auto d) -> Handler {
    return with_float(from, [&](auto s) -> Handler {
      return with_rounding_mode(rounding, [](auto mode) -> Handler {
        return lanes_of<&sem::float_to_float<typename decltype(d)::Type, typename decltype(s)::Type,
                                             decltype(mode)::value>>();
      });
    });
  });
}

} // namespace

Handler resize_handler(Type to, Type from) {
  return integer_to_integer(to, from, false);
}

Handler scalar_conversion(const Instruction& instruction, Type to, Type from) {
  const sem::Rounding rounding = rounding_of(instruction);
  if (!ptx::is_float(to) && !ptx::is_float(from))
    return integer_to_integer(to, from, instruction.has(Mod::sat));
  if (!ptx::is_float(from))
    return integer_to_float(to, from, rounding);
  if (!ptx::is_float(to))
    return float_to_integer(to, from, rounding);
  return float_to_float(instruction, to, from);
}

} // namespace kernevo::vgpu::ops

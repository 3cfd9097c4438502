// cvt as one function: the steps that the interpreter takes one after the other.
#pragma once

#include "kernevo/vgpu/semantics/convert.h"

namespace kernevo::jit::runtime {

namespace sem = vgpu::semantics;

template <class Format, bool Sat>
typename Format::Storage saturate_if(typename Format::Storage value) {
  if constexpr (Sat)
    return sem::saturate_float<Format>(value);
  else
    return value;
}

// .ftz flushes an f32 on its way in, or on its way out of another format.
template <class D, class S, sem::Rounding Mode, bool Ftz, bool Sat>
typename D::Storage convert_float(typename S::Storage value) {
  if constexpr (Ftz && std::is_same_v<typename S::Storage, float>)
    return saturate_if<D, Sat>(sem::float_to_float<D, S, Mode>(sem::flush(value)));
  else if constexpr (Ftz)
    return saturate_if<D, Sat>(sem::flush(sem::float_to_float<D, S, Mode>(value)));
  else
    return saturate_if<D, Sat>(sem::float_to_float<D, S, Mode>(value));
}

template <class Format, sem::Rounding Mode, bool Ftz, bool Sat>
typename Format::Storage to_integral(typename Format::Storage value) {
  if constexpr (Ftz)
    value = sem::flush(value);
  return saturate_if<Format, Sat>(sem::float_to_integral<Format, Mode>(value));
}

template <class I, sem::Rounding Mode> I flushed_to_integer(float value) {
  return sem::float_to_integer<sem::F32, I, Mode>(sem::flush(value));
}

} // namespace kernevo::jit::runtime

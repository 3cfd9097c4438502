// f32 and f64 arithmetic.
#include "kernevo/jit/runtime/lane.h"
#include "kernevo/vgpu/semantics/approx.h"

#include <cstring>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace kernevo::jit::runtime {

namespace sem = vgpu::semantics;
using sem::Rounding;

#ifdef __AVX512F__

// Every expf() has an fma.rm, and this processor rounds in any direction: one instruction for what
// the semantics work out in a hundred.
template <Rounding Mode> __m512 fma_of(__m512 a, __m512 b, __m512 c) {
  constexpr int direction = Mode == Rounding::rz   ? _MM_FROUND_TO_ZERO
                            : Mode == Rounding::rm ? _MM_FROUND_TO_NEG_INF
                            : Mode == Rounding::rp ? _MM_FROUND_TO_POS_INF
                                                   : _MM_FROUND_TO_NEAREST_INT;
  return _mm512_fmadd_round_ps(a, b, c, direction | _MM_FROUND_NO_EXC);
}

template <bool Ftz> __m512 read(const float* from) {
  alignas(64) float flushed[16];
  for (int i = 0; i < 16; ++i)
    flushed[i] = sem::flush_if<Ftz>(from[i]);
  return _mm512_load_ps(flushed);
}

template <Rounding Mode, bool Ftz, bool Sat>
void fma_lanes(float* d, const float* a, const float* b, const float* c) {
  alignas(64) float all[kLanes];
  for (int at = 0; at < kLanes; at += 16)
    _mm512_store_ps(all + at,
                    fma_of<Mode>(read<Ftz>(a + at), read<Ftz>(b + at), read<Ftz>(c + at)));
  for (int i = 0; i < kLanes; ++i)
    all[i] = sem::finish<Ftz, Sat>(all[i]);
  std::memcpy(d, all, sizeof all);
}

#define KERNEVO_FMA(name, mode, ftz, sat)                                                          \
  KERNEVO_ENTRY f32 kv_##name(f32 a, f32 b, f32 c) {                                               \
    return sem::fma_f32<Rounding::mode, ftz, sat>(a, b, c);                                        \
  }                                                                                                \
  KERNEVO_ENTRY void kv_##name##_x32(Out<f32> d, In<f32> a, In<f32> b, In<f32> c) {                \
    fma_lanes<Rounding::mode, ftz, sat>(d, a, b, c);                                               \
  }

#endif

#include "kernevo/jit/runtime/f32.def"

} // namespace kernevo::jit::runtime

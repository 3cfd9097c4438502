// A thread computes COLS neighbouring outputs and reads the input under them once. Windows are unrolled; lines are read and
// written by vectors where they are aligned.
{{if int8}}
// @tune COLS 16 1 2 4 8
{{else}}
{{if half}}
// @tune COLS 8 1 2 4
{{else}}
// @tune COLS 4 1 2 8
{{end}}
{{end}}
// @tune BLOCK 128 64 256
// @launch {{name}}<<<ceil_div(N * C * ceil_div(P, COLS), BLOCK), BLOCK>>>({{arguments}})
{{types}}
constexpr int kKernel = {{dim.kernel}}, kStride = {{dim.stride}}, kPad = {{dim.padding}};
constexpr int kSpan = (COLS - 1) * kStride + kKernel; // inputs of a thread

constexpr int largest_power(int n, int most) { // of two that divides n
  int power = 1;
  while (power < most && n % (2 * power) == 0) power *= 2;
  return power;
}
constexpr int kVector = {{vector}};
constexpr int kOut = largest_power(COLS, kVector); // outputs of one store
constexpr int kIn = largest_power(kStride * COLS, kVector); // inputs of one load; every thread of a line begins on such a boundary
constexpr int kRead = (kSpan + kIn - 1) / kIn * kIn;

template <class T, int COUNT> struct alignas(sizeof(T) * COUNT) Vector {
  T v[COUNT];
};

__device__ __forceinline__ Acc combine(Acc a, Acc b) { return {{expression}}; }

__device__ __forceinline__ Out finish(Acc a, int kernel) { return static_cast<Out>({{result}}); }

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const int P = (L + 2 * kPad - kKernel) / kStride + 1;
  const unsigned per_line = (P + COLS - 1) / COLS;
  // One long division a block; the threads need short ones.
  const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * BLOCK;
  const unsigned rest = static_cast<unsigned>(first % per_line) + threadIdx.x;
  const size_t line = first / per_line + rest / per_line;
  if (line >= static_cast<size_t>(N) * C) return;
  const int p = rest % per_line * COLS, left = p * kStride - kPad;
  const Element* in = x + line * L + left;

  // A vector may be read where all of it lies in the line and the line begins on a boundary.
  const bool by_vectors = kIn > 1 && kPad == 0 && L % kIn == 0 && left + kRead <= L;
  Vector<Element, kIn> part[kRead / kIn];
#pragma unroll
  for (int s = 0; s < kRead / kIn; s++) { // all loads before the first use
    if (by_vectors) {
      part[s] = *reinterpret_cast<const Vector<Element, kIn>*>(in + s * kIn);
    } else {
#pragma unroll
      for (int e = 0; e < kIn; e++)
        if (s * kIn + e < kSpan && left + s * kIn + e >= 0 && left + s * kIn + e < L) part[s].v[e] = in[s * kIn + e];
    }
  }
  Out* out = y + line * P + p;
  const bool whole = P % kOut == 0;
#pragma unroll
  for (int c = 0; c < COLS; c += kOut) {
    Vector<Out, kOut> results;
#pragma unroll
    for (int e = 0; e < kOut; e++) {
      Acc total = {{identity}};
#pragma unroll
      for (int s = 0; s < kKernel; s++) {
        const int at = (c + e) * kStride + s;
        if (left + at >= 0 && left + at < L) total = combine(total, static_cast<Acc>(part[at / kIn].v[at % kIn]));
      }
      results.v[e] = finish(total, kernel);
    }
    if (whole && p + c < P) {
      *reinterpret_cast<Vector<Out, kOut>*>(out + c) = results;
    } else {
#pragma unroll
      for (int e = 0; e < kOut; e++)
        if (p + c + e < P) out[c + e] = results.v[e];
    }
  }
}

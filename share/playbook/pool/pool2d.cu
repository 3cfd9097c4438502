// A thread computes ROWS x COLS neighbouring outputs: it reads each input row under them once, reduces it along the row and adds
// that to every output the row belongs to. Windows are unrolled; rows are read and written by vectors where they are aligned.
{{if int8}}
// @tune COLS 8 1 2 4 16
{{else}}
{{if half}}
// @tune COLS 8 1 2 4
{{else}}
// @tune COLS 4 1 2 8
{{end}}
{{end}}
// @tune ROWS 1 2 4
// @tune BLOCK 128 64 256
// @launch {{name}}<<<ceil_div(N * C * ceil_div(P, ROWS) * ceil_div(Q, COLS), BLOCK), BLOCK>>>({{arguments}})
{{types}}
constexpr int kKernel = {{dim.kernel}}, kStride = {{dim.stride}}, kPad = {{dim.padding}};
constexpr int kSpan = (COLS - 1) * kStride + kKernel;   // input columns of a thread
constexpr int kHeight = (ROWS - 1) * kStride + kKernel; // input rows

constexpr int largest_power(int n, int most) { // of two that divides n
  int power = 1;
  while (power < most && n % (2 * power) == 0) power *= 2;
  return power;
}
constexpr int kVector = {{vector}};
constexpr int kOut = largest_power(COLS, kVector); // outputs of one store
constexpr int kIn = largest_power(kStride * COLS, kVector); // inputs of one load; every thread of a row begins on such a boundary
constexpr int kRead = (kSpan + kIn - 1) / kIn * kIn;

template <class T, int COUNT> struct alignas(sizeof(T) * COUNT) Vector {
  T v[COUNT];
};

__device__ __forceinline__ Acc combine(Acc a, Acc b) { return {{expression}}; }

__device__ __forceinline__ Out finish(Acc a, int kernel) { return static_cast<Out>({{result}}); }

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const int P = (H + 2 * kPad - kKernel) / kStride + 1;
  const int Q = (W + 2 * kPad - kKernel) / kStride + 1;
  const unsigned across = (Q + COLS - 1) / COLS, per_plane = (P + ROWS - 1) / ROWS * across;
  // One long division a block; the threads need short ones.
  const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * BLOCK;
  const unsigned rest = static_cast<unsigned>(first % per_plane) + threadIdx.x;
  const size_t plane = first / per_plane + rest / per_plane;
  if (plane >= static_cast<size_t>(N) * C) return;
  const int p = rest % per_plane / across * ROWS, q = rest % per_plane % across * COLS;
  const Element* in = x + plane * H * W;
  const int top = p * kStride - kPad, left = q * kStride - kPad;

  Acc total[ROWS][COLS];
#pragma unroll
  for (int o = 0; o < ROWS; o++)
#pragma unroll
    for (int c = 0; c < COLS; c++) total[o][c] = {{identity}};
  // A vector may be read where all of it lies in the row and the row begins on a boundary.
  const bool by_vectors = kIn > 1 && kPad == 0 && W % kIn == 0 && left + kRead <= W;
  Vector<Element, kIn> part[kHeight][kRead / kIn];
#pragma unroll
  for (int r = 0; r < kHeight; r++) { // all loads before the first use
    const Element* row = in + static_cast<long long>(top + r) * W + left;
    const bool exists = top + r >= 0 && top + r < H;
#pragma unroll
    for (int s = 0; s < kRead / kIn; s++) {
      if (by_vectors && exists) {
        part[r][s] = *reinterpret_cast<const Vector<Element, kIn>*>(row + s * kIn);
      } else {
#pragma unroll
        for (int e = 0; e < kIn; e++)
          if (s * kIn + e < kSpan && exists && left + s * kIn + e >= 0 && left + s * kIn + e < W) part[r][s].v[e] = row[s * kIn + e];
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kHeight; r++) {
    if (top + r < 0 || top + r >= H) continue;
#pragma unroll
    for (int c = 0; c < COLS; c++) {
      Acc across_row = {{identity}};
#pragma unroll
      for (int s = 0; s < kKernel; s++) {
        const int at = c * kStride + s;
        if (left + at >= 0 && left + at < W) across_row = combine(across_row, static_cast<Acc>(part[r][at / kIn].v[at % kIn]));
      }
#pragma unroll
      for (int o = 0; o < ROWS; o++)
        if (r >= o * kStride && r < o * kStride + kKernel) total[o][c] = combine(total[o][c], across_row);
    }
  }
  const bool whole = Q % kOut == 0;
#pragma unroll
  for (int o = 0; o < ROWS; o++) {
    if (p + o >= P) break;
    Out* out = y + (plane * P + p + o) * Q + q;
#pragma unroll
    for (int c = 0; c < COLS; c += kOut) {
      Vector<Out, kOut> results;
#pragma unroll
      for (int e = 0; e < kOut; e++) results.v[e] = finish(total[o][c + e], kernel);
      if (whole && q + c < Q) {
        *reinterpret_cast<Vector<Out, kOut>*>(out + c) = results;
      } else {
#pragma unroll
        for (int e = 0; e < kOut; e++)
          if (q + c + e < Q) out[c + e] = results.v[e];
      }
    }
  }
}

// A block computes one result: its threads read 16 bytes each of the row side by side, and add up by shuffles and once through shared
// memory. For rows so few or so long that a warp each would not fill the GPU.
// @tune BLOCK 128 64 256 512
// @tune UNROLL 4 2 8 1
// @launch {{name}}<<<M, BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}};
struct alignas(16) Vector {
  Element at[kVector];
};

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  __shared__ Acc of_warp[BLOCK / 32];
  const Element* row = A + static_cast<long long>(blockIdx.x) * N;
  Acc sum = 0;
  if (N % kVector == 0) {
    int done = 0; // elements that all threads together are through with
    for (; done + BLOCK * kVector * UNROLL <= N; done += BLOCK * kVector * UNROLL) {
      Vector a[UNROLL], b[UNROLL]; // all on their way before the first is used
#pragma unroll
      for (int u = 0; u < UNROLL; u++) {
        const int i = done + (u * BLOCK + threadIdx.x) * kVector;
        a[u] = *reinterpret_cast<const Vector*>(row + i);
        b[u] = *reinterpret_cast<const Vector*>(x + i);
      }
#pragma unroll
      for (int u = 0; u < UNROLL; u++)
#pragma unroll
        for (int e = 0; e < kVector; e++)
          sum += static_cast<Acc>(a[u].at[e]) * static_cast<Acc>(b[u].at[e]);
    }
#pragma unroll 1
    for (int i = done + threadIdx.x * kVector; i < N; i += BLOCK * kVector) { // what is too little for UNROLL
      const Vector a = *reinterpret_cast<const Vector*>(row + i);
      const Vector b = *reinterpret_cast<const Vector*>(x + i);
#pragma unroll
      for (int e = 0; e < kVector; e++)
        sum += static_cast<Acc>(a.at[e]) * static_cast<Acc>(b.at[e]);
    }
  } else { // rows begin anywhere, so nothing wider than an element can be read
    for (int i = threadIdx.x; i < N; i += BLOCK)
      sum += static_cast<Acc>(row[i]) * static_cast<Acc>(x[i]);
  }
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0)
    of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0;
    for (int w = 0; w < BLOCK / 32; w++)
      sum += of_warp[w];
    y[blockIdx.x] = static_cast<Out>(sum);
  }
}

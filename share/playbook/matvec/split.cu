// A row is split over SPLIT blocks, which makes enough of them where there are few rows; each leaves its part of the sum in scratch memory,
// and a second launch adds the parts up.
// @tune BLOCK 128 64 256
// @tune SPLIT 8 4 16 32 2
// @scratch partial {{scratch}} [SPLIT * M]
// @launch {{name}}<<<dim3(M, SPLIT), BLOCK>>>(A, x, partial, M, N)
// @launch {{name}}_finish<<<ceil_div(M, 128), 128>>>(partial, y, M)
{{types}}
constexpr int kVector = {{vector}};
struct alignas(16) Vector {
  Element at[kVector];
};

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    const Element* __restrict__ A, const Element* __restrict__ x, Acc* __restrict__ partial, int M, int N) {
  __shared__ Acc of_warp[BLOCK / 32];
  const Element* row = A + static_cast<long long>(blockIdx.x) * N;
  const int vectors = (N + kVector - 1) / kVector;
  const int share = (vectors + SPLIT - 1) / SPLIT * kVector; // whole vectors, so that each part begins at one
  const int begin = min(N, static_cast<int>(blockIdx.y) * share), end = min(N, begin + share);
  Acc sum = 0;
  if (N % kVector == 0) {
#pragma unroll 4
    for (int i = begin + threadIdx.x * kVector; i < end; i += BLOCK * kVector) {
      const Vector a = *reinterpret_cast<const Vector*>(row + i);
      const Vector b = *reinterpret_cast<const Vector*>(x + i);
#pragma unroll
      for (int e = 0; e < kVector; e++)
        sum += static_cast<Acc>(a.at[e]) * static_cast<Acc>(b.at[e]);
    }
  } else {
    for (int i = begin + threadIdx.x; i < end; i += BLOCK)
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
    partial[static_cast<long long>(blockIdx.y) * M + blockIdx.x] = sum;
  }
}

extern "C" __global__ void __launch_bounds__(128) {{name}}_finish(const Acc* __restrict__ partial, Out* __restrict__ y, int M) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= M)
    return;
  Acc sum = 0;
#pragma unroll
  for (int s = 0; s < SPLIT; s++) // a fixed order: the result does not depend on which block was first
    sum += partial[static_cast<long long>(s) * M + row];
  y[row] = static_cast<Out>(sum);
}
